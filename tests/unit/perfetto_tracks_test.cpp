// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace export --to perfetto`: what is no matter of the scheduler, and what is not known.
#include "emulator/base/error.h"
#include "tests/unit/support/ovni_streams.h"
#include "tests/unit/support/perfetto_rig.h"

#include <ovnitrace/control.h>

namespace ovnitrace {
namespace {

using test::PerfettoTrace;

class PerfettoTracks : public test::PerfettoRig {
protected:
  test::ChunkBuilder &user(test::ChunkBuilder &cpu, uint32_t number, uint32_t par2,
                           uint16_t par1 = 0) {
    return cpu.record(uint16_t(number << 4 | FTrace_EVT_user_event_0), par1, par2);
  }
};

TEST_F(PerfettoTracks, UserEventsBelongToTheRunningThread) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 10, "a").dispatch(1);
  user(cpu.at(110), 3, 70000, 300);
  cpu.at(120).record(FTrace_EVT_ipoint, 5).at(130).sleep(1);
  user(cpu.at(140), 4, 1);
  cpu.at(200).stop();
  EXPECT_EQ(texts(exported().slices),
            (Texts{"110 thread 11: user event 3 (parameter 1=300, parameter 2=70000)",
                   "120 thread 11: ipoint 5",
                   "140 User events of unknown threads: user event 4 (parameter 1=0, parameter "
                   "2=1)"}));
  EXPECT_EQ(result.track_events, 3u);
}

TEST_F(PerfettoTracks, TheEndOfASectionEndsNestedSections) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").dispatch(1);
  user(cpu.at(105), 14, 9); // an end without its start
  user(cpu.at(110), 13, 1);
  user(cpu.at(120), 13, 2);
  user(cpu.at(130), 13, 3);
  user(cpu.at(140), 14, 2);
  user(cpu.at(150), 14, 1);
  user(cpu.at(160), 13, 4); // does not end
  cpu.at(200).stop();
  EXPECT_EQ(texts(exported().slices),
            (Texts{"130-140 thread 11: section 3", "120-140 thread 11: section 2",
                   "110-150 thread 11: section 1", "160- thread 11: section 4"}));
  Cut cut;
  cut.from = 25;
  cut.to = 45;
  EXPECT_EQ(texts(exported(cut).slices), (Texts{"130- thread 11: section 3"}))
      << "what started before is nothing";
}

TEST_F(PerfettoTracks, ABlackoutOrAnEndOfTheThreadEndsASection) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").id(2, 12, 12, "b").dispatch(1);
  user(cpu.at(110), 13, 1);
  user(cpu.at(120), 13, 2);
  cpu.at(130).blackout_start().at(140).blackout_end(1).dispatch(2);
  user(cpu.at(150), 13, 3);
  cpu.at(160).end(2).at(170).dispatch(1);
  user(cpu.at(180), 14, 1); // its start was before the loss
  cpu.at(200).stop();
  EXPECT_EQ(texts(exported().slices),
            (Texts{"120-130 thread 11: section 2", "110-130 thread 11: section 1",
                   "130-140 Blackouts/CPU 0: events are missing", "150-160 thread 12: section 3",
                   "130-170 thread 11/unknown: state not known"}));
}

TEST_F(PerfettoTracks, RegionsHaveTheNamesOfTheirChains) {
  const auto region = [](uint32_t event, uint32_t chain, uint32_t type, uint32_t flags = 0) {
    return event << FTRACE_REGION_EVENT_SHIFT | chain << FTRACE_REGION_CHAIN_SHIFT |
           type << FTRACE_REGION_TYPE_SHIFT | flags;
  };
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 10, "a").dispatch(1);
  const auto put = [&](uint64_t time, uint32_t par2) {
    cpu.at(time).record(FTrace_EXT_region, 1, par2);
  };
  trace.json(R"({"version": 1, "control": {"chains": [{"name": "warm\u0007up"}]}})");
  put(110, region(CONTROL_START, 1, CONTROL_ICOUNT));
  put(115, region(CONTROL_PRECOND, 1, CONTROL_ICOUNT));
  put(120, region(CONTROL_STOP, 1, CONTROL_ICOUNT));
  put(125, region(CONTROL_STOP, 1, CONTROL_ICOUNT)); // none is open
  put(130, region(CONTROL_START, 0, CONTROL_PROGRAM, FTRACE_REGION_THREAD));
  put(140, region(CONTROL_START, 1, CONTROL_PROGRAM, FTRACE_REGION_THREAD | FTRACE_REGION_AGAIN));
  put(150, region(CONTROL_START, 1, CONTROL_ICOUNT, FTRACE_REGION_THREAD)); // no stop was seen
  cpu.at(200).stop();
  EXPECT_EQ(texts(exported().slices),
            (Texts{"110-120 process 10/region: warm?up (started by=icount)",
                   "130-150 thread 11/region: no chain (started by=program)",
                   "120-200 thread 11/unknown: state not known",
                   "150- thread 11/region: warm?up (started by=icount)"}))
      << "outside of a region nothing is recorded";
}

