// SPDX-License-Identifier: BSD-2-Clause
// What trace.json says of a capture: user/record/trace_json.
#include "user/record/trace_json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

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

TEST(TraceJson, ThreadsAreInOrderOfProcessAndThenOfThread) {
  ThreadRegistry registry;
  const std::pair<uint32_t, uint32_t> ids[] = {{30, 9}, {10, 20}, {9, 9}, {20, 20}}; // tid, pid
  for (const auto &[tid, pid] : ids) {
    life_record record = {};
    record.kind = LIFE_SNAPSHOT;
    record.tid = tid;
    record.pid = pid;
    registry.learn(record);
  }
  std::string text;
  write_json({}, &registry, [&](std::string_view piece) { text += piece; });
  std::vector<uint32_t> tids;
  const auto json = nlohmann::json::parse(text);
  for (const auto &thread : json["threads"])
    tids.push_back(thread["tid"]);
  EXPECT_EQ(tids, (std::vector<uint32_t>{9, 30, 10, 20}));
}

} // namespace
} // namespace ovnitrace
