// SPDX-License-Identifier: BSD-2-Clause
// How long the controller of --control waits, and what it says of losses.
#include "user/control/controller.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace ovnitrace::control {
namespace {

using Lines = std::vector<std::string>;

TEST(ControllerPatience, EndsWithTheNextTimeoutOrTheNextLookAtTheProcesses) {
  constexpr uint64_t kNow = 5'000'000'000;
  EXPECT_EQ(patience({}, kNow, false), 1000);
  EXPECT_EQ(patience({}, kNow, true), 50);
  const std::tuple<uint64_t, int, int> cases[] = {
      {0, 0, 0},
      {kNow - 1, 0, 0},
      {kNow, 0, 0},
      {kNow + 1, 1, 1},
      {kNow + 999'999, 1, 1},
      {kNow + 1'000'000, 2, 2},
      {kNow + 48'999'999, 49, 49},
      {kNow + 49'000'000, 50, 50},
      {kNow + 50'000'000, 51, 50},
      {kNow + 998'999'999, 999, 50},
      {kNow + 1'000'000'000, 1000, 50},
      {UINT64_MAX, 1000, 50},
  };
  for (const auto &[due, alone, with_parents] : cases) {
    EXPECT_EQ(patience(due, kNow, false), alone) << due;
    EXPECT_EQ(patience(due, kNow, true), with_parents) << due;
  }
}

TEST(ControllerLosses, HaveALineEach) {
  EXPECT_EQ(loss_lines({}), Lines());
  const Lines all = loss_lines({.full = 1, .unheld = 2, .messages = 3, .skipped = 4});
  EXPECT_EQ(all, (Lines{"hits of alarms that the kernel skipped: 4",
                        "threads that had no chains, because there were too many at a time: 1",
                        "processes with new code that could not be stopped until their probes "
                        "were set, so alarms may have been missed: 2",
                        "3 messages were lost: timeouts were missed"}));
  EXPECT_EQ(loss_lines({.full = 1, .unheld = 0, .messages = 0, .skipped = 0}), Lines{all[1]});
  EXPECT_EQ(loss_lines({.full = 0, .unheld = 0, .messages = 1, .skipped = 0}),
            Lines{"1 messages were lost: timeouts were missed"});
}

} // namespace
} // namespace ovnitrace::control
