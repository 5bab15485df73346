// SPDX-License-Identifier: BSD-2-Clause
// The parts of a rotated trace: each is a trace, and together they are the whole
// (user/chunk/rotating_target, emulator/input/trace_parts).
#include "user/chunk/rotating_target.h"

#include "emulator/convert/convert.h"
#include "emulator/input/trace_parts.h"
#include "emulator/open/open_trace.h"
#include "tests/unit/support/cases.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "user/chunk/chunk_writer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace ovnitrace {
namespace {

namespace fs = std::filesystem;

using test::CollectingSink;
using test::TempDir;

constexpr uint32_t kCpus = 3;
constexpr size_t kChunkRecords = 128;
const TraceTarget::Description kDescription = [](const Put &put) { put("{\"version\": 1}\n"); };

/// Gives each chunk to several traces.
class Both final : public ChunkPool {
public:
  explicit Both(std::vector<TraceTarget *> targets) : targets_(std::move(targets)) {}
  Chunk *borrow(uint32_t cpu) override {
    chunks_[cpu].cpu = cpu;
    chunks_[cpu].records.clear();
    chunks_[cpu].records.reserve(kChunkRecords);
    return &chunks_[cpu];
  }
  void give(Chunk *chunk) override {
    for (TraceTarget *target : targets_)
      EXPECT_EQ(target->output().write(*chunk), 0u) << target->output().error();
  }

private:
  std::vector<TraceTarget *> targets_;
  Chunk chunks_[kCpus];
};

life_record new_thread(uint32_t tid, uint64_t time) {
  life_record record = {};
  record.time = time;
  record.kind = LIFE_NEW;
  record.tid = tid;
  record.pid = 100;
  record.comm[0] = 't';
  return record;
}

/// Random threads on a few CPUs, written twice: as parts and without a seam.
class RotatedTrace {
public:
  /// Triggers that hit, by the number of the part: before the next one is asked for, and after.
  struct Hits {
    std::set<unsigned> early, late;
  };

  RotatedTrace(uint32_t seed, int level, uint64_t keep = 0, const Hits &hits = {})
      : random_(seed), whole_(dir / "whole", IfExists::refuse, kCpus, level),
        rotated_(std::in_place, dir / "rotated", IfExists::refuse, kCpus, level,
                 Rotation{.bytes = 1, .keep = keep}),
        pool_({&whole_, &*rotated_}) {
    for (TraceTarget *target :
         {static_cast<TraceTarget *>(&whole_), static_cast<TraceTarget *>(&*rotated_)}) {
      target->prepare(kDescription);
      target->begin();
    }
    for (uint32_t cpu = 0; cpu < kCpus; cpu++)
      writers_.push_back(std::make_unique<ChunkWriter>(cpu, 1, registry_, pool_));
    for (uint32_t tid = 100; tid < 108; tid++)
      create(tid);
    for (unsigned part = 1; part <= 4; part++) {
      for (unsigned step = 0; step < 400; step++)
        transition();
      const std::string path = dir / ("rotated/000" + std::to_string(part)),
                        next = dir / ("rotated/000" + std::to_string(part + 1));
      EXPECT_TRUE(!hits.early.contains(part) || rotated_->keep_part(time_) == path);
      rotate();
      EXPECT_TRUE(!hits.late.contains(part) || rotated_->keep_part(time_) == next);
    }
    for (unsigned step = 0; step < 100; step++)
      transition();
    for (auto &writer : writers_)
      writer->finish(++time_);
    for (TraceTarget *target :
         {static_cast<TraceTarget *>(&whole_), static_cast<TraceTarget *>(&*rotated_)}) {
      target->output().finish();
      target->end(kDescription, 0);
    }
  }

  /// Returns the rotated trace, which nobody writes any more.
  std::string rotated() {
    rotated_.reset();
    return dir / "rotated";
  }

  TempDir dir;

private:
  enum class State { woken, running, blocked };
  struct Thread {
    uint32_t tid;
    State state;
  };

  void create(uint32_t tid) {
    const life_record record = new_thread(tid, ++time_);
    registry_.learn(record);
    writers_[0]->life(record);
    log(0, SCHED_WORD(SCHED_KIND_WAKEUP_NEW, 0, 0, tid, 1));
    threads_.push_back({tid, State::woken});
  }

  void log(uint32_t cpu, uint64_t word) { writers_[cpu]->transition({++time_, word}); }

  void transition() {
    Thread &thread = threads_[random_() % threads_.size()];
    const uint32_t cpu = random_() % 8 ? 0 : random_() % kCpus;
    if (thread.state == State::blocked) {
      log(cpu, SCHED_WORD(SCHED_KIND_WAKEUP, 0, 0, thread.tid, 1));
      thread.state = State::woken;
    } else if (thread.state == State::woken) {
      const auto before = std::find_if(threads_.begin(), threads_.end(), [&](const Thread &other) {
        return other.tid == running_[cpu];
      });
      const bool preempts = random_() % 2;
      log(cpu,
          SCHED_WORD(SCHED_KIND_SWITCH, preempts ? FTRACE_OFFCPU_PREEMPTED : FTRACE_OFFCPU_SLEEP,
                     121, running_[cpu], thread.tid) |
              (running_[cpu] ? SCHED_A_TRACED : 0) | SCHED_B_TRACED);
      if (before != threads_.end())
        before->state = preempts ? State::woken : State::blocked;
      thread.state = State::running;
      running_[cpu] = thread.tid;
    }
  }