TEST_F(PerfettoTracks, RegionsEndWithTheirThreadOrProcess) {
  constexpr uint32_t start = CONTROL_START << FTRACE_REGION_EVENT_SHIFT;
  auto &cpu = trace.cpu(0).at(100).start().id(1, 10, 10, "a").id(2, 11, 10, "b").dispatch(1);
  cpu.at(110).record(FTrace_EXT_region, 1, start);
  cpu.at(120).record(FTrace_EXT_region, 1, start | FTRACE_REGION_THREAD);
  cpu.at(130).end(1).dispatch(2).at(140).end(2).id(3, 20, 20, "c").dispatch(3);
  cpu.at(150).record(FTrace_EXT_region, 3, start);
  cpu.at(160).blackout_start().at(170).blackout_end(1);
  cpu.at(180).id(4, 20, 20, "d", 180).create(4, 20).at(200).stop(); // a later process with the same
                                                                    // pid
  EXPECT_EQ(texts(exported().slices, "thread 10/region"),
            Texts{"120-130 thread 10/region: no chain (started by=begin)"});
  EXPECT_EQ(texts(exported().slices, "process"),
            (Texts{"110-140 process 10/region: no chain (started by=begin)",
                   "150-180 process 20/region: no chain (started by=begin)"}));
}

TEST_F(PerfettoTracks, MutexWaitsAreSlicesAndOtherMutexEventsInstants) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").dispatch(1);
  cpu.at(110).record(FTrace_EVT_mutex_wait, 1, 0x40).at(120).record(FTrace_EVT_mutex_lock, 1, 0x40);
  cpu.at(130).record(FTrace_EVT_mutex_unlock, 1, 0x40);
  cpu.at(140).record(FTrace_EVT_mutex_wait, 1, 0x80);
  cpu.at(150).record(FTrace_EVT_mutex_lock, 1, 0x80 | FTRACE_FUTEX_GAVE_UP);
  cpu.at(160).record(FTrace_EVT_mutex_wait, 1, 0x80).at(170).blackout_start();
  cpu.at(180).blackout_end(1).at(200).stop();
  EXPECT_EQ(
      texts(exported().slices, "thread 11/mutex"),
      (Texts{"110-120 thread 11/mutex: waits for mutex 0x40",
             "120 thread 11/mutex: locks mutex 0x40", "130 thread 11/mutex: unlocks mutex 0x40",
             "140-150 thread 11/mutex: waits for mutex 0x80", "150 thread 11/mutex: gives up",
             "160-170 thread 11/mutex: waits for mutex 0x80"}));
}

TEST_F(PerfettoTracks, InterruptsNestOnTheirCpu) {
  auto &cpu = trace.cpu(3).at(100).start();
  cpu.at(105).record(FTrace_EVT_interrupt_end, 9);
  cpu.at(110).record(FTrace_EVT_interrupt_start, 9);
  cpu.at(120).record(FTrace_EVT_interrupt_start, FTRACE_INTERRUPT_SOFT | 1);
  cpu.at(130).record(FTrace_EVT_interrupt_end, FTRACE_INTERRUPT_SOFT | 1);
  cpu.at(140).record(FTrace_EVT_interrupt_end, 9).at(150).record(FTrace_EVT_interrupt_hit, 7);
  cpu.at(160).record(FTrace_EVT_interrupt_start, 9).at(170).blackout_start();
  cpu.at(180).blackout_end(1).at(200).stop();
  EXPECT_EQ(texts(exported().slices, "Interrupts"),
            (Texts{"120-130 Interrupts/CPU 3: Soft: timer", "110-140 Interrupts/CPU 3: IRQ 9",
                   "150 Interrupts/CPU 3: IRQ 7", "160-170 Interrupts/CPU 3: IRQ 9"}));
}

