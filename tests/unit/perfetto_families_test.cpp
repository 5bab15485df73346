// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace export --to perfetto`: each event of a family, on each of several threads and CPUs.
#include "tests/unit/support/ovni_streams.h"
#include "tests/unit/support/perfetto_rig.h"

#include <ovnitrace/control.h>

namespace ovnitrace {
namespace {

using test::PerfettoTrace;

class PerfettoFamilies : public test::PerfettoRig {
protected:
  static uint16_t user(uint32_t number) { return uint16_t(number << 4 | FTrace_EVT_user_event_0); }
  test::ChunkBuilder &two_threads() {
    return trace.cpu(0).at(100).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
  }
  static uint32_t region(uint32_t event, uint32_t chain, uint32_t flags = 0) {
    return event << FTRACE_REGION_EVENT_SHIFT | chain << FTRACE_REGION_CHAIN_SHIFT |
           uint32_t(CONTROL_PROGRAM) << FTRACE_REGION_TYPE_SHIFT | flags;
  }
};

TEST_F(PerfettoFamilies, EachMutexEventSaysWhatHappens) {
  auto &cpu = two_threads();
  cpu.at(110).epilogue(1, 22).dispatch(2);
  cpu.at(120).record(FTrace_EVT_mutex_create, 2, 0x40);
  cpu.at(130).record(FTrace_EVT_mutex_post, 2, 0x40);
  cpu.at(140).record(FTrace_EVT_mutex_inherit, 2, 0x40);
  cpu.at(150).record(FTrace_EVT_mutex_wait, 2, 0x40 | FTRACE_FUTEX_PLAIN);
  cpu.at(155).record(FTrace_EVT_mutex_wait, 2, 0x80);
  cpu.at(160).record(FTrace_EVT_mutex_lock, 2, 0x80 | FTRACE_FUTEX_PLAIN);
  cpu.at(200).stop();
  EXPECT_EQ(
      texts(exported().slices, "thread 22/mutex"),
      (Texts{"120 thread 22/mutex: creates a mutex", "130 thread 22/mutex: posts mutex 0x40",
             "140 thread 22/mutex: inherits by a mutex",
             "150-155 thread 22/mutex: waits for mutex 0x40",
             "155-160 thread 22/mutex: waits for mutex 0x80", "160 thread 22/mutex: has waited"}));
  EXPECT_EQ(result.track_events, 6u);
}

TEST_F(PerfettoFamilies, AWaitEndsWithItsThreadAndWithTheFamily) {
  auto &cpu = two_threads();
  cpu.at(110).record(FTrace_EVT_mutex_wait, 1, 0x40).at(115).sleep(1, 22).dispatch(2);
  cpu.at(120).record(FTrace_EVT_mutex_wait, 2, 0x80);
  cpu.at(125).record(FTrace_filter_mutex, 0); // it is switched on: nothing was open
  cpu.at(130).record(FTrace_filter_mutex, 1);
  cpu.at(135).record(FTrace_filter_mutex, 0);
  cpu.at(140).record(FTrace_EVT_mutex_wait, 2, 0x90).at(150).end(2).at(200).stop();
  EXPECT_EQ(texts(exported().slices), (Texts{"110-130 thread 11/mutex: waits for mutex 0x40",
                                             "120-130 thread 22/mutex: waits for mutex 0x80",
                                             "140-150 thread 22/mutex: waits for mutex 0x90"}));
}

TEST_F(PerfettoFamilies, InterruptsOfAllCpusEndWithTheFamilyAndOfOneWithABlackout) {
  auto &one = trace.cpu(1).at(100).start(), &two = trace.cpu(2).at(100).start();
  one.at(110).record(FTrace_EVT_interrupt_start, 7);
  two.at(111).record(FTrace_EVT_interrupt_start, 8).at(112).record(FTrace_EVT_interrupt_start, 8);
  one.at(120).record(FTrace_filter_interrupt, 0).at(130).record(FTrace_filter_interrupt, 1);
  one.at(131).record(FTrace_filter_interrupt, 0);
  one.at(140).record(FTrace_EVT_interrupt_start, 5).at(141).record(FTrace_EVT_interrupt_start, 6);
  two.at(142).record(FTrace_EVT_interrupt_start, 9);
  one.at(145).record(FTrace_EVT_interrupt_end, 5); // the end of the inner one was not seen
  one.at(147).record(FTrace_EVT_interrupt_start, 4);
  one.at(150).blackout_start().at(160).blackout_end(1).at(200).stop();
  two.at(170).record(FTrace_EVT_interrupt_end, 9).at(200).stop();
  EXPECT_EQ(texts(exported().slices, "Interrupts"),
            (Texts{"110-130 Interrupts/CPU 1: IRQ 7", "112-130 Interrupts/CPU 2: IRQ 8",
                   "111-130 Interrupts/CPU 2: IRQ 8", "141-145 Interrupts/CPU 1: IRQ 6",
                   "140-145 Interrupts/CPU 1: IRQ 5", "147-150 Interrupts/CPU 1: IRQ 4",
                   "142-170 Interrupts/CPU 2: IRQ 9"}));
}

TEST_F(PerfettoFamilies, NestFiveHundredAndTwelveDeep) {
  auto &cpu = two_threads();
  for (uint32_t n = 0; n < 513; n++) {
    cpu.at(1000 + n).record(user(13), 0, n);
    cpu.record(FTrace_EVT_interrupt_start, 7);
  }
  cpu.at(2000).stop();
  const PerfettoTrace perfetto = exported();
  const Texts sections = texts(perfetto.slices, "thread 11"),
              interrupts = texts(perfetto.slices, "Interrupts");
  EXPECT_EQ(std::count(sections.begin(), sections.end(), "1511- thread 11: section 511"), 1);
  EXPECT_EQ(sections.size(), 512u);
  EXPECT_EQ(std::count(interrupts.begin(), interrupts.end(), "1511- Interrupts/CPU 0: IRQ 7"), 1);
  EXPECT_EQ(interrupts.size(), 512u);
}

TEST_F(PerfettoFamilies, EventsOfThreadsThatAreLeftOutAreNotShown) {
  auto &cpu = two_threads();
  cpu.at(110).record(user(3), 1, 2).at(115).record(user(13), 0, 5).at(120).epilogue(1, 22);
  cpu.dispatch(2).at(130).record(user(4), 3, 4).at(135).record(user(14), 0, 9);
  cpu.at(140).record(user(13), 0, 6).at(145).record(user(13), 0, 7).at(150).record(user(14), 0, 6);
  cpu.at(160).record(user(12), 8, 9).at(200).stop();
  Cut cut;
  cut.tids = {22};
  EXPECT_EQ(texts(exported(cut).slices),
            (Texts{"130 thread 22: user event 4 (parameter 1=3, parameter 2=4)",
                   "145-150 thread 22: section 7", "140-150 thread 22: section 6",
                   "160 thread 22: user event 12 (parameter 1=8, parameter 2=9)"}));
  EXPECT_EQ(result.threads, 1u);
}

TEST_F(PerfettoFamilies, ARegionHasTheNameOfItsChain) {
  trace.json(R"({"version": 1, "control": {"chains": [{"name": "one"}, {"name": "two"}]}})");
  auto &cpu = two_threads();
  const auto put = [&](uint64_t time, uint32_t par2) {
    cpu.at(time).record(FTrace_EXT_region, 1, par2);
  };
  put(110, region(CONTROL_START, 2));
  put(115, region(CONTROL_START, 1, FTRACE_REGION_AGAIN));
  put(120, region(CONTROL_START, 1));
  put(130, region(CONTROL_STOP, 1));
  put(140, region(CONTROL_START, 3)); // no such chain
  put(150, region(CONTROL_START, 255));
  put(160, region(CONTROL_STOP, 255));
  cpu.at(200).stop();
  EXPECT_EQ(texts(exported().slices, "process"),
            (Texts{"110-120 process 11/region: two (started by=program)",
                   "120-130 process 11/region: one (started by=program)",
                   "140-150 process 11/region: no chain (started by=program)",
                   "150-160 process 11/region: no chain (started by=program)"}));
}

TEST_F(PerfettoFamilies, ARegionOfAProcessEndsWithItsLastThread) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 10, 10, "a").id(2, 11, 10, "b");
  cpu.id(3, 20, 20, "c").dispatch(1);
  cpu.at(110).record(FTrace_EXT_region, 1, region(CONTROL_START, 0));
  cpu.at(111).record(FTrace_EXT_region, 3, region(CONTROL_START, 0));
  cpu.at(120).end(1).dispatch(2).at(130).end(2).at(140).dispatch(3);
  cpu.at(150).id(4, 12, 10, "later", 150).create(4, 12).at(160).end(3).at(200).stop();
  EXPECT_EQ(texts(exported().slices, "process"),
            (Texts{"110-130 process 10/region: no chain (started by=program)",
                   "111-160 process 20/region: no chain (started by=program)"}));
  Cut cut;
  cut.tids = {10, 20};
  EXPECT_EQ(texts(exported(cut).slices, "process 10"),
            Texts{"110-120 process 10/region: no chain (started by=program)"})
      << "the other thread is not shown";
}

