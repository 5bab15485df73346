// SPDX-License-Identifier: BSD-2-Clause
// The stream of slices: what is in each, and that together they are what the replay says.
#include "emulator/core/replay.h"
#include "emulator/format/found_state.h"
#include "emulator/models/registry.h"
#include "emulator/open/open_trace.h"
#include "emulator/slices/slicer.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/random_schedule.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace ovnitrace {
namespace {

using test::CollectingSink;
using test::random_schedule;
using test::TempDir;
using test::TraceBuilder;
using Texts = std::vector<std::string>;

class Collector final : public SliceSink {
public:
  void on_event(const Event &event, const System &) override { events.push_back(event); }
  void on_slice(const Slice &slice) override { slices.push_back(slice); }
  void on_cpu(const CpuSpan &span) override { spans.push_back(span); }

  std::vector<Event> events;
  std::vector<Slice> slices;
  std::vector<CpuSpan> spans;
};

class Slices : public ::testing::Test {
protected:
  Slices() : trace(dir.path()) {}

  Collector collect(const Cut &cut = {}) {
    trace.write();
    const auto source = open_trace({{dir.path()}}, sink);
    catalog = source->catalog();
    Collector collector;
    replay_slices(*source, cut, collector);
    return collector;
  }
  /// "tid Running 0 100-200 reason=2 next=11 waker=…": what is not known is left out; ( and ) for
  /// an end that was not seen.
  Texts texts(const std::vector<Slice> &slices) const {
    Texts all;
    for (const Slice &slice : slices) {
      const auto peer = [](const char *key, const Peer &peer) {
        return peer.tid == kNone ? std::string() : fmt::format(" {}={}", key, peer.tid);
      };
      std::string text =
          fmt::format("{} {} {} {}{}-{}{}", catalog.threads[slice.thread].tid, name(slice.state),
                      slice.cpu == kNone ? "-" : std::to_string(slice.cpu), slice.starts ? "" : "(",
                      slice.start, slice.end, slice.ends ? "" : ")");
      if (slice.reason != kNotKnown)
        text += fmt::format(" reason={}", slice.reason);
      text += peer("next", slice.next);
      if (slice.context != kNotKnown)
        text += fmt::format(" context={}", slice.context);
      all.push_back(text + peer("waker", slice.waker));
    }
    return all;
  }

  /// "busy 0 100-200", "dark 1 300-400 uncounted".
  Texts spans(const Cut &cut = {}) {
    Texts all;
    for (const CpuSpan &span : collect(cut).spans)
      all.push_back(fmt::format("{} {} {}-{}{}", span.what == CpuSpan::What::busy ? "busy" : "dark",
                                span.cpu, span.start, span.end, span.counted ? "" : " uncounted"));
    return all;
  }

  TempDir dir;
  TraceBuilder trace;
  CollectingSink sink;
  Catalog catalog;
};

TEST(FoundReason, OnlyAnEventThatGivesAStateHasOne) {
  const uint32_t blocked = uint32_t(ThreadState::Paused) | uint32_t(FTRACE_OFFCPU_FROZEN)
                                                               << FTRACE_REASON_SHIFT;
  EXPECT_EQ(found_reason({.kind = FTrace_EXT_state, .par2 = blocked}), FTRACE_OFFCPU_FROZEN);
  EXPECT_EQ(found_reason({.kind = FTrace_EVT_task_sleep, .par2 = blocked}), 0);
}

TEST_F(Slices, SayHowAndForWhomAThreadLeftItsCpuAndWhoWokeIt) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").id(2, 22, 22, "b");
  cpu.dispatch(1).at(200).epilogue(1, 22).dispatch(2);
  cpu.at(300).sleep(2, 11, FTRACE_OFFCPU_DISK).dispatch(1);
  cpu.at(400).activate(2, 11).at(450).end(1, 11).dispatch(2);
  cpu.at(500).epilogue(2, 99, FTRACE_OFFCPU_YIELDED).at(600).stop();
  EXPECT_EQ(texts(collect().slices),
            (Texts{"11 Running 0 100-200 reason=1 next=22", "22 Unknown - (100-200",
                   "22 Running 0 200-300 reason=3 next=11", "11 Cooling 0 200-300 reason=1 next=22",
                   "22 Paused 0 300-400 reason=3 next=11 context=0 waker=11",
                   "11 Running 0 300-450 reason=6", "22 Warming 0 400-450 context=0 waker=11",
                   "22 Running 0 450-500 reason=0 next=99", "11 Dead - 450-600)",
                   "22 Cooling 0 500-600) reason=0 next=99"}));
}