  void rotate() {
    const uint64_t before = ++time_;
    for (auto &writer : writers_)
      writer->pass_on(UINT64_MAX);
    EXPECT_TRUE(rotated_->wants_rotation(UINT64_MAX));
    rotated_->rotate_soon(before, ++time_);
    EXPECT_FALSE(rotated_->wants_rotation(UINT64_MAX)) << "it was asked for";
  }

  std::mt19937 random_;
  uint64_t time_ = 10;
  DirectoryTarget whole_;
  std::optional<RotatingTarget> rotated_;
  Both pool_;
  ThreadRegistry registry_;
  std::vector<std::unique_ptr<ChunkWriter>> writers_;
  std::vector<Thread> threads_;
  uint32_t running_[kCpus] = {};
};

/// Converts a trace that must be sound. Returns both timelines.
std::string converted(const std::string &trace, const std::string &to) {
  CollectingSink sink;
  const std::unique_ptr<EventSource> source = open_trace({{trace, 0}}, sink);
  ConvertOptions options;
  options.directory = to;
  convert(*source, options, sink);
  EXPECT_EQ(sink.damage(), 0u) << trace << ": "
                               << (sink.reported.empty() ? "" : sink.reported[0].what);
  return test::text_of(to + "/thread.prv") + test::text_of(to + "/cpu.prv");
}

TEST(RotatingTarget, PartsTogetherGiveTheSameTimelineAsAnUnrotatedTrace) {
  for (uint32_t seed = 1; seed <= 20; seed++) {
    const RotatedTrace traces(seed, int(seed % 2));
    EXPECT_EQ(trace_parts(traces.dir / "rotated").size(), 5u);
    EXPECT_EQ(converted(traces.dir / "rotated", traces.dir / "a"),
              converted(traces.dir / "whole", traces.dir / "b"))
        << "seed " << seed;
  }
}

TEST(RotatingTarget, KeepsPartsInWhichATriggerHitBesideTheNewestOnes) {
  using Numbers = std::set<std::string>;
  struct {
    unsigned keep;
    RotatedTrace::Hits hits;
    Numbers left, whole;
  } const cases[] = {
      {1, {}, {"0005"}, {"0005"}},
      {1, {{2}, {}}, {"0002", "0005"}, {"0005"}},
      {2, {{2}, {}}, {"0001", "0002", "0004", "0005"}, {"0004", "0005"}},
      {2, {{3}, {}}, {"0002", "0003", "0004", "0005"}, {"0002", "0003", "0004", "0005"}},
      // The hit is in the next part, which has not begun yet.
      {1, {{}, {2}}, {"0003", "0005"}, {"0005"}},
      {2, {{}, {2}}, {"0002", "0003", "0004", "0005"}, {"0002", "0003", "0004", "0005"}},
      {2, {{1, 2, 3, 4}, {}}, {"0002", "0003", "0004", "0005"}, {"0002", "0003", "0004", "0005"}},
  };
  for (const auto &one : cases) {
    const RotatedTrace traces(3, 1, one.keep, one.hits);
    Numbers left, whole;
    for (const auto &entry : fs::directory_iterator(traces.dir / "rotated"))
      if (entry.is_directory()) {
        left.insert(entry.path().filename());
        converted(entry.path(), traces.dir / ("of" + entry.path().filename().string()));
      }
    for (const std::string &part : trace_parts(traces.dir / "rotated"))
      whole.insert(fs::path(part).filename());
    EXPECT_EQ(left, one.left);
    EXPECT_EQ(whole, one.whole) << "without a gap";
    converted(traces.dir / "rotated", traces.dir / "all");
  }
}

TEST(RotatingTarget, EachPartIsATraceThatStartsWithTheStatesOfAllThreads) {
  const RotatedTrace traces(3, 0);
  for (const std::string &part : trace_parts(traces.dir / "rotated")) {
    CollectingSink sink;
    const std::unique_ptr<EventSource> source = open_trace({{part, 0}}, sink);
    EXPECT_EQ(source->catalog().threads.size(), 8u) << part;
    EXPECT_FALSE(converted(part, part + ".out").empty());
  }
}

TEST(RotatingTarget, KeepsTheNewestParts) {
  const RotatedTrace traces(5, 1, 2);
  const std::vector<std::string> parts = trace_parts(traces.dir / "rotated");
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_TRUE(parts[0].ends_with("/0004"));
  EXPECT_TRUE(parts[1].ends_with("/0005"));
  EXPECT_FALSE(converted(traces.dir / "rotated", traces.dir / "a").empty());
}

TEST(RotatingTarget, ACpuThatRecordedNothingIsNotMissingInTheWhole) {
  RotatedTrace traces(7, 0);
  const std::string path = traces.rotated();
  for (const char *records : {"0", "1"}) {
    std::ofstream(path + "/trace.json")
        << R"({"version": 1, "cpus": 4, "written": [)"
        << R"({"cpu": 0, "records": 9}, {"cpu": 3, "records": )" << records << "}]}";
    CollectingSink sink;
    open_trace({{path}}, sink);
    EXPECT_EQ(sink.count("the file is missing"), *records == '1') << records;
  }
}

TEST(RotatingTarget, OverwritesPartsButNothingOfOthers) {
  RotatedTrace traces(6, 0);
  const std::string path = traces.rotated();
  ASSERT_EQ(trace_parts(path).size(), 5u);
  std::ofstream(path + "/0002/notes") << "mine";
  fs::create_directory(path + "/2026"); // without part.json
  fs::rename(path + "/0003", traces.dir / "elsewhere");
  fs::create_directory_symlink(traces.dir / "elsewhere", path + "/0003");
  TraceDirectory(path, IfExists::overwrite).clear();
  EXPECT_FALSE(fs::exists(path + "/0001"));
  EXPECT_FALSE(fs::exists(path + "/0004"));
  EXPECT_FALSE(fs::exists(path + "/0005"));
  EXPECT_EQ(test::text_of(path + "/0002/notes"), "mine");
  EXPECT_FALSE(fs::exists(path + "/0002/part.json"));
  EXPECT_TRUE(fs::exists(path + "/2026"));
  EXPECT_TRUE(fs::exists(traces.dir / "elsewhere/part.json")) << "a link was followed";
  EXPECT_TRUE(fs::exists(traces.dir / "elsewhere/cpu0000.ftr"));
}

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
  explicit OneCpu(const std::string &path)
      : target_(path, IfExists::refuse, kCpus, 0, Rotation{.bytes = 1, .time = 1}),
        writer(1, 1, registry_, *this) {
    chunk_.records.reserve(kChunkRecords);
    target_.prepare(kDescription);
    target_.begin();
  }
  void create(uint32_t tid) {
    const life_record created = new_thread(tid, ++time);
    registry_.learn(created);
    writer.life(created);
  }
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
  void give(Chunk *chunk) override { missing += target_.output().write(*chunk); }