TEST_F(PerfettoFamilies, MarksOfOvniHaveLabelsByTypeAndValue) {
  const auto mark = [](const char *mcv, uint64_t time, int64_t value, int32_t type) {
    return test::stream_event(mcv, time, test::bytes_of(value) + test::bytes_of(type));
  };
  const auto json = [](uint32_t tid) {
    return test::stream_json(
        "node.1", 10, tid,
        R"(, "mark": {"3": {"chan_type": "stack", "title": "", "labels": {"1": "x"}},
             "7": {"chan_type": "stack", "title": "phase", "labels": {"1": "read", "-2": "solve"}}})");
  };
  for (const uint32_t tid : {11u, 12u}) {
    const std::string place = dir / test::stream_place("node.1", 10, tid);
    test::write_file(place + "/stream.json", json(tid));
    test::write_file(
        place + "/stream.obs",
        test::stream_header() + test::execute(100, -1) +
            (tid == 11
                 ? mark("OM]", 110, 1, 7)
                 : mark("OM[", 110, -2, 7) + mark("OM[", 120, 0, 7) + mark("OM[", 125, 1, -1) +
                       mark("OM[", 130, 1, 3) + mark("OM[", 135, 1, 100) + mark("OM=", 140, 1, 7) +
                       mark("OM[", 150, 4, 99) + mark("OM]", 160, 4, 99) + mark("OM]", 170, 1, 3)) +
            test::stream_event("OHe", 200));
  }
  const auto source = open_trace({{dir.path()}}, sink);
  EXPECT_EQ(
      texts(exported_from(*source).slices, "thread 12/"),
      (Texts{"110-140 thread 12/phase: solve (value=-2)", "150-160 thread 12/mark 99: 4 (value=4)",
             "130-170 thread 12/mark 3: x (value=1)", "140- thread 12/phase: read (value=1)"}));
}

