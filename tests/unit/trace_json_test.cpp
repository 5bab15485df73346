// SPDX-License-Identifier: BSD-2-Clause
// What trace.json says of a capture: user/record/trace_json.
#include "user/record/trace_json.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

TEST(TraceJson, EventsAreLostInTheKernelInTheQueueAndOnTheDisk) {
  TraceDescription trace;
  EXPECT_EQ(events_lost(trace), 0u);
  trace.dropped.logged = 1;
  trace.counts.resize(2);
  trace.counts[0].lost = 10;
  trace.counts[1].family_lost = 100;
  trace.not_written.resize(2);
  trace.not_written[1].logged = 1000;
  EXPECT_EQ(events_lost(trace), 1111u);
}

} // namespace
} // namespace ovnitrace
