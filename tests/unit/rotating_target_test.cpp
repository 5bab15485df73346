// SPDX-License-Identifier: BSD-2-Clause
// The parts of a rotated trace: each is a trace, and together they are the whole
// (user/chunk/rotating_target, emulator/input/trace_parts).
#include "user/chunk/rotating_target.h"

#include "emulator/convert/convert.h"
#include "emulator/input/trace_parts.h"
#include "emulator/open/open_trace.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/life_records.h"
#include "tests/unit/support/sound_conversion.h"
#include "tests/unit/support/temp_dir.h"
#include "user/chunk/chunk_writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <utility>
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
    const life_record record = test::life(++time_, LIFE_NEW, tid, "t");
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
