// SPDX-License-Identifier: BSD-2-Clause
// Rotated traces that one CPU writes: what each part has, and what is kept on a full disk.
#include "emulator/format/trace_part.h"
#include "emulator/input/trace_parts.h"
#include "emulator/open/open_trace.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/life_records.h"
#include "tests/unit/support/sound_conversion.h"
#include "tests/unit/support/temp_dir.h"
#include "user/chunk/chunk_writer.h"
#include "user/chunk/rotating_target.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

namespace ovnitrace {
namespace {

namespace fs = std::filesystem;
using test::CollectingSink;
using test::converted;
using test::TempDir;

constexpr uint32_t kCpus = 3;
constexpr size_t kChunkRecords = 128;
const TraceTarget::Description kDescription = [](const Put &put) { put("{\"version\": 1}\n"); };

/// A file system with room for little.
struct SmallDisk {
  explicit SmallDisk(unsigned kilobytes) {
    fs::create_directory(path());
    EXPECT_EQ(
        mount("tmpfs", path().c_str(), "tmpfs", 0, fmt::format("size={}k", kilobytes).c_str()), 0);
  }
  ~SmallDisk() { umount2(path().c_str(), MNT_DETACH); }
  std::string path() const { return dir / "disk"; }

  TempDir dir;
};

/// Parts that one CPU writes. Counts what does not fit.
class OneCpu final : public ChunkPool {
public:
  explicit OneCpu(const std::string &path, uint64_t keep = 0)
      : target_(path, IfExists::refuse, kCpus, 0, Rotation{.bytes = 1, .time = 1, .keep = keep}),
        writer(1, 1, registry_, *this) {
    chunk_.records.reserve(kChunkRecords);
    target_.prepare(kDescription);
    target_.begin();
  }
  void create(uint32_t tid) {
    const life_record created = test::life(++time, LIFE_NEW, tid, "t");
    registry_.learn(created);
    writer.life(created);
  }
  void switch_threads(uint32_t from, uint32_t to) {
    writer.transition({++time, SCHED_WORD(SCHED_KIND_SWITCH, FTRACE_OFFCPU_SLEEP, 121, from, to)});
  }
  void keep_part() { target_.keep_part(time); }
  void rotate() {
    writer.pass_on(UINT64_MAX);
    target_.rotate_soon(time, time + 1);
    ++time;
  }
  void rotate_if_wanted() {
    writer.pass_on(UINT64_MAX);
    if (target_.wants_rotation(UINT64_MAX))
      target_.rotate_soon(time, time + 1);
    ++time;
  }
  void end() {
    writer.finish(++time);
    target_.output().finish();
    target_.end(kDescription, 0);
  }

  Chunk *borrow(uint32_t cpu) override {
    chunk_.cpu = cpu;
    chunk_.records.clear();
    return &chunk_;
  }
  void give(Chunk *chunk) override {
    given += chunk->records.size();
    missing += target_.output().write(*chunk);
  }

