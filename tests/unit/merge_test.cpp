// SPDX-License-Identifier: BSD-2-Clause
// The merge of all files by time: emulator/input/merge.
#include "emulator/base/error.h"
#include "emulator/input/trace_info.h"
#include "emulator/open/open_trace.h"
#include "tests/unit/support/cases.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <tuple>

namespace ovnitrace {
namespace {

using test::CollectingSink;
using test::TempDir;
using test::TraceBuilder;

std::vector<Event> read_all(EventSource &source) {
  std::vector<Event> events;
  for (Event event; source.next(event);)
    events.push_back(event);
  return events;
}

/// One event to be merged: its user event number makes it unique.
struct Planned {
  uint64_t time;
  uint16_t cpu;
  uint32_t number;
};

TEST(Merge, EqualsAStableSortOfRandomInputs) {
  std::mt19937 random(1);
  for (int round = 0; round < 60; round++) {
    TempDir dir;
    TraceBuilder trace(dir.path());
    std::vector<Planned> planned;
    const int cpus = 1 + int(random() % 11);
    for (int cpu = 0; cpu < cpus; cpu++) {
      auto &chunk = trace.cpu(uint16_t(cpu)).at(1000).start();
      uint64_t time = 1000;
      const int events = int(random() % 200);
      for (int i = 0; i < events; i++) {
        time += random() % 4; // many equal times
        if (random() % 30 == 0)
          chunk.next_chunk();
        chunk.at(time).record(FTrace_EVT_user_event_0, 0, uint32_t(planned.size()));
        planned.push_back({time, uint16_t(cpu), uint32_t(planned.size())});
      }
      chunk.at(10000).stop();
    }
    trace.write();
    std::stable_sort(planned.begin(), planned.end(), [](const Planned &a, const Planned &b) {
      return std::tie(a.time, a.cpu) < std::tie(b.time, b.cpu);
    });
    CollectingSink sink;
    const auto source = open_trace({{dir.path()}}, sink);
    std::vector<Event> events;
    for (const Event &event : read_all(*source))
      if (event.kind == FTrace_EVT_user_event_0)
        events.push_back(event);
    ASSERT_EQ(events.size(), planned.size());
    for (size_t i = 0; i < events.size(); i++) {
      ASSERT_EQ(events[i].par2, planned[i].number);
      ASSERT_EQ(events[i].time, planned[i].time);
      ASSERT_EQ(source->catalog().cpus[events[i].cpu].index, planned[i].cpu);
    }
    EXPECT_EQ(sink.damage(), 0u) << sink.reported.back().what;
  }
}

/// A cut reads no further, and says nothing of what comes later.
TEST(Merge, ReportsWhatIsWrongWhenItsPlaceIsReached) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  for (uint16_t cpu = 0; cpu < 2; cpu++) {
    auto &chunk = trace.cpu(cpu).at(100).start();
    for (uint32_t n = 1; n <= 60; n++) {
      chunk.at(100 + n).record(FTrace_EVT_user_event_0, 0, n);
      if (cpu == 0 && n % 7 == 0)
        chunk.record(0x77, 0, n).record(0x78, 0, n); // codes that there are not
    }
    if (cpu == 1)
      chunk.at(200).stop();
  }
  trace.write();
  CollectingSink sink;
  const auto source = open_trace({{dir.path()}}, sink);
  uint32_t last = 0;
  for (Event event; source->next(event);) {
    if (event.kind != FTrace_EVT_user_event_0)
      continue;
    const bool ended = event.par2 == 60; // on CPU 0 without trace_stop
    ASSERT_EQ(sink.damage(), event.par2 / 7 * 2 + ended) << event.par2;
    last = event.par2;
  }
  EXPECT_EQ(last, 60u);
}

TEST(Merge, CountsDamageOfWhichThereIsTooMuchInOnePlace) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  auto &chunk = trace.cpu(0).at(100).start();
  for (uint32_t n = 0; n < 1000; n++)
    chunk.record(0x77, 0, n); // a code that there is not
  chunk.at(150).record(FTrace_EVT_user_event_0, 0, 1).record(0x77, 0, 0).at(200).stop();
  trace.write();
  CollectingSink sink;
  const auto source = open_trace({{dir.path()}}, sink);
  Event event;
  ASSERT_TRUE(source->next(event)) << "trace_start";
  EXPECT_EQ(sink.damage(), 1000u);
  EXPECT_LT(sink.reported.size(), 20u) << "memory is bounded";
  read_all(*source);
  EXPECT_EQ(sink.damage(), 1001u);
}

