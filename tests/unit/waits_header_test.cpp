// SPDX-License-Identifier: BSD-2-Clause
// The header of the page of `ovnitrace report`: who held the CPU, and two hosts.
#include "emulator/report/page_header.h"
#include "emulator/report/peer_numbers.h"
#include "emulator/report/why_part.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace ovnitrace {
namespace {

using nlohmann::json;
using Kind = Culprit::Kind;

/// The first thread is on the first host, the others are on the second one. 77 has another name on
/// each.
class WaitsHeader : public ::testing::Test {
protected:
  WaitsHeader() {
    catalog.hosts = {{"node"}, {"other"}};
    catalog.hosts[0].peers = {{.tid = 77, .pid = 77, .name = "hog"}};
    catalog.hosts[1].peers = {{.tid = 77, .pid = 77, .name = "cc1"}};
    catalog.begin = 1000;
    catalog.cpus = {{.index = 4, .host = 0}, {.index = 0, .host = 1}, {.index = 6, .host = 1}};
    catalog.threads.resize(3);
    const char *names[] = {"app", "job", "io"};
    for (uint32_t t = 0; t < 3; t++) {
      catalog.threads[t].tid = 11 + t;
      catalog.threads[t].pid = t ? 12 : 11;
      catalog.threads[t].host = t ? 1 : 0;
      catalog.threads[t].birth = 500 + t;
      catalog.threads[t].name = names[t];
    }
  }
  void wait(uint32_t thread, Culprit holder, uint64_t ns, WaitKind kind = WaitKind::wakeup) {
    why.waits.push_back({.thread = thread, .kind = kind, .holder = holder, .ns = ns});
  }
  /// "waiter name ns" of each sum.
  std::vector<std::string> sums() const {
    std::vector<std::string> all;
    const json header = waits_header(catalog, why);
    for (const json &sum : header["sums"])
      all.push_back(sum["waiter"].dump() + " " + sum["name"].get<std::string>() + " " +
                    sum["ns"].dump());
    return all;
  }
  using Texts = std::vector<std::string>;

