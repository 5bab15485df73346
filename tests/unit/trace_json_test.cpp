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
  const CommandLines none;
  const TracedThreads threads = {registry, none};
  write_json({}, &threads, [&](std::string_view piece) { text += piece; });
  std::vector<uint32_t> tids;
  const auto json = nlohmann::json::parse(text);
  for (const auto &thread : json["threads"])
    tids.push_back(thread["tid"]);
  EXPECT_EQ(tids, (std::vector<uint32_t>{9, 30, 10, 20}));
}

/// With --control a traced thread can be in no chunk, and still wake one that is.
TEST(TraceJson, WithRegionsTracedThreadsAreAmongThePeers) {
  ThreadRegistry registry;
  life_record record = {};
  record.kind = LIFE_SNAPSHOT;
  record.tid = record.pid = 9;
  registry.learn(record);
  const CommandLines none;
  const TracedThreads threads = {registry, none};
  const auto peers = [&](const TraceDescription &trace) {
    std::string text;
    write_json(trace, &threads, [&](std::string_view piece) { text += piece; });
    return nlohmann::json::parse(text)["peers"].size();
  };
  TraceDescription trace;
  EXPECT_EQ(peers(trace), 0u);
  trace.control = {{"", "start:enter_func:f"}};
  EXPECT_EQ(peers(trace), 1u);
}

TEST(TraceJson, HasTheCommandLinesOfTracedProcesses) {
  ThreadRegistry registry;
  life_record alive = {};
  alive.kind = LIFE_SNAPSHOT;
  alive.tid = alive.pid = 9;
  registry.learn(alive);
  TraceDescription trace;
  trace.begin = 100;
  trace.command_lines.add(9, 0, std::string_view("old\0", 4), false);
  trace.command_lines.add(10, 0, std::string_view("stranger\0", 9), false);
  CommandLines executed;
  executed.add(9, 200, std::string_view("make\0-j4\0\033[31m\0", 15), false);
  executed.add(9, 300, std::string_view("cc\0-c", 5), true);
  const TracedThreads threads = {registry, executed};
  std::string text;
  write_json(trace, &threads, [&](std::string_view piece) { text += piece; });
  std::vector<std::string> lines;
  const auto json = nlohmann::json::parse(text);
  for (const auto &line : json["command_lines"])
    lines.push_back(std::to_string(line["since_ns"].get<uint64_t>()) + " " +
                    line["text"].get<std::string>());
  EXPECT_EQ(lines, (std::vector<std::string>{"0 old", "200 make -j4 ?[31m", "300 cc -c…"}));
}

} // namespace
} // namespace ovnitrace