TEST(Merge, TwoHostsShareOneClock) {
  TempDir first, second;
  TraceBuilder a(first.path()), b(second.path());
  a.cpu(0).at(100).start().id(1, 7, 7, "a").at(150).dispatch(1).at(300).stop();
  b.cpu(0).at(1100).start().id(1, 7, 7, "b", 1050).at(1120).dispatch(1).at(1200).stop();
  a.write();
  b.write();
  CollectingSink sink;
  const auto source = open_trace({{first.path()}, {second.path(), -1000}}, sink);
  const Catalog &catalog = source->catalog();
  ASSERT_EQ(catalog.hosts.size(), 2u);
  ASSERT_EQ(catalog.threads.size(), 2u);
  EXPECT_EQ(catalog.threads[0].host, 0u);
  EXPECT_EQ(catalog.threads[1].host, 1u);
  EXPECT_EQ(catalog.threads[1].birth, 50u);
  EXPECT_EQ(catalog.begin, 100u);
  EXPECT_EQ(catalog.end, 300u);
  std::vector<std::pair<uint64_t, uint32_t>> dispatches;
  for (const Event &event : read_all(*source))
    if (event.kind == FTrace_EVT_task_dispatch)
      dispatches.emplace_back(event.time, event.thread);
  EXPECT_EQ(dispatches, (std::vector<std::pair<uint64_t, uint32_t>>{{120, 1}, {150, 0}}));
}

TEST(Merge, FindsThePeerThatHadTheTidAtThatTime) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0)
      .at(100)
      .start()
      .id(1, 50, 50, "main")
      .id(2, 60, 50, "old", 110)
      .id(3, 60, 50, "new", 200)
      .at(150)
      .activate(1, 60)
      .at(250)
      .activate(1, 60)
      .sleep(1, 60)
      .epilogue(1, 999)
      .end(1, 60)
      .at(300)
      .stop();
  trace.write();
  CollectingSink sink;
  const auto source = open_trace({{dir.path()}}, sink);
  const std::vector<Event> events = read_all(*source);
  ASSERT_EQ(events.size(), 7u);
  const auto name = [&](uint32_t thread) {
    return thread == kNone ? "none" : source->catalog().threads[thread].name;
  };
  EXPECT_EQ(name(events[1].peer), "old");
  EXPECT_EQ(name(events[2].peer), "new");
  EXPECT_EQ(name(events[3].peer), "new");
  EXPECT_EQ(name(events[4].peer), "none"); // 999: nobody
  EXPECT_EQ(name(events[5].peer), "none"); // task_end names no peer
}

TEST(Open, NamesTheFaultOfAPathThatIsNoTrace) {
  TempDir dir;
  CollectingSink sink;
  const auto message = [&](const std::string &path) {
    return test::failure_from([&] { open_trace({{path}}, sink); });
  };
  EXPECT_NE(message(dir / "missing").find("No such file"), std::string::npos);
  EXPECT_NE(message(dir.path()).find("is no trace"), std::string::npos);
  TraceBuilder(dir.path()).json("{\"version\": 1}").write();
  EXPECT_NE(message(dir.path()).find("no chunk file"), std::string::npos);
  TraceBuilder::write_file(dir / "cpu0000.ftr", "", 0);
  EXPECT_NE(message(dir.path()).find("is empty"), std::string::npos);
  TraceBuilder newer(dir.path());
  newer.cpu(0).start().records()[1].par1 = FTRACE_EXT_VERSION + 1;
  newer.write();
  EXPECT_NE(message(dir.path()).find("use a newer ovnitrace"), std::string::npos);
  std::filesystem::remove(dir / "cpu0000.ftr");
  std::filesystem::create_directory(dir / "cpu0000.ftr");
  EXPECT_NE(message(dir.path()).find("not a regular file"), std::string::npos);
}

