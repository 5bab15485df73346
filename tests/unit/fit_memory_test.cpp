// SPDX-License-Identifier: BSD-2-Clause
// Rings and chunks where memory is short, and how much of it is left: user/record/fit_memory.
#include "emulator/base/error.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/temp_dir.h"
#include "user/record/fit_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace ovnitrace {
namespace {

constexpr uint64_t kMiB = 1 << 20;

RecordOptions usual() {
  RecordOptions options;
  options.ring_bytes = 8 * kMiB;
  options.chunk_bytes = kMiB;
  options.spare_chunks = 16;
  return options;
}

TEST(FitMemory, LeavesSizesThatFit) {
  RecordOptions options = usual();
  fit_memory(options, {}, 2, 146 * kMiB);
  EXPECT_EQ(options.ring_bytes, 8 * kMiB);
  EXPECT_EQ(options.chunk_bytes, kMiB);
}

TEST(FitMemory, ReducesSizesThatDoNotFit) {
  RecordOptions options = usual();
  fit_memory(options, {}, 2, 117 * kMiB);
  EXPECT_EQ(options.ring_bytes, kMiB);
  EXPECT_EQ(options.chunk_bytes, kMiB / 8);
}

TEST(FitMemory, KeepsSizesThatTheUserGave) {
  RecordOptions options = usual();
  RecordOptions given;
  given.ring_bytes = 8 * kMiB;
  fit_memory(options, given, 2, 132 * kMiB);
  EXPECT_EQ(options.ring_bytes, 8 * kMiB);
  EXPECT_LT(options.chunk_bytes, kMiB);
}

TEST(FitMemory, RefusesWithTheMemoryNeededAndTheMemoryLeft) {
  RecordOptions options = usual();
  try {
    fit_memory(options, {}, 2, 48 * kMiB);
    FAIL() << "it cannot fit";
  } catch (const Error &error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("needs about 113 MiB of memory (112 always, 1 for --ring-size, 1 for "
                        "--chunks and --chunk-size)"),
              std::string::npos)
        << what;
    EXPECT_NE(what.find("leaves 48 MiB"), std::string::npos) << what;
  }
}

/// How many MiB a capture needs: with one less left, sizes that the user gave do not fit.
uint64_t needed(RecordOptions options) {
  for (uint64_t mib = 0;; mib++)
    try {
      fit_memory(options, options, 2, mib * kMiB);
      return mib;
    } catch (const Error &) {
    }
}

TEST(FitMemory, EachPartOfACaptureNeedsItsShare) {
  RecordOptions options = usual();
  EXPECT_EQ(needed(options), 112u + 2 * 8 + 2 + 16);
  options.control.emplace_back();
  EXPECT_EQ(needed(options), 146u + 48);
  options.control.clear();
  options.stacks = 1;
  EXPECT_EQ(needed(options), 146u + 100);
  options.stacks = 0;
  options.families = families_of_tracepoints();
  EXPECT_EQ(needed(options), 146u + 56);
  options.families = {};
  options.buffer.kind = BufferKind::kCyc;
  options.buffer.bytes = 32 * kMiB;
  EXPECT_EQ(needed(options), 112u + 2 * 8 + 2 * 32) << "a flight recorder has no spare chunks";
}

TEST(FitMemory, HalvesRingsAndChunksDownToTheirSmallestSizes) {
  RecordOptions options = usual();
  options.ring_bytes = options.chunk_bytes = 128 << 10;
  fit_memory(options, {}, 2, 113 * kMiB);
  EXPECT_EQ(options.ring_bytes, 64u << 10);
  EXPECT_EQ(options.chunk_bytes, 32u << 10) << "both are halved as long as that is needed";
}

// The sizes of a flight recorder can be any number.
TEST(FitMemory, RefusesALargerFlightRecorderThanAnyMachineHas) {
  RecordOptions options = usual();
  options.buffer = {BufferKind::kCyc, UINT64_MAX};
  try {
    fit_memory(options, {}, 4096, uint64_t(1) << 50);
    FAIL() << "it cannot fit";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("for --buffer"), std::string::npos) << error.what();
  }
  options.buffer.kind = BufferKind::kStop;
  EXPECT_NO_THROW(fit_memory(options, {}, 2, 200 * kMiB)) << "it goes to the disk";
}