  uint64_t time = 10; ///< ns: of the last event
  size_t missing = 0; ///< records

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

TEST(RotatingTarget, TheWholeHasTheEventsOfAPartThatStillGrows) {
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

TEST(RotatingTarget, ACpuThatRecordedNothingIsNotMissingInAPartThatHasEnded) {
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

TEST(RotatingTarget, APartBeginsWithItsEventsThoughOneOfItsCpusHadNoneBefore) {
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

TEST(RotatingTarget, TheWholeBeginsWithTheCaptureThoughNothingHappenedForLong) {
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

TEST(RotatingTarget, ASilentCpuStopsInItsPartAfterTheFirstRecords) {
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
TEST(RotatingTarget, KeepsTheNewestEventsWhereverTheDiskBecomesFull) {
  for (unsigned pages = 40; pages < 80; pages++) {
    const SmallDisk disk(4 * pages);
    const std::string path = disk.path() + "/trace";
    uint64_t time = 0;
    {
      OneCpu parts(path);
      for (uint32_t tid = 100; tid < 102; tid++)
        parts.create(tid);
      for (uint32_t step = 0; step < 12000; step++) {
        parts.writer.transition({++parts.time, SCHED_WORD(SCHED_KIND_SWITCH, FTRACE_OFFCPU_SLEEP,
                                                          121, 100 + step % 2, 101 - step % 2)});
        if (step % 900 == 899)
          parts.rotate();
      }
      parts.end();
      EXPECT_EQ(parts.missing, 0u) << pages;
      time = parts.time;
    }
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
TEST(RotatingTarget, GivesUpWhenNewPartsAloneFillTheDisk) {
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

TEST(RotatingTarget, SaysWhyAPartIsNotRemoved) {
  RotatedTrace traces(7, 0);
  TraceDirectory whole(traces.rotated(), IfExists::overwrite);
  EXPECT_EQ(whole.remove_part("0001"), 0);
  EXPECT_EQ(whole.remove_part("0001"), ENOENT);
  fs::create_directory_symlink(traces.dir / "rotated/0003", traces.dir / "rotated/0001");
  EXPECT_EQ(whole.remove_part("0001"), ENOTDIR);
  std::ofstream(traces.dir / "rotated/0002/notes") << "mine";
  EXPECT_EQ(whole.remove_part("0002"), ENOTEMPTY);
  EXPECT_TRUE(fs::exists(traces.dir / "rotated/0003/part.json"));
}

} // namespace
} // namespace ovnitrace