  Catalog catalog;
  Explanation why;
};

TEST_F(WaitsHeader, AHolderHasOneSumForEachThatWaitedForACpu) {
  const Culprit io(Kind::thread, 2);
  wait(1, io, 5, WaitKind::wakeup);
  wait(1, io, 20, WaitKind::preemption);
  wait(1, io, 100, WaitKind::not_known);
  wait(1, io, 1000, WaitKind::yield);
  wait(1, io, 10'000, WaitKind::refill);
  wait(1, io, 100'000, WaitKind::throttling);
  wait(1, io, 200'000, WaitKind::budget);
  wait(1, io, 300'000, WaitKind::period);
  wait(1, io, 400'000, WaitKind::spin);
  EXPECT_EQ(sums(), Texts{"1 io (13) 11125"}) << "others want no CPU";
}

TEST_F(WaitsHeader, TheLongestSumIsTheFirstAndNamesAreThoseOfTheHost) {
  const Culprit outside(Kind::untraced, 77), app(Kind::thread, 0);
  wait(2, app, 7);
  wait(0, outside, 30);
  wait(1, outside, 40);
  wait(1, app, 7);
  wait(1, Kind::idle, 7);
  EXPECT_EQ(sums(), (Texts{"1 cc1 (77), not traced 40", "0 hog (77), not traced 30", "1 app (11) 7",
                           "1 idle 7", "2 app (11) 7"}));
}

TEST_F(WaitsHeader, AThousandSumsAreListed) {
  for (uint32_t n = 0; n < 999; n++)
    wait(0, {Kind::untraced, n + 1}, 10 + n);
  wait(1, {Kind::untraced, 1}, 5);
  json header = waits_header(catalog, why);
  EXPECT_EQ(header["sums"].size(), 1000u);
  EXPECT_EQ(header["left_out"], 0);
  wait(1, {Kind::untraced, 2}, 3);
  wait(2, {Kind::untraced, 1}, 4);
  header = waits_header(catalog, why);
  EXPECT_EQ(header["sums"].size(), 1000u);
  EXPECT_EQ(header["sums"][999]["ns"], 5);
  EXPECT_EQ(header["left_out"], 7);
}

TEST_F(WaitsHeader, APeerHasANumberForEachNameAndHost) {
  catalog.hosts[0].peers.push_back({.tid = 77, .pid = 77, .since_ns = 2000, .name = "sh"});
  PeerNumbers numbers(catalog);
  const auto number = [&](uint32_t tid, uint32_t host, uint64_t time) {
    return numbers.number({.tid = tid, .thread = kNone}, host, time);
  };
  EXPECT_EQ(numbers.number({.tid = 13, .thread = 2}, 0, 0), 3u) << "a thread of the trace";
  EXPECT_EQ(number(kNone, 0, 0), 0u) << "nobody";
  EXPECT_EQ(number(77, 1, 0), 4u) << "behind the three threads of the trace";
  EXPECT_EQ(number(77, 0, 1999), 5u);
  EXPECT_EQ(number(77, 0, 2000), 6u) << "it has another name";
  EXPECT_EQ(number(99, 0, 0), 7u) << "without a name";
  EXPECT_EQ(number(99, 1, 0), 8u) << "another thread";
  EXPECT_EQ(number(0, 0, 0), 9u);
  EXPECT_EQ(number(0, 1, 0), 9u) << "the idle task is one";
  EXPECT_EQ(number(77, 1, 5000), 4u);
  std::string all;
  for (const PeerNumbers::Untraced &peer : numbers.untraced())
    all += std::to_string(peer.tid) + peer.name + " ";
  EXPECT_EQ(all, "77cc1 77hog 77sh 99 99 0 ");
}

TEST_F(WaitsHeader, ThePageHasThePartThatIsShownOfAllHosts) {
  catalog.hosts[0].chains = {"load"};
  catalog.hosts[1].chains = {"a", "b"};
  catalog.hosts[0].marks = {{3001, "behind"}, {2000, "start"}, {2500, "middle"}};
  catalog.hosts[1].marks = {{1999, "before"}, {2400, "other"}, {3000, "end"}, {2500, "second"}};
  Summary summary;
  summary.from = 2000;
  summary.to = 3000;
  summary.shown = {1, 1, 1};
  summary.threads.resize(3);
  summary.cpus.resize(3);
  summary.threads[0].latency.add(3);
  summary.threads[2].latency.add(7);
  summary.preemptions = {{.thread = 2, .peer = 1, .tid = 12, .count = 5}};
  summary.wakeups = {{.thread = 1, .peer = kNone, .tid = 77, .count = 6}};
  PackedTrace trace;
  trace.threads.resize(3);
  for (uint64_t t = 0; t < 3; t++) {
    trace.threads[t].slices = 20 + t;
    trace.threads[t].start = 30 + t;
  }
  trace.threads[1].mix = "x";
  trace.calls = {"read", "write"};
  trace.places = {"f", ""};
  trace.places_left_out = 41;
  trace.slices = 42;
  trace.grain = 43;
  trace.coarse_threads = 44;
  const std::string path = "trace";
  TraceInfo info;
  const json header = page_header({path, info, catalog, summary}, trace);
  EXPECT_EQ(header["from"], 1000);
  EXPECT_EQ(header["to"], 2000);
  EXPECT_EQ(header["chains"], json::parse(R"([["load"], ["a", "b"]])"));
  EXPECT_EQ(header["marks"],
            json::parse(R"([{"time": 1000, "text": "start"}, {"time": 1400, "text": "other"},
                            {"time": 1500, "text": "middle"}, {"time": 1500, "text": "second"},
                            {"time": 2000, "text": "end"}])"));
  EXPECT_EQ(header["latency"], json::parse(R"({"count": 2, "p50": 3, "p99": 7, "max": 7})"));
  EXPECT_EQ(header["preemptions"], json::parse(R"([{"thread": 2, "by": 1}])"));
  EXPECT_EQ(header["wakeups"], json::parse(R"([{"thread": 1, "by": null}])"));
  EXPECT_EQ(header["cpus"], json::parse(R"([{"index": 4, "node": 0}, {"index": 0, "node": 1},
                                            {"index": 6, "node": 1}])"));
  EXPECT_EQ(header["cpu_count"], 3);
  EXPECT_EQ(header["threads"], json::parse(R"([
    {"tid": 11, "pid": 11, "main": 0, "node": 0, "name": "app", "birth": 500, "slices": 20,
     "start": 30},
    {"tid": 12, "pid": 12, "main": 1, "node": 1, "name": "job", "birth": 501, "slices": 21,
     "start": 31, "coarse": true},
    {"tid": 13, "pid": 12, "main": 1, "node": 1, "name": "io", "birth": 502, "slices": 22,
     "start": 32}])"));
  EXPECT_EQ(header["calls"], json::parse(R"(["read", "write"])"));
  EXPECT_EQ(header["places"], json::parse(R"(["f", ""])"));
  EXPECT_EQ(header["places_left_out"], 41);
  EXPECT_EQ(header["slices"], 42);
  EXPECT_EQ(header["grain"], 43);
  EXPECT_EQ(header["coarse_threads"], 44);
  EXPECT_EQ(header["load_steps"], 1000);
}

} // namespace
} // namespace ovnitrace
