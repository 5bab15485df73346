// SPDX-License-Identifier: BSD-2-Clause
// What `ovnitrace info` adds up of interrupts, sections and waits for locks, and what a loss hides.
#include "tests/unit/support/ovni_streams.h"
#include "tests/unit/support/summed.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using test::sum_up;
using test::Summed;
using test::TempDir;
using test::TraceBuilder;

TEST(SummaryOfFamilies, HasTheTimesOfInterruptsSectionsAndWaits) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  constexpr uint16_t kSoft = FTRACE_INTERRUPT_SOFT | 1, kVector = FTRACE_INTERRUPT_VECTOR | 0xec;
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "a").dispatch(1);
  const auto section = [&](uint64_t time, uint32_t code, uint32_t number) {
    cpu.at(time).record(uint16_t(code), 0, number);
  };
  const auto interrupt = [&](uint64_t time, uint32_t code, uint16_t which) {
    cpu.at(time).record(uint16_t(code), which, 11);
  };
  section(1010, FTrace_EVT_user_event_13, 7);
  section(1020, FTrace_EVT_user_event_13, 8);
  interrupt(1030, FTrace_EVT_interrupt_start, kSoft);
  interrupt(1040, FTrace_EVT_interrupt_start, kVector);
  interrupt(1045, FTrace_EVT_interrupt_end, kVector);
  interrupt(1060, FTrace_EVT_interrupt_end, kSoft);
  interrupt(1061, FTrace_EVT_interrupt_end, kSoft); // its start was not seen
  section(1070, FTrace_EVT_user_event_14, 8);
  section(1110, FTrace_EVT_user_event_14, 7);
  cpu.at(1200).record(FTrace_EVT_mutex_wait, 1, 0x40).at(1230);
  cpu.record(FTrace_EVT_mutex_lock, 1, 0x40 | FTRACE_FUTEX_PLAIN);
  cpu.at(1300).record(FTrace_EVT_mutex_wait, 1, 0x40).at(1400);
  cpu.record(FTrace_EVT_mutex_lock, 1, 0x40 | FTRACE_FUTEX_PLAIN | FTRACE_FUTEX_GAVE_UP);
  cpu.at(1500).record(FTrace_EVT_mutex_wait, 1, 0x40).record(FTrace_filter_mutex, 1);
  cpu.at(1600).record(FTrace_EVT_mutex_lock, 1, 0x40); // it may have waited twice
  cpu.at(1700).record(FTrace_EVT_interrupt_start, kVector, 11).at(1710).blackout_start();
  cpu.at(1720).blackout_end(1).record(FTrace_EVT_interrupt_end, kVector, 11).at(2000).stop();
  const Summed summed = sum_up(trace, dir.path());
  const Spans &waits = summed.thread(11).mutex_waits;
  EXPECT_EQ(waits.count, 2u);
  EXPECT_EQ(waits.time, 130u);
  EXPECT_EQ(waits.max, 100u);
  EXPECT_EQ(waits.max_at, 1400u);
  EXPECT_EQ(summed.thread(11).waits_given_up, 1u);
  ASSERT_EQ(summed.summary.sections.size(), 2u);
  EXPECT_EQ(summed.summary.sections.at(7).time, 100u);
  EXPECT_EQ(summed.summary.sections.at(8).time, 50u);
  EXPECT_EQ(summed.summary.section_lengths.at(7).max(), 100u);
  const auto &interrupts = summed.summary.cpus[0].interrupt;
  ASSERT_EQ(interrupts.size(), 2u);
  EXPECT_EQ(interrupts.at(kSoft).count, 1u);
  EXPECT_EQ(interrupts.at(kSoft).time, 25u); // without the 5 of the one that interrupted it
  EXPECT_EQ(interrupts.at(kVector).time, 5u);
  EXPECT_EQ(summed.summary.cpus[0].interrupts, 30u);
}

/// Begins and ends a section and a wait on CPU 0. Something happens in between.
class Measured : public ::testing::Test {
protected:
  Measured() : trace(dir.path()) { trace.cpu(0).at(0).start().id(1, 11, 11, "a").dispatch(1); }
  void begin(uint64_t time) {
    trace.cpu(0).at(time).record(FTrace_EVT_user_event_13, 0, 7);
    trace.cpu(0).record(FTrace_EVT_mutex_wait, 1, 0x40);
  }
  void end(uint64_t time) {
    trace.cpu(0).at(time).record(FTrace_EVT_user_event_14, 0, 7);
    trace.cpu(0).record(FTrace_EVT_mutex_lock, 1, 0x40);
  }
  /// Adds up the trace and, if there is one, that of another host.
  void expect(uint64_t sections, uint64_t waits, const std::string &other = {}) {
    trace.cpu(0).at(10000).stop();
    trace.write();
    std::vector<TraceInput> inputs = {{dir.path()}};
    if (!other.empty())
      inputs.push_back({other});
    const Summary summary = summarize(*open_trace(inputs, sink));
    const auto found = summary.sections.find(7);
    EXPECT_EQ(found == summary.sections.end() ? 0 : found->second.time, sections);
    EXPECT_EQ(summary.threads[0].mutex_waits.time, waits);
  }

  TempDir dir;
  TraceBuilder trace;
  test::CollectingSink sink;
};

TEST_F(Measured, NothingOverALossOfFamiliesOnAnyCpuOfTheHost) {
  trace.cpu(1).at(200).record(FTrace_EVT_blackout_start, FTRACE_BLACKOUT_FAMILIES);
  trace.cpu(1).at(300).record(FTrace_EVT_blackout_end, FTRACE_BLACKOUT_FAMILIES, 4).at(999).stop();
  begin(100);
  end(190);
  begin(199);
  end(201);
  begin(250);
  end(301);
  begin(301);
  end(400);
  expect(90 + 99, 90 + 99);
}

TEST_F(Measured, NoSectionOverAFilterOfUserEvents) {
  begin(100);
  trace.cpu(0).at(200).record(FTrace_filter_user, 1).at(300).record(FTrace_filter_user, 0);
  end(400);
  begin(500);
  end(600);
  expect(100, 300 + 100);
}

TEST_F(Measured, NoWaitOverAFilterOfMutexes) {
  begin(100);
  trace.cpu(0).at(200).record(FTrace_filter_mutex, 1).at(300).record(FTrace_filter_mutex, 0);
  end(400);
  begin(500);
  end(600);
  expect(300 + 100, 100);
}

TEST_F(Measured, EverythingOverALossOnAnotherHost) {
  TempDir other;
  TraceBuilder second(other.path());
  second.cpu(0).at(0).start().at(200).blackout_start().at(300).blackout_end(4).at(999).stop();
  second.write();
  begin(100);
  end(400);
  expect(300, 300, other.path());
}

/// More lost ends than sections can nest.
TEST_F(Measured, SectionsWithLostEndsLeaveRoomForLaterOnes) {
  for (int n = 0; n < 600; n++)
    trace.cpu(0).at(100).record(FTrace_EVT_user_event_13, 0, 9);
  trace.cpu(0).at(200).record(FTrace_EVT_blackout_start, FTRACE_BLACKOUT_FAMILIES);
  trace.cpu(0).record(FTrace_EVT_blackout_end, FTRACE_BLACKOUT_FAMILIES, 600);
  begin(300);
  end(400);
  expect(100, 100);
}

} // namespace
} // namespace ovnitrace
