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

} // namespace
} // namespace ovnitrace
