// SPDX-License-Identifier: BSD-2-Clause
// Names of JIT code from /tmp/perf-PID.map, which is anybody's to write.
#include "user/stacks/address_names.h"

#include "tests/unit/support/child_status.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace ovnitrace {
namespace {

class JitMaps : public ::testing::Test {
protected:
  ~JitMaps() override { unlink(path.c_str()); }
  void write(const std::string &text) const {
    std::FILE *file = std::fopen(path.c_str(), "we");
    ASSERT_NE(file, nullptr);
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
  }
  static std::string name_at(uint64_t address) {
    uint64_t most = UINT64_MAX;
    const AddressNames names = AddressNames::of_process(uint32_t(getpid()), 0, most);
    return std::string(names.find(address).name);
  }
  const std::string path = fmt::format("/tmp/perf-{}.map", getpid());
};

TEST_F(JitMaps, NameCodeByItsAddress) {
  write("1000 10 first\n0x2000 0x20 second one\n\nno line\n3000 8 last\n");
  EXPECT_EQ(name_at(0x1000), "first");
  EXPECT_EQ(name_at(0x1010), "");
  EXPECT_EQ(name_at(0x201f), "second one");
  EXPECT_EQ(name_at(0x3007), "last");
}

TEST_F(JitMaps, FunctionsSideBySideHaveNames) {
  write("1000 10 one\n1010 10 two\n1020 1 three\n");
  EXPECT_EQ(name_at(0x100f), "one");
  EXPECT_EQ(name_at(0x1010), "two");
  EXPECT_EQ(name_at(0x1020), "three");
}

/// It may have run a program of root's.
TEST_F(JitMaps, OfRootAreReadByAnyUser) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can write one of root's";
  constexpr uint32_t kNoProcess = 2000000013; // above all pids of Linux
  const std::string map = fmt::format("/tmp/perf-{}.map", kNoProcess);
  write("1000 10 one\n");
  ASSERT_EQ(rename(path.c_str(), map.c_str()), 0);
  ASSERT_EQ(chmod(map.c_str(), 0644), 0);
  const auto read_by = [&](uid_t user) {
    return test::status_of([&] {
      uint64_t most = UINT64_MAX;
      if (setuid(user) != 0)
        return 2;
      return AddressNames::of_process(kNoProcess, 0, most).find(0x1000).name == "one" ? 0 : 1;
    });
  };
  EXPECT_EQ(read_by(65534), 0);
  EXPECT_EQ(chown(map.c_str(), 65533, 65533), 0);
  EXPECT_EQ(read_by(65534), 1) << "of a third user";
  EXPECT_EQ(read_by(65533), 0) << "his own";
  unlink(map.c_str());
}

/// A pid comes back, and maps stay.
TEST_F(JitMaps, OfAnEarlierProcessAreNotRead) {
  write("1000 10 one\n");
  const auto name_if_written = [&](time_t before_now) {
    const time_t at = time(nullptr) - before_now;
    const timespec times[2] = {{at, 0}, {at, 0}};
    EXPECT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
    return name_at(0x1000);
  };
  EXPECT_EQ(name_if_written(0), "one");
  EXPECT_EQ(name_if_written(24 * 3600), "") << "these tests do not take a day";
}

TEST_F(JitMaps, OfAProcessThatHasEndedAreAsNewAsTheCapture) {
  constexpr uint32_t kNoProcess = 2000000014; // above all pids of Linux
  const std::string map = fmt::format("/tmp/perf-{}.map", kNoProcess);
  write("1000 10 one\n");
  const timespec times[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  ASSERT_EQ(rename(path.c_str(), map.c_str()), 0);
  const auto name_since = [&](uint64_t seconds) {
    uint64_t most = UINT64_MAX;
    const AddressNames names = AddressNames::of_process(kNoProcess, seconds * 1'000'000'000, most);
    return std::string(names.find(0x1000).name);
  };
  EXPECT_EQ(name_since(999), "one");
  EXPECT_EQ(name_since(1001), "one") << "clocks may differ by a second";
  EXPECT_EQ(name_since(1002), "");
  unlink(map.c_str());
}

/// The process may still be writing it.
TEST_F(JitMaps, ALineWithoutAnEndIsLeftOut) {
  write("1000 10 first\n2000 10 sec");
  EXPECT_EQ(name_at(0x1000), "first");
  EXPECT_EQ(name_at(0x2000), "");
}

/// When it was used again is in no file, and the stack may be of before.
TEST_F(JitMaps, MemoryThatWasUsedAgainHasNoName) {
  write("1000 100 old\n3000 10 same\n2000 10 only\n1080 10 new\n3000 20 same\n10f0 20 newer\n");
  EXPECT_EQ(name_at(0x1000), "");
  EXPECT_EQ(name_at(0x1080), "");
  EXPECT_EQ(name_at(0x10f0), "");
  EXPECT_EQ(name_at(0x2000), "only");
  EXPECT_EQ(name_at(0x3000), "same");
  write("1000 10 short\n1005 100 long\n1050 10 inside the long one\n1200 10 behind\n");
  EXPECT_EQ(name_at(0x1055), "");
  EXPECT_EQ(name_at(0x1065), "");
  EXPECT_EQ(name_at(0x1200), "behind");
}

/// The rest of a line that needs too much memory is left out.
TEST_F(JitMaps, ReadLinesOfAnyLength) {
  write("1000 10 before\n2000 10 " + std::string(300'000, 'x') + "\n3000 10 after\n");
  EXPECT_EQ(name_at(0x1000), "before");
  EXPECT_EQ(name_at(0x2000), std::string(4096, 'x'));
  EXPECT_EQ(name_at(0x3000), "after");
}

TEST_F(JitMaps, AreReadOnlyUpToTheirLimit) {
  write("1000 10 before\n");
  ASSERT_EQ(truncate(path.c_str(), off_t(1) << 40), 0); // of which nothing is on the disk
  uint64_t most = UINT64_MAX;
  EXPECT_EQ(AddressNames::of_process(uint32_t(getpid()), 0, most).find(0x1000).name, "before");
  EXPECT_EQ(UINT64_MAX - most, 128u << 20) << "read";
}

TEST_F(JitMaps, OfAllProcessesHaveOneLimit) {
  write("1000 10 first\n2000 10 second\n");
  const uint64_t whole = 29, less_than_a_line = 13;
  uint64_t most = whole + less_than_a_line;
  const auto name = [&](uint64_t address) {
    return std::string(AddressNames::of_process(uint32_t(getpid()), 0, most).find(address).name);
  };
  EXPECT_EQ(name(0x1000), "first");
  EXPECT_EQ(most, less_than_a_line);
  EXPECT_EQ(name(0x1000), "");
  EXPECT_EQ(most, 0u);
}

TEST_F(JitMaps, AreRegularFilesOnly) {
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(name_at(0x1000), "");
  unlink(path.c_str());
  ASSERT_EQ(symlink("/proc/self/maps", path.c_str()), 0);
  EXPECT_EQ(name_at(0x1000), "");
}

} // namespace
} // namespace ovnitrace