class MemoryLimit : public testing::Test {
protected:
  void write(const std::string &name, const std::string &text) {
    const std::string path = dir_ / name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
  }
  uint64_t left() { return memory_left({dir_ / "meminfo", dir_ / "cgroup", dir_ / "mountinfo"}); }
  /// A line of mountinfo.
  std::string mount(const std::string &root, const std::string &rest) {
    return "41 31 0:38 " + root + " " + (dir_ / "fs") + " rw,relatime shared:9 - " + rest + "\n";
  }
  test::TempDir dir_;
};

TEST_F(MemoryLimit, IsTheLeastOfAllCgroupsAbove) {
  write("cgroup", "0::/slice/unit\n");
  write("mountinfo", "23 1 8:1 / / rw - ext4 /dev/vda rw\n" + mount("/", "cgroup2 cgroup2 rw"));
  EXPECT_EQ(left(), UINT64_MAX);
  write("fs/slice/unit/memory.max", "max\n");
  write("fs/slice/unit/memory.current", "1000\n");
  EXPECT_EQ(left(), UINT64_MAX);
  write("fs/slice/memory.max", "67108864\n");
  write("fs/slice/memory.current", "30000000\n");
  write("fs/slice/memory.stat", "anon 20000000\nfile 10000000\nkernel 1\n");
  EXPECT_EQ(left(), 67108864u - 20000000u) << "page cache can be given back";
  write("fs/slice/memory.stat", "anon 15000000\nfile 10000000\nkernel 1\nshmem 4000000\n");
  EXPECT_EQ(left(), 67108864u - 24000000u) << "files of tmpfs cannot";
  write("fs/slice/unit/memory.max", "2000\n");
  EXPECT_EQ(left(), 1000u);
  write("fs/slice/unit/memory.current", "3000\n");
  EXPECT_EQ(left(), 0u);
}

TEST_F(MemoryLimit, IsAlsoTheMemoryOfTheMachine) {
  write("meminfo", "MemTotal:       9000 kB\nMemAvailable:   300 kB\nHugePages_Total:   0\n");
  EXPECT_EQ(left(), 300u << 10);
  write("cgroup", "0::/unit\n");
  write("mountinfo", mount("/", "cgroup2 cgroup2 rw"));
  write("fs/unit/memory.current", "1000\n");
  write("fs/unit/memory.max", "1000000\n");
  EXPECT_EQ(left(), 300u << 10);
  write("fs/unit/memory.max", "5000\n");
  EXPECT_EQ(left(), 4000u);
  write("fs/unit/memory.max", "1000000\n");
  write("meminfo", "MemAvailable:   300 kB\nSwapTotal:      900 kB\nSwapFree:       200 kB\n");
  EXPECT_EQ(left(), 500u << 10);
}

TEST_F(MemoryLimit, IsReadFromCgroupVersion1) {
  write("cgroup", "5:cpu:/\n4:hugetlb,memory:/docker/abc\n0::/\n");
  write("mountinfo", mount("/docker/abc", "cgroup cgroup rw,memory"));
  write("fs/memory.limit_in_bytes", "9223372036854771712\n");
  write("fs/memory.usage_in_bytes", "5000\n");
  EXPECT_EQ(left(), UINT64_MAX);
  write("fs/memory.limit_in_bytes", "8000\n");
  write("fs/memory.stat", "cache 1\ntotal_cache 2000\n");
  EXPECT_EQ(left(), 5000u);
  write("fs/memory.stat", "cache 1\nshmem 1\ntotal_cache 2000\ntotal_shmem 500\n");
  EXPECT_EQ(left(), 4500u);
}

/// The error of a capture that cannot fit.
std::string refusal(RecordOptions options) {
  return test::error_from([&] { fit_memory(options, options, 2, 48 * kMiB); });
}

