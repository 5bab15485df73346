// SPDX-License-Identifier: BSD-2-Clause
// What a session without a program prints each second: user/record/status_line.
#include "user/record/status_line.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

TEST(StatusLine, HasTheEventsOfTheIntervalAsARate) {
  StatusLine line(1'000'000'000);
  CaptureStatus status = {.time = 2'000'000'000,
                          .elapsed = 1'000'000'000,
                          .events = 1000,
                          .lost = 0,
                          .bytes = 2'000'000,
                          .fullest_ring = 125,
                          .threads = 7};
  EXPECT_EQ(line.next(status),
            "1 s: 1,000 events/s, 0 lost, 2.0 MB, fullest ring 12.5 %, 7 threads");
  status.time = status.elapsed = 4'000'000'000;
  status.events = 1500;
  status.paused = true;
  EXPECT_EQ(line.next(status),
            "4 s: 250 events/s, 0 lost, 2.0 MB, fullest ring 12.5 %, 7 threads, paused");
}

TEST(StatusLine, SaysOnceWhatToDoAboutLosses) {
  StatusLine line(0);
  CaptureStatus status = {.time = 1'000'000'000, .lost = 3};
  const std::string first = line.next(status);
  EXPECT_EQ(first.substr(first.find('\n') + 1),
            "the first events were lost: give each CPU a larger ring (--ring-size), or record "
            "fewer threads or families (--comm, --cgroup, --filter)");
  status.time *= 2;
  status.lost = 4;
  const std::string next = line.next(status);
  EXPECT_EQ(next.find("--ring-size"), std::string::npos);
  EXPECT_NE(next.find("4 lost"), std::string::npos);
}

TEST(StatusLine, HasWholeSecondsAndNoIntervalOfZero) {
  StatusLine line(5);
  EXPECT_EQ(line.next({.time = 5, .elapsed = 1'999'999'999, .events = 2, .threads = 1}),
            "1 s: 2,000,000,000 events/s, 0 lost, 0 kB, fullest ring 0.0 %, 1 thread");
}

CaptureStatus some_status() {
  return {.time = 9'000'000'000,
          .elapsed = 2'500'000'000,
          .events = 12345,
          .lost = 678,
          .bytes = 2'000'000,
          .fullest_ring = 125,
          .threads = 7};
}

TEST(CtlStatus, IsALineOfText) {
  CaptureStatus status = some_status();
  EXPECT_EQ(text_of(status), "recording for 2.500 s: 12,345 events, 678 lost, 2.0 MB, fullest ring "
                             "12.5 %, 7 threads\n");
  status.paused = true;
  status.events = status.threads = 1;
  EXPECT_EQ(text_of(status), "paused; started for 2.500 s: 1 event, 678 lost, 2.0 MB, fullest ring "
                             "12.5 %, 1 thread\n");
}

TEST(CtlStatus, IsALineOfJson) {
  CaptureStatus status = some_status();
  EXPECT_EQ(json_of(status, ""),
            R"({"schema":1,"state":"recording","elapsed_ns":2500000000,"events":12345,"lost":678,)"
            R"("bytes":2000000,"fullest_ring":0.125,"threads":7})"
            "\n");
  status.paused = true;
  EXPECT_EQ(json_of(status, "one\ntwo\n"),
            R"({"schema":1,"state":"paused","elapsed_ns":2500000000,"events":12345,"lost":678,)"
            R"("bytes":2000000,"fullest_ring":0.125,"threads":7,"regions":"one\ntwo\n"})"
            "\n");
}

} // namespace
} // namespace ovnitrace
