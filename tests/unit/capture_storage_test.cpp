// SPDX-License-Identifier: BSD-2-Clause
// Where the chunks of a capture go, by --buffer, and the target that they reach in the end:
// user/record/capture_storage, user/record/make_target.
#include "user/record/capture_storage.h"

#include "emulator/base/error.h"
#include "tests/unit/support/chunks.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/work_in.h"
#include "user/chunk/directory_target.h"
#include "user/chunk/rotating_target.h"
#include "user/record/make_target.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

namespace ovnitrace {
namespace {

using test::CollectingOutput;
using test::event_chunk;
using test::give;
using test::TempDir;

namespace fs = std::filesystem;

/// A target whose chunks go into memory.
class MemoryTarget final : public TraceTarget {
public:
  explicit MemoryTarget(size_t room = SIZE_MAX) : collected(room) {}
  ChunkDestination &output() override { return collected; }
  void prepare(const Description &) override {}
  void begin() override {}
  void end(const Description &, uint64_t) override {}
  void discard() noexcept override {}
  std::string place() const override { return "memory"; }
  bool may_stall() const override { return false; }

  CollectingOutput collected;
};

RecordOptions options_of(BufferKind::Kind kind, uint64_t bytes = 0) {
  RecordOptions options;
  options.buffer = {kind, bytes};
  options.chunk_bytes = 64 * sizeof(ftrace_record);
  options.spare_chunks = 4;
  return options;
}

/// A storage of two CPUs.
struct Rig {
  explicit Rig(const RecordOptions &options, size_t room = SIZE_MAX)
      : target(room),
        storage(
            options, target, 2, [this] { return ++triggered > 1; }, [this] { full++; }) {}
  TraceDescription described() {
    storage.close();
    TraceDescription trace;
    storage.describe(trace);
    return trace;
  }
  MemoryTarget target;
  unsigned triggered = 0, full = 0;
  CaptureStorage storage;
};

// The other half waits for the disk.
TEST(CaptureStorage, HalfOfTheChunksMayWaitForTheCompressor) {
  RecordOptions options;
  options.compress_level = 3;
  options.spare_chunks = 17;
  EXPECT_EQ(compression_of(options).level, 3);
  EXPECT_EQ(compression_of(options).waits, 8u);
  EXPECT_EQ(compression_of(options).patience, std::chrono::seconds(1));
  options.spare_chunks = 1;
  EXPECT_EQ(compression_of(options).waits, 0u);
}

TEST(CaptureStorage, OnDiskPassesAllOn) {
  Rig rig(options_of(BufferKind::kJtn, 1));
  EXPECT_EQ(rig.storage.flight(), nullptr);
  EXPECT_GE(rig.storage.sink().borrow(1)->records.capacity(), 64u);
  const Chunk first = event_chunk(0, 0, 1000, 20), second = event_chunk(1, 0, 1000, 7);
  give(rig.storage.sink(), first);
  give(rig.storage.sink(), second);
  const TraceDescription trace = rig.described();
  EXPECT_EQ(rig.full, 0u);
  EXPECT_EQ(trace.written, (std::vector<uint64_t>{first.records.size(), second.records.size()}));
  EXPECT_EQ(rig.target.collected.count(0, FTrace_EVT_task_dispatch), 20u);
  EXPECT_EQ(rig.target.collected.count(1, FTrace_EVT_task_dispatch), 7u);
  EXPECT_EQ(rig.target.collected.finished, 1);
  EXPECT_EQ(trace.write_error, "");
  EXPECT_EQ(trace.records_dropped, 0u);
  EXPECT_EQ(trace.dropped.records, 0u);
  EXPECT_EQ(trace.forgotten, 0u);
  EXPECT_EQ(rig.storage.bytes(),
            (first.records.size() + second.records.size()) * sizeof(ftrace_record));
}

TEST(CaptureStorage, StopsWhenItIsFull) {
  const Chunk first = event_chunk(0, 0, 1000, 20), second = event_chunk(1, 0, 1000, 7);
  Rig rig(options_of(BufferKind::kStop,
                     (first.records.size() + second.records.size()) * sizeof(ftrace_record)));
  give(rig.storage.sink(), first);
  EXPECT_EQ(rig.full, 0u);
  give(rig.storage.sink(), second);
  EXPECT_EQ(rig.full, 1u);
  give(rig.storage.sink(), event_chunk(1, 1, 2000, 3)); // the capture takes a moment to end
  EXPECT_EQ(rig.full, 1u);
  rig.described();
  EXPECT_EQ(rig.target.collected.count(1, FTrace_EVT_task_dispatch), 10u);
}

TEST(CaptureStorage, SaysWhatTheDiskDidNotTake) {
  const Chunk first = event_chunk(0, 0, 1000, 20), second = event_chunk(0, 1, 2000, 7);
  Rig rig(options_of(BufferKind::kJtn), first.records.size());
  give(rig.storage.sink(), first);
  give(rig.storage.sink(), second);
  const TraceDescription trace = rig.described();
  EXPECT_EQ(trace.write_error, "no room");
  EXPECT_EQ(trace.written, (std::vector<uint64_t>{first.records.size(), 0}));
  ASSERT_EQ(trace.not_written.size(), 2u);
  EXPECT_EQ(trace.not_written[0].logged, 7u);
  EXPECT_EQ(trace.not_written[1].logged, 0u);
  EXPECT_EQ(trace.records_dropped, second.records.size());
}

TEST(CaptureStorage, AFlightRecorderForgets) {
  RecordOptions options = options_of(BufferKind::kCyc, 64 * sizeof(ftrace_record));
  options.trigger_events = {FTrace_EVT_task_dispatch};
  Rig rig(options);
  ASSERT_NE(rig.storage.flight(), nullptr);
  const Chunk second = event_chunk(1, 1, 2000, 30);
  give(rig.storage.sink(), event_chunk(1, 0, 1000, 30));
  EXPECT_EQ(rig.triggered, 1u);
  give(rig.storage.sink(), second); // the first had no save, so nobody is asked again
  EXPECT_EQ(rig.triggered, 1u);
  EXPECT_EQ(rig.target.collected.files.size(), 0u) << "nothing is written before the end";
  // A chunk that is kept takes 128 bytes more than its records.
  EXPECT_EQ(rig.storage.bytes(), second.records.size() * sizeof(ftrace_record) + 128);
  const TraceDescription trace = rig.described();
  EXPECT_EQ(trace.forgotten, 31u) << "30 and the start of the trace";
  EXPECT_EQ(rig.full, 0u);
  EXPECT_EQ(rig.target.collected.count(1, FTrace_EVT_blackout_start), 1u);
}

TEST(CaptureStorage, ALiveViewForgetsOnItsOwn) {
  struct : LiveView {
    bool wait(uint64_t, int) override { return false; }
    void take(const std::string &, uint64_t, uint64_t) override {}
    void saved(const std::string &) override {}
  } view;
  RecordOptions options = options_of(BufferKind::kCyc, 1 << 20);
  options.live = &view;
  Rig rig(options);
  give(rig.storage.sink(), event_chunk(0, 0, 1000, 20));
  give(rig.storage.sink(), event_chunk(0, 1, 2000, 9));
  rig.storage.recent().forget_before(1999);
  EXPECT_EQ(rig.storage.recent().events_forgotten(), 21u) << "20 and the start of the trace";
  EXPECT_EQ(rig.storage.flight()->events_forgotten(), 0u);
  CollectingOutput part;
  EXPECT_EQ(rig.storage.recent().save(part, 3000), 0u);
  EXPECT_EQ(part.count(0, FTrace_EVT_task_dispatch), 9u);
  EXPECT_EQ(rig.described().forgotten, 0u);
  EXPECT_EQ(rig.target.collected.count(0, FTrace_EVT_task_dispatch), 29u);
}

const TraceTarget::Description kDescription = [](const Put &put) { put("{\"version\": 1}\n"); };

/// Makes a whole trace.
std::string finish(const std::unique_ptr<TraceTarget> &target) {
  target->prepare(kDescription);
  target->begin();
  target->output().finish();
  target->end(kDescription, 0);
  return target->place();
}

RecordOptions into(const std::string &directory) {
  RecordOptions options;
  options.directory = directory;
  return options;
}

TEST(MakeTarget, IsTheDirectoryThatIsAskedFor) {
  const TempDir dir;
  RecordOptions options = into(dir / "run");
  EXPECT_EQ(finish(make_target(options, "app", 2)), dir / "run");
  EXPECT_THROW(make_target(options, "app", 2), Error) << "it exists";
  EXPECT_TRUE(fs::exists(dir / "run/trace.json"));
  options.force = true;
  EXPECT_EQ(finish(make_target(options, "app", 2)), dir / "run");
  EXPECT_FALSE(fs::exists(dir / "run-2"));
}

TEST(MakeTarget, IsCutIfItIsToRotate) {
  const TempDir dir;
  const auto whole = make_target(into(dir / "whole"), "app", 1);
  EXPECT_NE(dynamic_cast<DirectoryTarget *>(whole.get()), nullptr);
  RecordOptions options = into(dir / "cut");
  options.rotation.time = 1;
  const auto cut = make_target(options, "app", 1);
  EXPECT_NE(dynamic_cast<RotatingTarget *>(cut.get()), nullptr);
  EXPECT_EQ(cut->place(), dir / "cut");
}

TEST(MakeTarget, HasANameOfItsOwnIfNoneIsGiven) {
  const TempDir dir;
  const test::WorkIn here(dir.path());
  const std::string first = finish(make_target({}, "/bin/app", 1));
  const std::string second = finish(make_target({}, "/bin/app", 1));
  EXPECT_TRUE(first.starts_with("app-")) << first;
  EXPECT_TRUE(second.starts_with("app-")) << second;
  EXPECT_NE(first, second) << "also if both are of one second";
}

TEST(MakeTarget, OfASaveIsNumbered) {
  const TempDir dir;
  RecordOptions options = into(dir / "run");
  const auto whole = make_target(options, "app", 1);
  unsigned saves = 0;
  EXPECT_EQ(finish(make_save_target(options, "app", 1, *whole, saves)), (dir / "run") + ".1");
  EXPECT_EQ(saves, 1u);
  fs::create_directory((dir / "run") + ".2"); // of somebody else
  EXPECT_EQ(finish(make_save_target(options, "app", 1, *whole, saves)), (dir / "run") + ".3");
  EXPECT_EQ(saves, 3u);
  options.force = true;
  saves = 0;
  EXPECT_EQ(finish(make_save_target(options, "app", 1, *whole, saves)), (dir / "run") + ".1");
  EXPECT_EQ(saves, 1u);
}

TEST(MakeTarget, OfASaveFromTheLiveViewIsInTheCurrentDirectory) {
  const TempDir dir, scratch;
  const test::WorkIn here(dir.path());
  struct : LiveView {
    bool wait(uint64_t, int) override { return false; }
    void take(const std::string &, uint64_t, uint64_t) override {}
    void saved(const std::string &) override {}
  } view;
  RecordOptions options = into(scratch / "trace");
  options.live = &view;
  const auto whole = make_target(options, "app", 1);
  unsigned saves = 0;
  const std::string first = finish(make_save_target(options, "app", 1, *whole, saves));
  EXPECT_TRUE(first.starts_with("app-")) << first;
  EXPECT_TRUE(fs::exists(dir / (first + "/trace.json")));
  EXPECT_NE(finish(make_save_target(options, "app", 1, *whole, saves)), first);
}

} // namespace
} // namespace ovnitrace