TEST_F(PerfettoTracks, ShowIdleStatesFrequenciesAndStolenTimeOfCpus) {
  trace.json(R"({"version": 1, "idle_states": ["POLL", "C1"]})");
  auto &cpu = trace.cpu(3).at(100).start();
  cpu.at(105).record(FTrace_EXT_idle_end);
  cpu.at(110).record(FTrace_EXT_idle_start, 0, 1).at(120).record(FTrace_EXT_idle_end);
  cpu.at(130).record(FTrace_EXT_idle_start, 0, 5).at(140).blackout_start();
  cpu.at(150).blackout_end(1).record(FTrace_EXT_frequency, 3, 2'400'000);
  cpu.at(160).record(FTrace_EXT_steal, 0, 17).at(200).stop();
  const PerfettoTrace perfetto = exported();
  EXPECT_EQ(texts(perfetto.slices, "Idle states"),
            (Texts{"110-120 Idle states/CPU 3: C1", "130-140 Idle states/CPU 3: state 5"}));
  EXPECT_EQ(texts(perfetto.slices, "Frequencies"), Texts{"150 Frequencies/CPU 3: 2400000"});
  EXPECT_EQ(texts(perfetto.slices, "Stolen time"), Texts{"160 Stolen time/CPU 3: 17"});
}

TEST_F(PerfettoTracks, CountersOfCpusEndWhereEventsAreLost) {
  trace.cpu(0).at(100).start().at(110).record(FTrace_EXT_frequency, 1, 3'000'000);
  trace.cpu(0).at(120).record(FTrace_EXT_steal, 0, 9).at(200).stop();
  auto &lossy = trace.cpu(1).at(100).start().at(115).record(FTrace_EXT_steal, 0, 17);
  lossy.at(140).blackout_start().at(150).blackout_end(1).at(200).stop();
  const PerfettoTrace perfetto = exported();
  EXPECT_EQ(texts(perfetto.slices, "Frequencies"),
            (Texts{"110 Frequencies/CPU 1: 3000000", "140 Frequencies/CPU 1: 0"}));
  EXPECT_EQ(
      texts(perfetto.slices, "Stolen time"),
      (Texts{"115 Stolen time/CPU 1: 17", "120 Stolen time/CPU 0: 9", "140 Stolen time/CPU 1: 0"}));
}

TEST_F(PerfettoTracks, ABlackoutShowsThatNothingIsKnown) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
  cpu.at(110).epilogue(1, 22).dispatch(2).at(120).blackout_start();
  cpu.at(150).blackout_end(7).at(160).dispatch(1).at(180).sleep(1).at(200).stop();
  const PerfettoTrace perfetto = exported();
  EXPECT_EQ(texts(perfetto.runs),
            (Texts{"100-110 cpu 0 tid 11 then 256", "110-120 cpu 0 tid 22 then 512",
                   "160-180 cpu 0 tid 11 then 1"}))
      << "512 is no state of Linux";
  EXPECT_EQ(texts(perfetto.slices, "Blackouts"),
            (Texts{"120-150 Blackouts/CPU 0: events are missing"}));
  EXPECT_EQ(texts(perfetto.slices, "thread 11/unknown"),
            (Texts{"120-160 thread 11/unknown: state not known"}));
  EXPECT_EQ(texts(perfetto.slices, "thread 22/unknown"),
            (Texts{"120-200 thread 22/unknown: state not known"}));
  EXPECT_EQ(perfetto.lost.at(0), 1);
}