TEST_F(PerfettoFamilies, CountersAndIdleStatesAreOfTheirCpu) {
  trace.json(R"({"version": 1, "idle_states": ["POLL", "C1"]})");
  auto &one = trace.cpu(4).at(100).start(), &two = trace.cpu(6).at(100).start();
  one.at(110).record(FTrace_EXT_idle_start, 0, 1).record(FTrace_EXT_frequency, 6, 100);
  two.at(120).record(FTrace_EXT_idle_start, 0, 0).record(FTrace_EXT_frequency, 5, 200);
  two.at(130).record(FTrace_EXT_idle_start, 0, 1).record(FTrace_EXT_frequency, 4, 300);
  two.at(140).record(FTrace_EXT_steal, 0, 9).at(150).blackout_start().at(160).blackout_end(1);
  one.at(170).record(FTrace_EXT_idle_end).at(200).stop();
  two.at(180).record(FTrace_EXT_idle_end).at(190).blackout_start().at(195).blackout_end(1);
  two.at(200).stop();
  const PerfettoTrace perfetto = exported();
  EXPECT_EQ(texts(perfetto.slices, "Idle states"),
            (Texts{"120-130 Idle states/CPU 6: POLL", "130-150 Idle states/CPU 6: C1",
                   "110-170 Idle states/CPU 4: C1"}));
  EXPECT_EQ(texts(perfetto.slices, "Frequencies"),
            (Texts{"110 Frequencies/CPU 6: 100", "130 Frequencies/CPU 4: 300",
                   "150 Frequencies/CPU 4: 0", "150 Frequencies/CPU 6: 0"}));
  EXPECT_EQ(texts(perfetto.slices, "Stolen time"),
            (Texts{"140 Stolen time/CPU 6: 9", "150 Stolen time/CPU 6: 0"}))
      << "what was lost once is not lost again";
}

