// SPDX-License-Identifier: BSD-2-Clause
// What ovnitrace prints at the end of a capture: user/record/closing_report.
#include "user/record/closing_report.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

class ClosingReport : public testing::Test {
protected:
  ClosingReport() {
    trace_.command = {"app"};
    trace_.begin = 5'000'000'000;
    trace_.end = 7'500'000'000;
    trace_.how = "exited with status 3";
    trace_.events = 1200;
    trace_.host.cpus.resize(2);
  }
  std::string printed(size_t threads) {
    testing::internal::CaptureStderr();
    print_end(trace_, threads, "dir");
    return testing::internal::GetCapturedStderr();
  }
  TraceDescription trace_;
};

TEST_F(ClosingReport, SaysHowMuchWasCapturedAndWhere) {
  EXPECT_EQ(printed(3), "ovnitrace: 1,200 events of 3 threads on 2 CPUs in 2.500 s, 0 lost; "
                        "written to dir\n");
  EXPECT_EQ(what_is_missing(trace_), "");
  EXPECT_FALSE(is_incomplete(trace_));
}

TEST_F(ClosingReport, SaysWhichSignalKilledTheProgram) {
  trace_.how = "was killed by signal 9";
  for (const int status : {0, 1, 127, 128}) {
    trace_.exit_status = status;
    EXPECT_EQ(printed(1).find("app"), std::string::npos) << status;
  }
  trace_.exit_status = 129;
  EXPECT_EQ(printed(1).substr(0, 38), "ovnitrace: app was killed by signal 9\n");
  trace_.command.clear();
  EXPECT_EQ(printed(1).find("signal"), std::string::npos) << "no program was started";
}

TEST_F(ClosingReport, LeavesOutEvictedEvents) {
  trace_.forgotten = 200;
  EXPECT_EQ(printed(1),
            "ovnitrace: 1,000 events of 1 thread on 2 CPUs in 2.500 s, 0 lost; "
            "written to dir; 200 older events were evicted, and perhaps some threads\n");
  EXPECT_FALSE(is_incomplete(trace_)) << "that was asked for";
}

TEST_F(ClosingReport, AddsUpLossesOfAllCpusAndFamilies) {
  trace_.counts = {{.events = 100, .lost = 1, .family_events = 50, .family_lost = 20},
                   {.events = 100, .lost = 300, .family_events = 50, .family_lost = 4000}};
  EXPECT_TRUE(is_incomplete(trace_));
  EXPECT_EQ(what_is_missing(trace_), "warning: the trace is not complete: 4,321 events found no "
                                     "room (try a larger --ring-size)");
  EXPECT_NE(printed(1).find(" 4321 lost; "), std::string::npos);
}

TEST_F(ClosingReport, NamesEachCauseInOneLine) {
  trace_.counts = {{.events = 100, .lost = 1}};
  trace_.skipped_runs = 1;
  trace_.life_lost = 2;
  trace_.not_written = {{.records = 9, .logged = 5}, {.records = 9, .logged = 6}};
  trace_.write_error = "the disk is full";
  EXPECT_EQ(what_is_missing(trace_),
            "warning: the trace is not complete: 1 event found no room (try a larger --ring-size); "
            "1 event was skipped by the kernel; 2 creations, names and ends of threads found no "
            "room; 11 events could not be written; the disk is full");
  EXPECT_NE(printed(1).find("; not all of it written to dir\n"), std::string::npos);
}

TEST_F(ClosingReport, EachCauseAloneMakesItIncomplete) {
  trace_.skipped_runs = 1;
  EXPECT_TRUE(is_incomplete(trace_));
  trace_.skipped_runs = 0;
  trace_.life_lost = 1;
  EXPECT_TRUE(is_incomplete(trace_));
  trace_.life_lost = 0;
  trace_.write_error = "x";
  EXPECT_TRUE(is_incomplete(trace_));
  trace_.write_error.clear();
  EXPECT_FALSE(is_incomplete(trace_));
}

TEST_F(ClosingReport, CountsEventsThatProgramsMayNotLogOrFire) {
  trace_.user_refused = 1;
  EXPECT_NE(printed(1).find("\novnitrace: 1 event was left out: a program may not log events with "
                            "these codes, nor give FTrace_fire this event or thread "
                            "(docs/user-events.md)\n"),
            std::string::npos);
}

TEST_F(ClosingReport, CountsTheStacks) {
  NamedStacks stacks;
  stacks.captured.stacks = {{.first = 0, .kernel = 1, .user = 0, .taken = 40},
                            {.first = 0, .kernel = 0, .user = 1, .taken = 2}};
  stacks.cut = {false, true};
  trace_.stacks = std::make_shared<NamedStacks>(stacks);
  trace_.stacks_lost = 3;
  const std::string text = printed(1);
  const size_t second = text.find('\n') + 1;
  EXPECT_EQ(text.substr(second), "ovnitrace: " + stack_counts(trace_).text() + "\n");
  EXPECT_NE(text.find("42", second), text.npos) << text;
}

TEST_F(ClosingReport, EventsThatAreInNoFileDoNotCount) {
  EXPECT_EQ(events_in_trace(trace_, 1000), 1000u);
  trace_.dropped.counted = 100;
  trace_.not_written = {{.counted = 20}, {}, {.counted = 3}};
  EXPECT_EQ(events_in_trace(trace_, 1000), 877u);
  trace_.not_written[2].counted = 880;
  EXPECT_EQ(events_in_trace(trace_, 1000), 0u);
  trace_.not_written[2].counted = 881; // a loss can be counted twice
  EXPECT_EQ(events_in_trace(trace_, 1000), 0u);
}

TEST_F(ClosingReport, TheEndOfTheProgramFollowsAnEarlyEndOfTracing) {
  EXPECT_EQ(ending_text("", "exited", true), "exited");
  EXPECT_EQ(ending_text("", "stopped by a signal", false), "stopped by a signal");
  EXPECT_EQ(ending_text("after 2 s (-d)", "exited", true),
            "after 2 s (-d); later the program exited");
  EXPECT_EQ(ending_text("after 2 s (-d)", "stopped by a signal", false), "after 2 s (-d)");
}

TEST_F(ClosingReport, TheStatusIsThatOfTheProgramUnlessTheTraceIsNotWhole) {
  const auto status = [&](bool has_program) { return exit_status_of(trace_, has_program); };
  EXPECT_EQ(status(true), 0);
  EXPECT_EQ(status(false), 0);
  trace_.life_lost = 1;
  EXPECT_EQ(status(true), 0) << "the program's own";
  EXPECT_EQ(status(false), 3) << "events are missing";
  trace_.exit_status = 7;
  EXPECT_EQ(status(true), 7);
  trace_.life_lost = 0;
  trace_.write_error = "full";
  EXPECT_EQ(status(true), 7);
  EXPECT_EQ(status(false), 3);
  trace_.exit_status = 0;
  EXPECT_EQ(status(true), 1);
}

} // namespace
} // namespace ovnitrace