TEST(Open, RefusesANewerTraceJsonAndSurvivesABadOne) {
  TempDir dir;
  const auto open_with = [&](const std::string &json) {
    TraceBuilder trace(dir.path());
    trace.cpu(0).at(5).start().stop();
    trace.json(json).write();
    CollectingSink sink;
    const auto source = open_trace({{dir.path()}}, sink);
    EXPECT_EQ(read_all(*source).size(), 2u);
    for (const Diagnostic &diagnostic : sink.reported)
      EXPECT_TRUE(diagnostic.harmless) << diagnostic.what;
    return std::make_pair(source->catalog(), sink.reported.size());
  };
  EXPECT_THROW(open_with("{\"version\": 2}"), Error);
  EXPECT_EQ(open_with("{\"version\": 1}").second, 0u);
  const Catalog good = open_with(R"({"format": "ovnitrace", "version": 1, "host": "h", "cpus": 4,
                                      "written": [{"cpu": 0, "records": 6}]})")
                           .first;
  EXPECT_EQ(good.cpus.size(), 4u);
  EXPECT_EQ(good.hosts.front().name, "h");
  for (const char *bad : {"{\"version\": 1", "[]", "7", "\xff\xfe", "{\"cpus\": 4000000000}", "{"})
    EXPECT_EQ(open_with(bad).second, 1u) << bad;
  for (const char *other :
       {"{}", "{\"host\": \"h\"}", "{\"version\": 0}", "{\"version\": \"1\"}",
        "{\"format\": \"x\", \"version\": 1}", "{\"format\": 7, \"version\": 9}"}) {
    const auto opened = open_with(other);
    EXPECT_EQ(opened.second, 1u) << other;
    EXPECT_NE(opened.first.hosts.front().name, "h") << "what is not of our format says nothing";
  }
  EXPECT_EQ(open_with("{\"version\": \"x\", \"cpus\": -3, \"host\": [1]}").first.cpus.size(), 1u);
  EXPECT_EQ(open_with(std::string(100000, '[')).second, 1u);
}

TEST(Open, SurvivesATraceJsonCutAtEachByteAndAnyWrongByte) {
  const std::string whole = R"({"format": "ovnitrace", "version": 1, "host": "h", "cpus": 2,
    "clock": {"to_wall_ns": -5}, "command": ["a", "b"], "ended": {"how": "exited"}})";
  TempDir dir;
  CollectingSink sink;
  const auto read_info = [&](const std::string &json) {
    TraceBuilder::write_file(dir / "trace.json", json.data(), json.size());
    return read_trace_info(dir.path(), sink);
  };
  EXPECT_EQ(read_info(whole).to_wall_ns, -5);
  EXPECT_EQ(read_info(whole).command, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(read_info(whole).ended, "exited");
  EXPECT_TRUE(sink.reported.empty());
  for (size_t length = 0; length < whole.size(); length++)
    EXPECT_EQ(read_info(whole.substr(0, length)).host, "");
  EXPECT_EQ(sink.reported.size(), whole.size());
  std::mt19937 random(5);
  for (unsigned round = 0; round < test::cases(2000); round++) {
    std::string damaged = whole;
    damaged[random() % damaged.size()] = char(random());
    try {
      EXPECT_LE(read_info(damaged).cpus, 65535u);
    } catch (const Error &error) { // of a newer version
      EXPECT_NE(std::string(error.what()).find("newer"), std::string::npos);
    }
  }
}

} // namespace
} // namespace ovnitrace