TEST_F(Slices, HaveTheStackOfTheirDepartureAndOfTheirWakerAndOfNothingElse) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
  cpu.at(200).record(FTrace_EXT_stack, 1, 5).sleep(1, 22).dispatch(2);
  cpu.at(300).record(FTrace_EXT_waker_stack, 1, 7).activate(1, 22);
  cpu.at(400).record(FTrace_EXT_stack, 2, 6).epilogue(2, 11).dispatch(1);
  cpu.at(500).sleep(1, 22).dispatch(2).at(600).activate(1, 22).at(700).stop();
  std::map<std::pair<uint32_t, ThreadState>, std::vector<uint32_t>> own, wakers;
  for (const Slice &slice : collect().slices) {
    own[{catalog.threads[slice.thread].tid, slice.state}].push_back(slice.stack);
    wakers[{catalog.threads[slice.thread].tid, slice.state}].push_back(slice.waker_stack);
  }
  using Numbers = std::vector<uint32_t>;
  EXPECT_EQ((own[{11, ThreadState::Running}]), (Numbers{5, kNone}));
  EXPECT_EQ((own[{11, ThreadState::Paused}]), (Numbers{5, kNone}));
  EXPECT_EQ((wakers[{11, ThreadState::Paused}]), (Numbers{7, kNone}));
  EXPECT_EQ((wakers[{11, ThreadState::Warming}]), (Numbers{7, kNone}));
  EXPECT_EQ((own[{22, ThreadState::Running}]), (Numbers{6, kNone}));
  EXPECT_EQ((own[{22, ThreadState::Cooling}]), (Numbers{6}));
}

TEST_F(Slices, AThreadThatIsWokenWithoutBudgetIsWokenAndCooling) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
  cpu.at(200).sleep(1, 22).dispatch(2).at(300);
  cpu.activate(1, 22, FTRACE_WAKER_SOFTIRQ | FTRACE_OFFCPU_EXHAUSTED << 4);
  cpu.at(400).record(FTrace_EXT_refill, 1).at(500).epilogue(2, 11).dispatch(1).at(600).stop();
  std::vector<Slice> cooling;
  for (const Slice &slice : collect().slices)
    if (slice.thread == 0 && slice.state == ThreadState::Cooling)
      cooling.push_back(slice);
  ASSERT_EQ(cooling.size(), 2u);
  EXPECT_EQ(cooling[0].reason, FTRACE_OFFCPU_EXHAUSTED);
  EXPECT_EQ(cooling[0].length(), 100u);
  EXPECT_TRUE(cooling[0].is_woken());
  EXPECT_FALSE(cooling[0].is_latency());
  EXPECT_EQ(cooling[0].context, FTRACE_WAKER_SOFTIRQ);
  EXPECT_EQ(cooling[0].waker.tid, 22u);
  EXPECT_EQ(cooling[1].reason, FTRACE_OFFCPU_REFILLED);
  EXPECT_FALSE(cooling[1].is_woken()) << "it was woken once";
}

TEST_F(Slices, SnapshotsHaveNoStartAndLossesNoEnd) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 22, 22, "b").snapshot(1, 1, 0);
  cpu.snapshot(2, 2, 0, FTRACE_OFFCPU_DISK).at(100).start().at(300).blackout_start();
  cpu.at(400).blackout_start().at(500).blackout_end(3).at(600).sleep(1, 0).at(700).stop();
  const Collector all = collect();
  EXPECT_EQ(
      texts(all.slices),
      (Texts{"22 Paused 0 (100-300) reason=3", "11 Running 0 (100-300)", "11 Unknown - (300-600",
             "11 Paused 0 600-700) reason=2 next=0", "22 Unknown - (300-700)"}));
  ASSERT_EQ(all.spans.size(), 2u);
  EXPECT_EQ(all.spans[0].what, CpuSpan::What::busy);
  EXPECT_EQ(all.spans[0].end, 300u);
  EXPECT_EQ(all.spans[1].what, CpuSpan::What::dark); // nested ones are one
  EXPECT_EQ(all.spans[1].start, 300u);
  EXPECT_EQ(all.spans[1].end, 500u);
  EXPECT_TRUE(all.spans[1].counted);
  EXPECT_EQ(all.events.size(), 8u) << "what made the states at the start is an event too";
}

