// SPDX-License-Identifier: BSD-2-Clause
// Files that libovnitrace writes, converted: the manual's example, and a cyclic chunk.
#include "emulator/open/open_trace.h"
#include "tests/support/convert_directory.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/ftrace_rig.h"
#include "tests/unit/support/manual_codes.h"
#include "tests/unit/support/manual_example.h"

#include <set>
#include <thread>

using namespace ovnitrace;
using namespace ovnitrace::test;

namespace {

class SharkLibrary : public FtraceRig {
protected:
  /// Parameter 2 of all events of a kind, and how many warnings there were.
  std::vector<uint32_t> events(const std::string &path, uint32_t kind) {
    const auto source = open_trace({{path}}, sink_);
    std::vector<uint32_t> found;
    uint64_t time = 0;
    for (Event event; source->next(event); time = event.time) {
      EXPECT_GE(event.time, time);
      if (event.kind == kind)
        found.push_back(event.par2);
    }
    return found;
  }
  CollectingSink sink_;
};

void first() {
  TRACER_LOGEVENT(FTrace_EVT_task_activate, 18, 0);
  TRACER_LOGEVENT(FTrace_EVT_context_switch, 18, 0);
}

void second() {
  TRACER_LOGEVENT(FTrace_EVT_task_deadline_miss, 18, 0);
  TRACER_LOGEVENT(FTrace_EVT_context_switch, 17, 0);
}

TEST_F(SharkLibrary, TheManualsExampleGoesToParaver) {
  std::string path = dir_ / "trace.dat";
  manual_example(path.data(), first, second);

  ConvertOptions options;
  options.directory = dir_ / "prv";
  const ConvertResult result = convert_directory(path, options, sink_);
  EXPECT_EQ(result.faults, 0u);
  EXPECT_TRUE(result.untaken.empty());
  EXPECT_TRUE(sink_.reported.empty());

  const std::string rows = test::text_of(dir_ / "prv/thread.row");
  for (const char *name : {"task 1 (17)", "task 2 (18)", "task 4 (65535)"})
    EXPECT_NE(rows.find(name), std::string::npos) << name;
  const std::string text = test::text_of(dir_ / "prv/thread.prv");
  EXPECT_NE(text.find(":462:1"), std::string::npos) << "the deadline miss";
  EXPECT_NE(text.find(":315:6001"), std::string::npos) << "the ipoint";
}

// What each means is in the tests of its model; here none is unknown to all of them.
TEST_F(SharkLibrary, EveryCodeOfTheManualIsTakenByAModel) {
  std::string path = dir_ / "trace.dat";
  const int chunk = create(int(std::size(kManualCodes)), kFree | FTRACE_CHUNK_FLAG_JTN);
  ASSERT_EQ(FTrace_actual_chunk_select(chunk), 0);
  FTrace_enable();
  for (const ManualCode &code : kManualCodes)
    TRACER_LOGEVENT(FTrace_WORD(code.value), 17, FTrace_clk_per_msec());
  FTrace_disable();
  FTrace_init_disk_writer(path.data(), 0, nullptr, nullptr);
  ASSERT_EQ(FTrace_send_chunk(chunk, 0, kFree), 0);
  ASSERT_EQ(read_records(path).size(), std::size(kManualCodes));

  ConvertOptions options;
  options.directory = dir_ / "prv";
  const ConvertResult result = convert_directory(path, options, sink_);
  for (const ManualCode &code : kManualCodes)
    EXPECT_FALSE(result.untaken.contains(code.manual)) << code.name;

  // Nor does the reader drop one: but for those that describe the file, each is an event.
  std::set<uint32_t> read;
  const auto source = open_trace({{path}}, sink_);
  for (Event event; source->next(event);)
    read.insert(event.kind);
  for (const ManualCode &code : kManualCodes) {
    const bool describes =
        code.manual == 0x10 || code.manual == 0x60 || code.manual == 0x70 || code.manual == 0xFF;
    EXPECT_EQ(read.contains(code.manual), !describes) << code.name;
  }
}

TEST_F(SharkLibrary, ACyclicChunkThatWasFullSeveralTimes) {
  std::string path = dir_ / "trace.dat";
  const int chunk = create(100, kFree | FTRACE_CHUNK_FLAG_CYC);
  ASSERT_EQ(FTrace_actual_chunk_select(chunk), 0);
  FTrace_enable();
  for (uint32_t i = 0; i < 1234; i++)
    TRACER_LOGEVENT(FTrace_EVT_user_event_3, 0, i);
  FTrace_disable();
  FTrace_init_disk_writer(path.data(), 0, nullptr, nullptr);
  ASSERT_EQ(FTrace_send_chunk(chunk, 0, FTRACE_CHUNK_FLAG_FREE), 0);

  const std::vector<uint32_t> found = events(path, FTrace_EVT_user_event_3);
  ASSERT_GE(found.size(), 99u);
  EXPECT_EQ(found.back(), 1233u);
  for (size_t i = 1; i < found.size(); i++)
    EXPECT_EQ(found[i], found[i - 1] + 1);
  EXPECT_TRUE(sink_.reported.empty());
}

TEST_F(SharkLibrary, ThreadsThatLogAtOnceAreBroughtInOrder) {
  std::string path = dir_ / "trace.dat";
  constexpr uint32_t kThreads = 4, kEvents = 5000;
  const int chunk = create(kThreads * kEvents + 100, kFree | FTRACE_CHUNK_FLAG_STOP);
  ASSERT_EQ(FTrace_actual_chunk_select(chunk), 0);
  FTrace_enable();
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; t++)
    threads.emplace_back([t] {
      for (uint32_t i = 0; i < kEvents; i++)
        TRACER_LOGEVENT(FTrace_EVT_user_event_3, 0, t * kEvents + i);
    });
  for (std::thread &thread : threads)
    thread.join();
  FTrace_disable();
  FTrace_init_disk_writer(path.data(), 0, nullptr, nullptr);
  ASSERT_EQ(FTrace_send_chunk(chunk, 0, FTRACE_CHUNK_FLAG_FREE), 0);

  const std::vector<uint32_t> found = events(path, FTrace_EVT_user_event_3);
  EXPECT_EQ(found.size(), kThreads * kEvents);
  std::vector<uint32_t> next(kThreads, 0);
  for (uint32_t event : found)
    EXPECT_EQ(event % kEvents, next[event / kEvents]++);
  EXPECT_TRUE(sink_.reported.empty());
}

} // namespace