TEST(FitMemory, NamesTheOptionThatMakesEachPartSmaller) {
  const std::string end = ", and the machine or its memory cgroup leaves 48 MiB: give it more, or "
                          "change one of these options";
  RecordOptions options = usual();
  options.control.emplace_back();
  options.stacks = 1;
  options.families = families_of_tracepoints();
  EXPECT_EQ(refusal(options),
            "this capture needs about 350 MiB of memory (112 always, 48 for --control, 100 for "
            "--stacks, 56 for --filter, 16 for --ring-size, 18 for --chunks and --chunk-size)" +
                end);
  options = usual();
  options.buffer = {BufferKind::kCyc, 32 * kMiB};
  EXPECT_EQ(refusal(options), "this capture needs about 192 MiB of memory (112 always, 16 for "
                              "--ring-size, 64 for --buffer)" +
                                  end);
}

TEST(FitMemory, AFlightRecordersChunksAreNotReduced) {
  RecordOptions options = usual();
  options.buffer = {BufferKind::kCyc, kMiB};
  fit_memory(options, {}, 2, 118 * kMiB);
  EXPECT_EQ(options.ring_bytes, 2 * kMiB);
  EXPECT_EQ(options.chunk_bytes, kMiB);
}

// Version 1 has a huge number where version 2 has "max".
TEST_F(MemoryLimit, IsNoneIfItIsHuge) {
  write("cgroup", "0::/unit\n");
  write("mountinfo", mount("/", "cgroup2 cgroup2 rw"));
  write("fs/unit/memory.current", "1000\n");
  write("fs/unit/memory.max", "4611686018427387904\n");
  EXPECT_EQ(left(), UINT64_MAX);
  write("fs/unit/memory.max", "4611686018427387903\n");
  EXPECT_EQ(left(), 4611686018427387903u - 1000);
}

TEST_F(MemoryLimit, CountsCannotBeMoreThanWhatTheyArePartsOf) {
  write("cgroup", "0::/unit\n");
  write("mountinfo", mount("/", "cgroup2 cgroup2 rw"));
  write("fs/unit/memory.max", "10000\n");
  write("fs/unit/memory.current", "1000\n");
  write("fs/unit/memory.stat", "file 5000\n");
  EXPECT_EQ(left(), 10000u) << "all of it is page cache";
  write("fs/unit/memory.stat", "file 400\nshmem 500\n");
  EXPECT_EQ(left(), 9000u) << "none of it can be given back";
  write("fs/unit/memory.current", "12000\n");
  EXPECT_EQ(left(), 0u);
}

TEST_F(MemoryLimit, SwapDoesNotCountAlone) {
  write("meminfo", "MemTotal: 9000 kB\nSwapFree: 200 kB\n");
  EXPECT_EQ(left(), UINT64_MAX) << "what is available is not known";
}

TEST_F(MemoryLimit, IsNotThatOfAnotherHierarchy) {
  write("cgroup", "5:cpu:/unit\n4:memory:/other\n");
  write("mountinfo", mount("/", "cgroup cgroup rw,cpu"));
  write("fs/unit/memory.limit_in_bytes", "8000\n");
  write("fs/unit/memory.usage_in_bytes", "5000\n");
  EXPECT_EQ(left(), UINT64_MAX) << "it does not count memory";
  write("mountinfo", mount("/", "cgroup cgroup rw,memory"));
  EXPECT_EQ(left(), UINT64_MAX) << "the process is in another one";
  write("cgroup", "5:cpu:/other\n4:memory:/unit\n");
  EXPECT_EQ(left(), 3000u);
}

TEST_F(MemoryLimit, IsAlsoThatOfTheRoot) {
  write("cgroup", "0::/\n");
  write("mountinfo", mount("/", "cgroup2 cgroup2 rw"));
  write("fs/memory.max", "10000\n");
  write("fs/memory.current", "1000\n");
  EXPECT_EQ(left(), 9000u);
  write("cgroup", "0::/unit\n");
  EXPECT_EQ(left(), 9000u) << "of a cgroup without a limit";
}

} // namespace
} // namespace ovnitrace