TEST_F(Slices, AStateThatIsRecordedHasItsReason) {
  const uint32_t throttled = uint32_t(ThreadState::Cooling) | FTRACE_OFFCPU_THROTTLED
                                                                  << FTRACE_REASON_SHIFT;
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a");
  cpu.at(200).record(FTrace_EXT_state, 1, throttled).at(300).stop();
  EXPECT_EQ(texts(collect().slices),
            (Texts{"11 Unknown - (100-200)", fmt::format("11 Cooling 0 (200-300) reason={}",
                                                         unsigned(FTRACE_OFFCPU_THROTTLED))}));
}

TEST_F(Slices, ACutCutsExactlyAndKeepsItsFirstAndLastInstant) {
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
  cpu.at(1100).epilogue(1, 22).dispatch(2).at(1200).sleep(2, 11).dispatch(1).at(1300).stop();
  Cut cut;
  cut.from = 50;
  cut.to = 150;
  EXPECT_EQ(texts(collect(cut).slices),
            (Texts{"11 Running 0 (1050-1100 reason=1 next=22", "22 Unknown - (1050-1100",
                   "11 Cooling 0 1100-1150) reason=1 next=22", "22 Running 0 1100-1150)"}));
  cut.from = cut.to = 100;
  const Collector instant = collect(cut);
  EXPECT_EQ(texts(instant.slices),
            (Texts{"11 Running 0 (1100-1100 reason=1 next=22",
                   "11 Cooling 0 1100-1100) reason=1 next=22", "22 Running 0 1100-1100)"}));
  EXPECT_EQ(instant.events.size(), 2u);
  cut = {};
  cut.tids = {22};
  const Collector one = collect(cut);
  EXPECT_EQ(texts(one.slices),
            (Texts{"22 Unknown - (1000-1100", "22 Running 0 1100-1200 reason=2 next=11",
                   "22 Paused 0 1200-1300) reason=2 next=11"}));
  ASSERT_EQ(one.spans.size(), 1u);
  EXPECT_EQ(one.spans[0].end - one.spans[0].start, 100u); // of the thread that is shown
}

TEST_F(Slices, ACpuIsBusyWhileAShownThreadRuns) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").id(2, 22, 22, "b").at(150);
  cpu.dispatch(1).at(200).epilogue(1, 22).dispatch(2).at(300).sleep(2, 0);
  cpu.at(400).activate(1).dispatch(1).at(600).stop();
  trace.cpu(1)
      .at(100)
      .start()
      .id(3, 33, 33, "c")
      .at(350)
      .dispatch(3)
      .at(500)
      .sleep(3)
      .at(600)
      .stop();
  EXPECT_EQ(spans(),
            (Texts{"busy 0 150-200", "busy 0 200-300", "busy 1 350-500", "busy 0 400-600"}));
  Cut cut;
  cut.tids = {22, 33};
  EXPECT_EQ(spans(cut), (Texts{"busy 0 200-300", "busy 1 350-500"}));
  cut = {};
  cut.from = 150;
  cut.to = 350;
  EXPECT_EQ(spans(cut), (Texts{"busy 0 250-300", "busy 0 400-450", "busy 1 350-450"}));
}

TEST_F(Slices, ABlackoutOfACpuIsDarkUntilItsFirstEnd) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").at(150).dispatch(1);
  const auto lose = [&](uint64_t at, uint16_t why, uint32_t events) {
    cpu.at(at).record(FTrace_EVT_blackout_start, why, events);
  };
  lose(200, 0, 0);
  cpu.at(220).blackout_end(3).at(230).blackout_end(3).dispatch(1);
  lose(300, 0, 0);
  lose(310, FTRACE_BLACKOUT_MISSING, 0);
  lose(320, FTRACE_BLACKOUT_MISSING, 5);
  cpu.at(340).blackout_end(3).at(350);
  lose(360, FTRACE_BLACKOUT_FAMILIES, 0);
  cpu.at(370).blackout_end(1);
  lose(400, 0, 0);
  cpu.at(600).stop();
  EXPECT_EQ(spans(), (Texts{"busy 0 150-200", "dark 0 200-220", "busy 0 230-300",
                            "dark 0 300-340 uncounted", "dark 0 400-600"}));
  Cut cut;
  cut.from = 110;
  cut.to = 220;
  EXPECT_EQ(spans(cut), (Texts{"dark 0 210-220", "busy 0 230-300", "dark 0 300-320 uncounted"}));
  cut.from = 150;
  cut.to = 180;
  EXPECT_EQ(spans(cut), (Texts{"busy 0 250-280"})) << "the first blackout is over";
}