TEST_F(PerfettoTracks, BlockedSlicesHaveTheirCallstacks) {
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "app").dispatch(1);
  cpu.at(1100).record(FTrace_EXT_stack, 1, 1).sleep(1, 0).at(1200).activate(1, 0).dispatch(1);
  cpu.at(1300).sleep(1, 0).at(1400).activate(1, 0).dispatch(1);
  constexpr uint32_t kRead = FTRACE_CALL_NATIVE; // x86-64's
  cpu.at(1500).record(FTrace_EXT_stack, 1, 2);
  cpu.record(uint16_t(FTrace_EVT_task_sleep | FTRACE_CALL_CODE(kRead)), 1,
             FTRACE_OFFCPU_SLEEP << FTRACE_REASON_SHIFT | FTRACE_CALL_PAR2(kRead));
  cpu.at(1600).activate(1, 0).dispatch(1);
  cpu.at(1700).record(FTrace_EXT_stack, 1, 1).sleep(1, 0).at(1800).stop();
  trace.json(R"json({"format": "ovnitrace", "version": 1, "begin_ns": 1000, "machine": "x86_64",
    "options": {"stacks": "kernel,user"},
    "stack_frames": [{"kernel": true, "function": "schedule"}, {"function": "f", "source": "/a.c",
      "line": 7}, {"function": "main"}, {"missing": true}],
    "stacks": [{"kernel": [0], "user": [1, 2]}, {"user": [1, 3]}]})json");
  const PerfettoTrace all = exported_with_stacks();
  std::map<uint64_t, Texts> callstacks;
  for (const auto &slice : all.slices)
    if (slice.track == "thread 11/blocked") {
      EXPECT_EQ(slice.end - slice.start, 100u);
      EXPECT_EQ(slice.name, slice.start == 1500 ? "read" : "blocked");
      callstacks[slice.start] = slice.callstack;
    }
  const Texts whole = {"main", "f /a.c:7", "schedule_[k]"};
  EXPECT_EQ(callstacks,
            (std::map<uint64_t, Texts>{
                {1100, whole}, {1500, {"[frames missing]", "f /a.c:7"}}, {1700, whole}}))
      << "the second block has no stack";
  EXPECT_EQ(all.blocked, (Texts{"1200 tid 11 f < main", "1600 tid 11 read: f < [frames missing]"}));
}

TEST_F(PerfettoTracks, AThreadThatWasNeverSeenHasNoSliceOfALostState) {
  trace.cpu(0).at(100).start().id(1, 11, 11, "a").at(150).dispatch(1).at(160).sleep(1);
  trace.cpu(0).id(2, 22, 22, "never").at(200).stop();
  const PerfettoTrace perfetto = exported();
  EXPECT_EQ(texts(perfetto.slices), Texts{});
  EXPECT_EQ(perfetto.threads.at(22).name, "never");
  EXPECT_EQ(perfetto.lost.at(0), 0);
}

/// Marks have labels; two threads may be on one CPU there, or on none.
TEST_F(PerfettoTracks, OvniStreamsHaveMarksAndRunsThatPerfettoCannotShow) {
  const auto mark = [](const char *mcv, uint64_t time, int64_t value, int32_t type) {
    return test::stream_event(mcv, time, test::bytes_of(value) + test::bytes_of(type));
  };
  const std::string place = dir / test::stream_place("node.1", 10, 11);
  test::write_file(
      place + "/stream.json",
      test::stream_json("node.1", 10, 11,
                        R"(, "loom_cpus": [{"index": 0, "phyid": 0}], "mark": {"7": {"chan_type":
                           "stack", "title": "phase\u0007", "labels": {"1": "solve"}}})"));
  test::write_file(place + "/stream.obs",
                   test::stream_header() + test::execute(100, 0) + mark("OM[", 110, 1, 7) +
                       mark("OM[", 120, 2, 7) + mark("OM]", 130, 2, 7) + mark("OM=", 140, 5, 8) +
                       mark("OM=", 150, 6, 8) + test::stream_event("OHe", 200));
  test::write_stream(dir, "node.1", 10, 12, test::execute(120, 0) + test::stream_event("OHe", 180));
  test::write_stream(dir, "node.1", 10, 13,
                     test::execute(120, -1) + test::stream_event("OHe", 180));
  const auto source = open_trace({{dir.path()}}, sink);
  const PerfettoTrace perfetto = exported_from(*source);
  EXPECT_EQ(
      texts(perfetto.slices, "thread 11/"),
      (Texts{"120-130 thread 11/phase?: 2 (value=2)", "140-150 thread 11/mark 8: 5 (value=5)",
             "110- thread 11/phase?: solve (value=1)", "150- thread 11/mark 8: 6 (value=6)"}));
  EXPECT_EQ(texts(perfetto.runs),
            (Texts{"120-180 cpu 0 tid 12 then 16", "180-200 cpu 0 tid 11 then 16"}))
      << "the one that ends later is shown from then on";
  EXPECT_EQ(result.sched.doubled, 1u);
  EXPECT_EQ(result.sched.without_cpu, 1u);
}

