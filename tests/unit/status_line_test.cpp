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

} // namespace
} // namespace ovnitrace