TEST_F(Slices, ARefillStartsANewSliceOnlyOfAThrottledThread) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
  const auto refill = [&](uint64_t at) {
    for (const uint16_t context : {1, 2})
      cpu.at(at).record(FTrace_EXT_refill, context);
  };
  refill(150);
  cpu.at(200).epilogue(1, 22, FTRACE_OFFCPU_THROTTLED).dispatch(2);
  refill(250);
  refill(260);
  cpu.at(300).epilogue(2, 11).dispatch(1);
  refill(350);
  cpu.at(400).stop();
  EXPECT_EQ(
      texts(collect().slices),
      (Texts{
          fmt::format("11 Running 0 100-200 reason={} next=22", unsigned(FTRACE_OFFCPU_THROTTLED)),
          "22 Unknown - (100-200",
          fmt::format("11 Cooling 0 200-250 reason={} next=22", unsigned(FTRACE_OFFCPU_THROTTLED)),
          "22 Running 0 200-300 reason=1 next=11",
          fmt::format("11 Cooling 0 250-300 reason={}", unsigned(FTRACE_OFFCPU_REFILLED)),
          "11 Running 0 300-400)", "22 Cooling 0 300-400) reason=1 next=11"}));
}

/// By thread and ns, what the replay itself says after all events of that ns: the model that slices
/// are held against.
std::vector<std::vector<Thread>> states_by_ns(EventSource &source) {
  const Catalog &catalog = source.catalog();
  CollectingSink sink;
  std::vector<Model> models;
  models.push_back(ovni_model());
  Replay replay(catalog, std::move(models), {}, sink, 0);
  std::vector<std::vector<Thread>> all(catalog.threads.size());
  uint64_t time = catalog.begin;
  const auto fill_up_to = [&](uint64_t end) {
    for (; time < end; time++)
      for (uint32_t t = 0; t < all.size(); t++)
        all[t].push_back(replay.system().threads()[t]);
  };
  for (Event event; source.next(event);) {
    fill_up_to(event.time);
    replay.handle(event);
    replay.skip();
  }
  fill_up_to(catalog.end);
  return all;
}

TEST(SlicesProperty, EachNsOfEachThreadIsInOneSliceOfTheStateThatTheReplaySays) {
  std::mt19937 random(11);
  for (int round = 0; round < 60; round++) {
    TempDir dir;
    TraceBuilder trace(dir.path());
    const uint64_t time = random_schedule(trace, random, 300);
    trace.write();
    CollectingSink sink;
    const auto states = states_by_ns(*open_trace({{dir.path()}}, sink));
    Cut cut;
    if (round % 2) {
      cut.from = random() % (time - 100 + 1);
      cut.to = cut.from + random() % (time - 100 - cut.from + 1);
    }
    const auto source = open_trace({{dir.path()}}, sink);
    const TimeRange range = range_of(cut, source->catalog());
    Collector collector;
    replay_slices(*source, cut, collector);
    std::map<uint32_t, uint64_t> covered;
    for (const Slice &slice : collector.slices) {
      const uint64_t birth = source->catalog().threads[slice.thread].birth;
      const uint64_t first = std::max(range.from, birth);
      uint64_t &at = covered.try_emplace(slice.thread, first).first->second;
      ASSERT_EQ(slice.start, at) << "a gap, or two at once";
      for (; at < slice.end; at++) {
        const Thread &truth = states[slice.thread][at - 100];
        ASSERT_EQ(slice.state, truth.state) << "at " << at;
        if (slice.state == ThreadState::Running) {
          ASSERT_EQ(slice.cpu, truth.cpu) << "at " << at;
        }
      }
    }
    for (const auto &[thread, end] : covered)
      ASSERT_EQ(end, std::max(range.to, source->catalog().threads[thread].birth));
  }
}

} // namespace
} // namespace ovnitrace