TEST_F(PerfettoTracks, TheCriticalPathIsATrackOfThreadsAndCauses) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 22, 22, "b").snapshot(1, 1, 0);
  cpu.snapshot(2, 4, 0).at(100).start().at(200).sleep(1, 22).dispatch(2);
  cpu.at(300).activate(1, 22).at(400).sleep(2, 11).dispatch(1).at(500).stop();
  trace.write();
  CriticalPath path =
      critical_path(*open_trace({{dir.path()}}, sink), {}, {}, {.tid = 11, .section = {}});
  const auto source = open_trace({{dir.path()}}, sink);
  EXPECT_EQ(
      texts(exported_from(*source, {}, {}, &path).slices, "Critical path"),
      (Texts{"100-200 Critical path: a (11): running", "200-300 Critical path: b (22): running",
             "300-400 Critical path: a (11): waiting for a CPU (holder=b (22))",
             "400-500 Critical path: a (11): running"}));
}

TEST_F(PerfettoTracks, AnInterruptOnTheCriticalPathHasTheCallThatWaitedForIt) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").dispatch(1);
  const auto block_in = [&](uint32_t call, uint64_t from, uint64_t to) {
    cpu.at(from).record(uint16_t(FTrace_EVT_task_sleep | FTRACE_CALL_CODE(call)), 1,
                        FTRACE_OFFCPU_SLEEP << FTRACE_REASON_SHIFT | FTRACE_CALL_PAR2(call));
    cpu.at(to).activate(1, 0, FTRACE_WAKER_HARDIRQ);
  };
  block_in(FTRACE_CALL_NATIVE + 35, 200, 300); // nanosleep of x86-64
  cpu.at(340).dispatch(1);
  block_in(FTRACE_CALL_NONE, 400, 450);
  cpu.dispatch(1).at(500).stop();
  trace.json(R"({"version": 1, "machine": "x86_64"})").write();
  CriticalPath path =
      critical_path(*open_trace({{dir.path()}}, sink), {}, {}, {.tid = 11, .section = {}});
  const auto source = open_trace({{dir.path()}}, sink);
  EXPECT_EQ(texts(exported_from(*source, {}, {}, &path).slices, "Critical path"),
            (Texts{"100-200 Critical path: a (11): running",
                   "200-300 Critical path: a (11): timer (call=nanosleep)",
                   "300-340 Critical path: a (11): waiting for a CPU",
                   "340-400 Critical path: a (11): running",
                   "400-450 Critical path: a (11): interrupt (call=no system call)",
                   "450-500 Critical path: a (11): running"}));
}

TEST_F(PerfettoTracks, AreOfOneHostWithCpusThatPerfettoKnows) {
  test::TempDir other;
  test::TraceBuilder second(other.path());
  second.cpu(0).at(100).start().at(200).stop();
  second.write();
  trace.cpu(1023).at(100).start().at(200).stop();
  trace.write();
  try {
    exported_from(*open_trace({{dir.path()}, {other.path()}}, sink));
    ADD_FAILURE() << "not refused";
  } catch (const UsageError &error) {
    EXPECT_STREQ(error.what(), "the trace has 2 hosts, but a Perfetto file has the threads and "
                               "CPUs of one: export each host by itself");
  }
  EXPECT_NO_THROW(exported());
  trace.cpu(1024).at(100).start().at(200).stop();
  try {
    exported();
    ADD_FAILURE() << "not refused";
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(),
                 "the trace has a CPU 1024: Perfetto opens none with a number above 1023");
  }
}

} // namespace
} // namespace ovnitrace