TEST_F(PerfettoFamilies, EventsBeforeTheStartAreNotShown) {
  auto &cpu = trace.cpu(0).at(50).record(FTrace_EXT_idle_start, 0, 1).at(100).start();
  cpu.at(120).record(FTrace_EXT_idle_end).at(200).stop();
  EXPECT_EQ(texts(exported().slices, "Idle states"), Texts{});
}

TEST_F(PerfettoFamilies, CountersHaveTheirUnits) {
  auto &cpu = trace.cpu(0).at(100).start().at(110).record(FTrace_EXT_frequency, 0, 100);
  cpu.at(120).record(FTrace_EXT_steal, 0, 9).at(130).record(FTrace_EXT_idle_start, 0, 1);
  cpu.at(200).stop();
  exported();
  const std::string file = test::text_of(out / "trace.pftrace");
  std::map<uint64_t, std::string> units; // by number of the track, without its kind
  for (const test::Proto &packet : test::Proto(file).messages(1))
    if (packet.has(60) && packet.message(60).has(8))
      units[packet.message(60).number(1) >> 32] = packet.message(60).message(8).text(6);
  EXPECT_EQ(units, (std::map<uint64_t, std::string>{{19, "kHz"}, {21, "us"}}));
}

TEST_F(PerfettoFamilies, ALossThatNobodyCountedIsSaidSo) {
  auto &cpu = trace.cpu(0).at(100).start();
  cpu.at(120).record(FTrace_EVT_blackout_start, FTRACE_BLACKOUT_MISSING);
  cpu.at(130).blackout_end(3).at(140);
  cpu.record(FTrace_EVT_blackout_start, FTRACE_BLACKOUT_MISSING, 5).at(150).blackout_end(3);
  cpu.at(200).stop();
  EXPECT_EQ(texts(exported().slices, "Blackouts"),
            (Texts{"120-130 Blackouts/CPU 0: events are missing, nobody knows how many",
                   "140-150 Blackouts/CPU 0: events are missing"}));
}

TEST_F(PerfettoFamilies, TheTraceItselfIsASliceWithItsMarks) {
  trace.json(R"({"version": 1, "marks": [{"time_ns": 1019, "text": "before"},
    {"time_ns": 1020, "text": "first"}, {"time_ns": 1050, "text": "last"},
    {"time_ns": 1051, "text": "after"}]})");
  trace.cpu(0).at(1000).start().at(2000).stop();
  Cut cut;
  cut.from = 20;
  cut.to = 50;
  const auto all = [](const PerfettoTrace &perfetto) {
    Texts texts;
    for (const auto &slice : perfetto.slices) {
      texts.push_back(fmt::format("{} {} {}", slice.start, slice.track, slice.name));
      for (const auto &[name, value] : slice.notes)
        texts.back() += " " + name + "=" + value;
    }
    return texts;
  };
  TraceInfo info;
  EXPECT_EQ(
      all(exported(cut, info)),
      (Texts{"1020 ovnitrace first", "1020 ovnitrace trace host=not known ovnitrace=not known",
             "1050 ovnitrace last"}));
  EXPECT_EQ(result.track_events, 2u);
  info.command = {"a", "b"};
  info.host = "node";
  info.tracer = "0.9";
  EXPECT_EQ(all(exported(cut, info)).at(1), "1020 ovnitrace a b host=node ovnitrace=0.9");
}

} // namespace
} // namespace ovnitrace