  uint64_t time = 10;            ///< ns: of the last event
  size_t given = 0, missing = 0; ///< records

private:
  RotatingTarget target_;
  ThreadRegistry registry_;
  Chunk chunk_;

public:
  ChunkWriter writer;
};

ftrace_record last_record(std::string_view bytes) {
  ftrace_record record = {};
  bytes.copy(reinterpret_cast<char *>(&record), sizeof(record), bytes.size() - sizeof(record));
  return record;
}

TEST(RotatedParts, TheWholeHasTheEventsOfAPartThatStillGrows) {
  const TempDir dir;
  OneCpu parts(dir / "trace");
  parts.create(100);
  parts.rotate();
  for (uint32_t tid = 101; tid < 110; tid++) {
    parts.create(tid);
    parts.writer.pass_on(UINT64_MAX);
    const std::vector<ChunkInput> whole = join_parts(dir / "trace", trace_parts(dir / "trace"));
    ASSERT_EQ(whole.size(), 1u);
    EXPECT_EQ(whole[0].name, (dir / "trace") + " (CPU 1 of all parts)");
    std::string bytes(whole[0].size, '\0');
    ASSERT_EQ(pread(whole[0].fd.get(), bytes.data(), bytes.size(), 0), ssize_t(bytes.size()));
    const ftrace_record last = last_record(bytes);
    EXPECT_EQ(ftrace_record_tsc(&last), parts.time);
  }
  EXPECT_EQ(trace_parts(dir / "trace").size(), 2u);
}

TEST(RotatedParts, ACpuThatRecordedNothingIsNotMissingInAPartThatHasEnded) {
  const TempDir dir;
  OneCpu parts(dir / "trace");
  parts.create(100);
  parts.rotate();
  parts.create(101);
  parts.writer.pass_on(UINT64_MAX);
  const std::vector<std::string> both = trace_parts(dir / "trace");
  ASSERT_EQ(both.size(), 2u);
  for (const std::string &part : both) {
    std::ofstream(part + "/trace.json") << R"({"version": 1, "cpus": 3})";
    CollectingSink sink;
    open_trace({{part}}, sink);
    EXPECT_EQ(sink.count("the file is missing"), part == both[0] ? 0u : 2u) << part;
  }
}

TEST(RotatedParts, APartBeginsWithItsEventsThoughOneOfItsCpusHadNoneBefore) {
  const TempDir dir;
  OneCpu parts(dir / "trace");
  parts.create(100);
  const uint64_t later = parts.time = 1000;
  parts.create(101);
  parts.rotate();
  const ThreadRegistry registry;
  ChunkWriter other(2, 1, registry, parts);
  other.transition({++parts.time, SCHED_WORD(SCHED_KIND_WAKEUP, 0, 0, 100, 1)});
  other.finish(++parts.time);
  parts.end();
  const std::vector<std::string> both = trace_parts(dir / "trace");
  ASSERT_EQ(both.size(), 2u);
  CollectingSink sink;
  EXPECT_EQ(open_trace({{both[0]}}, sink)->catalog().begin, 1u);
  EXPECT_GE(open_trace({{both[1]}}, sink)->catalog().begin, later);
}

TEST(RotatedParts, TheWholeBeginsWithTheCaptureThoughNothingHappenedForLong) {
  const TempDir dir;
  OneCpu parts(dir / "trace");
  const uint64_t later = parts.time = 1000;
  parts.rotate_if_wanted();
  parts.create(100);
  parts.rotate_if_wanted();
  parts.create(101);
  parts.end();
  const std::vector<std::string> both = trace_parts(dir / "trace");
  ASSERT_EQ(both.size(), 2u);
  CollectingSink sink;
  EXPECT_EQ(open_trace({{dir / "trace"}}, sink)->catalog().begin, 1u);
  EXPECT_GE(open_trace({{both[1]}}, sink)->catalog().begin, later);
}

TEST(RotatedParts, ASilentCpuStopsInItsPartAfterTheFirstRecords) {
  const TempDir dir;
  OneCpu parts(dir / "trace");
  const ThreadRegistry registry;
  ChunkWriter other(2, 1, registry, parts);
  other.transition({++parts.time, SCHED_WORD(SCHED_KIND_WAKEUP, 0, 0, 100, 1)});
  other.pass_on(UINT64_MAX);
  for (uint32_t tid = 101; tid < 104; tid++) {
    parts.create(tid);
    parts.rotate();
  }
  parts.end();
  const std::vector<std::string> all = trace_parts(dir / "trace");
  ASSERT_EQ(all.size(), 4u);
  for (const std::string &part : all)
    EXPECT_FALSE(converted(part, part + ".out").empty());
}

// The disk becomes full at another write each time: of a chunk, of a description, or of what a part
// begins with.
TEST(RotatedParts, KeepsTheNewestEventsWhereverTheDiskBecomesFull) {
  for (unsigned pages = 40; pages < 80; pages++) {
    const SmallDisk disk(4 * pages);
    const std::string path = disk.path() + "/trace";
    uint64_t time = 0;
    testing::internal::CaptureStderr();
    {
      OneCpu parts(path);
      for (uint32_t tid = 100; tid < 102; tid++)
        parts.create(tid);
      for (uint32_t step = 0; step < 12000; step++) {
        parts.switch_threads(100 + step % 2, 101 - step % 2);
        if (step % 900 == 899)
          parts.rotate();
      }
      parts.end();
      EXPECT_EQ(parts.missing, 0u) << pages;
      time = parts.time;
    }
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(said.starts_with("ovnitrace: no room for the trace (cannot write ")) << said;
    EXPECT_NE(said.find(": No space left on device"), said.npos) << said;
    EXPECT_NE(said.find("): part " + path + "/0001 is removed\n"), said.npos) << said;
    ASSERT_GE(trace_parts(path).size(), 1u) << pages;
    EXPECT_FALSE(fs::exists(path + "/0001")) << "the oldest of " << pages;
    EXPECT_NE(converted(path, disk.dir / "out"), "") << pages;
    const std::string events = test::text_of(trace_parts(path).back() + "/cpu0001.ftr");
    ASSERT_GE(events.size(), sizeof(ftrace_record)) << pages;
    const ftrace_record end = last_record(events);
    EXPECT_EQ(ftrace_record_tsc(&end), time) << pages;
  }
}

// Each part begins with the states of all threads, which take more room than half of the disk.
TEST(RotatedParts, GivesUpWhenNewPartsAloneFillTheDisk) {
  size_t gave_up = 0;
  for (unsigned kilobytes = 100; kilobytes < 300; kilobytes += 4) {
    const SmallDisk disk(kilobytes);
    OneCpu parts(disk.path() + "/trace");
    for (uint32_t tid = 100; tid < 1100; tid++) {
      parts.create(tid);
      if (tid % 100 == 99)
        parts.rotate();
    }
    parts.end();
    gave_up += parts.missing > 0;
    EXPECT_GE(trace_parts(disk.path() + "/trace").size(), 1u) << kilobytes;
  }
  EXPECT_GT(gave_up, 0u);
}

TEST(RotatedParts, EachRecordIsWrittenOrMissing) {
  const SmallDisk disk(100);
  OneCpu parts(disk.path() + "/trace");
  for (uint32_t step = 0; step < 12000; step++)
    parts.switch_threads(100 + step % 2, 101 - step % 2);
  const size_t written =
      fs::file_size(disk.path() + "/trace/0001/cpu0001.ftr") / sizeof(ftrace_record);
  EXPECT_GT(written, kChunkRecords);
  EXPECT_GT(parts.missing, kChunkRecords);
  EXPECT_EQ(written + parts.missing, parts.given);
}

// The disk is full, and a trigger keeps the only part beside the newest: that one is removed.
TEST(RotatedParts, AKeptPartMakesRoomOnAFullDisk) {
  const SmallDisk disk(200);
  const std::string path = disk.path() + "/trace";
  OneCpu parts(path, 1);
  parts.switch_threads(100, 101);
  parts.keep_part();
  parts.rotate();
  parts.switch_threads(101, 100);
  testing::internal::CaptureStderr();
  while (fs::exists(path + "/0001")) {
    parts.switch_threads(100, 101);
    parts.switch_threads(101, 100);
  }
  EXPECT_TRUE(testing::internal::GetCapturedStderr().ends_with("/trace/0001 is removed\n"));
  parts.rotate();
  parts.switch_threads(100, 101);
  parts.end();
  EXPECT_EQ(parts.missing, 0u);
  EXPECT_EQ(trace_parts(path), std::vector{path + "/0004"});
}

TEST(PartNames, AreNumbersOf4To9Digits) {
  for (const char *name : {"0000", "00010", "123456789"})
    EXPECT_TRUE(is_part_name(name)) << name;
  for (const char *name : {"", "123", "1234567890", "000a", "0000 ", "+0001"})
    EXPECT_FALSE(is_part_name(name)) << name;
}

} // namespace
} // namespace ovnitrace
