// SPDX-License-Identifier: BSD-2-Clause
// Regions beside the other things that a capture can have: processes that are alive, many threads,
// flight recorders, user events, programs that end or execute another inside a region.
#include "tests/e2e/support/regions.h"
#include "tests/unit/support/control_model.h"

#include <algorithm>
#include <map>

namespace ovnitrace::test {

class ControlProcess : public RegionTest {};

namespace {

control_alarm calls(const std::string &function, uint64_t count, uint32_t flags = 0) {
  control_alarm alarm = {};
  alarm.event = CONTROL_THREADID;
  alarm.type = CONTROL_ENTER_FUNC;
  alarm.flags = uint8_t(flags);
  alarm.count = count;
  alarm.value = function == "tick";
  return alarm;
}

/// Returns the n-th of several chains of two alarms.
control_chain chain(uint32_t n, uint32_t repeat) {
  return {.first = 2 * n,
          .alarms = 2,
          .repeat = repeat,
          .waiters = 0,
          .waits = 0,
          .loop = 0,
          .loops = 1};
}

} // namespace

TEST_F(ControlProcess, AHundredThreadsDoWhatTheModelDoes) {
  constexpr int kThreads = 100, kCalls = 20;
  std::vector<control_chain> chains = {chain(0, 0), chain(1, 9), chain(2, 0)};
  chains[1].waiters = 1u << 2;
  chains[2].waits = 1;
  const std::vector<control_alarm> alarms = {
      calls("tick", 3),
      calls("tock", 2),
      calls("tick", 50, CONTROL_GLOBAL),
      calls("tock", 7, CONTROL_BCAST),
      calls("tock", 4, CONTROL_BCAST),
      calls("tick", 1),
  };
  capture({"threadid:enter_func:tick:count3,threadid:enter_func:tock:count2,repeat",
           "threadid:enter_func:tick:count50:global,threadid:enter_func:tock:count7:bcast,repeat:9,"
           "name:second",
           "threadid:enter_func:tock:count4:bcast,threadid:enter_func:tick,repeat,waitfor:second"},
          {"turns=" + std::to_string(kThreads) + ":" + std::to_string(kCalls)});
  ControlModel model(chains, alarms);
  std::map<uint32_t, size_t> threads;
  for (const Mark &mark : marks_)
    if (threads.emplace(mark.tid, threads.size() + 1).second && threads.size() == 1)
      model.add_thread(); // the main thread, which calls neither
  for (size_t n = 0; n < threads.size(); n++)
    model.add_thread();
  std::vector<std::string> expected, seen;
  for (const Mark &mark : marks_) {
    uint64_t mask = 0;
    for (size_t a = 0; a < alarms.size(); a++)
      mask |= uint64_t(alarms[a].value == (mark.name == "tick")) << a;
    model.hit(threads.at(mark.tid), mask);
    for (uint32_t a : model.take_events())
      expected.push_back(std::to_string(mark.tid) + " enter_func/" + std::to_string(a / 2 + 1) +
                         "/" + std::to_string(a % 2 + 1));
  }
  for (const DumpEvent &event : events_)
    if (event.event == "EXT_region" && event.detail("event") == "threadid")
      seen.push_back(std::to_string(event.tid) + " " + alarm_of(event));
  ASSERT_EQ(marks_.size(), size_t(kThreads) * kCalls);
  EXPECT_EQ(threads.size(), size_t(kThreads));
  EXPECT_GT(expected.size(), 300u) << "too little happens for a test of it";
  EXPECT_EQ(seen, expected);
}

TEST_F(ControlProcess, ARunningProcessHasRegions) {
  Process program({.argv = {installed("regions"), "spin=" + path("go"), "foo", "wait=2"}});
  eventually([&] { return program.out().find("spin") != std::string::npos; }, "it runs");
  Process tracer({.argv = {ovnitrace(), "-o", trace(), "-p", std::to_string(program.pid()),
                           "--control", "start:enter_func:foo,stop:exit_func:foo"}});
  eventually([&] { return tracer.err().find("tracing process") != std::string::npos; }, "traced");
  const uint32_t pid = uint32_t(program.pid());
  write_text(path("go"), "");
  EXPECT_EQ(program.wait().status(), 0);
  read(tracer.wait());
  const std::vector<Region> all = regions();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].tid, pid);
  EXPECT_EQ(all[0].started_by, "enter_func");
  EXPECT_EQ(all[0].stopped_by, "exit_func");
  expect_events_in_regions();
}

TEST_F(ControlProcess, AFlightRecorderIsSavedAtAStop) {
  Process capture(record_command(
      trace(),
      {installed("regions"), "foo", "spin=" + path("1"), "bar", "foo", "spin=" + path("2")},
      {"--buffer", "cyc:1M", "--trigger", "region_stop", "--control",
       "start:enter_func:foo,stop:exit_func:foo,repeat:2"}));
  for (const std::string save : {"1", "2"}) {
    eventually(
        [&] { return capture.err().find("saved to " + trace() + "." + save) != std::string::npos; },
        "save " + save);
    write_text(path(save), "");
  }
  const Outcome outcome = capture.wait();
  read(outcome);
  ASSERT_EQ(regions().size(), 2u);
  for (const std::string save : {".1", ".2"}) {
    ASSERT_TRUE(exists(trace() + save + "/trace.json")) << outcome.err;
    const std::vector<DumpEvent> events = dump(trace() + save);
    EXPECT_EQ(std::count_if(events.begin(), events.end(),
                            [](const DumpEvent &event) {
                              return event.event == "EXT_region" && event.detail("event") == "stop";
                            }),
              save == ".1" ? 1 : 2);
  }
  EXPECT_FALSE(exists(trace() + ".3")) << outcome.err;
}

// Another build of the program is written over the first, into the same file.
TEST_F(ControlProcess, AFileThatWasWrittenOverIsReadAgain) {
  const std::string program = path("program"), other = path("other"), source = path("source.cpp");
  const std::string foo =
      "extern \"C\" __attribute__((noinline)) int foo(int n) { return n * 3 + 1; }\n"
      "int main(int argc, char **) { return foo(argc) == 4 ? 0 : 1; }\n";
  const auto build = [&](const std::string &before, const std::string &to) {
    write_text(source, before + foo);
    const Outcome made = run({.argv = {"g++", "-O1", "-o", to, source}});
    ASSERT_EQ(made.status(), 0) << made.err;
  };
  build("", program);
  build("extern \"C\" int first(int n) { for (int i = 0; i < n; i++) n ^= i << 3; return n; }\n",
        other);
  const std::string script = program + " && cat " + other + " > " + program + " && " + program;
  const Outcome outcome =
      run(record_command(trace(), {"sh", "-c", script},
                         {"--control", "start:enter_func:foo,stop:exit_func:foo,repeat"}));
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  read(outcome);
  EXPECT_EQ(regions().size(), 2u) << outcome.err;
}

// Stops that come before a save begins share it, and count once for --max-saves.
TEST_F(ControlProcess, ManyStopsAtOnceAreOneSave) {
  std::vector<std::string> command(60, "bar");
  command.insert(command.begin(), installed("regions"));
  command.push_back("spin=" + path("go"));
  Process capture(
      record_command(trace(), command,
                     {"--buffer", "cyc:1M", "--trigger", "region_stop", "--max-saves", "50",
                      "--control", "start:enter_func:bar,stop:exit_func:bar,repeat"}));
  EXPECT_TRUE(eventually(
      [&] { return capture.err().find("saved to " + trace() + ".1") != std::string::npos; },
      "a save"));
  write_text(path("go"), "");
  const Outcome outcome = capture.wait();
  EXPECT_EQ(outcome.err.find("saves no more"), std::string::npos) << outcome.err;
}

TEST_F(ControlProcess, UserEventsAreRecordedInRegionsOnly) {
  capture({"start:enter_func:foo,stop:enter_func:bar,repeat"},
          {"event=1", "foo", "event=2", "event=3", "bar", "event=4", "foo", "event=5"});
  std::vector<std::string> logged;
  for (const DumpEvent &event : events_)
    if (event.event == "user_event_1")
      logged.push_back(event.detail("par2"));
  EXPECT_EQ(logged, (std::vector<std::string>{"2", "3", "5"}));
  expect_events_in_regions();
}

TEST_F(ControlProcess, AProcessMayEndInsideItsRegion) {
  capture({"start:enter_func:foo"}, {"bar", "foo"});
  const std::vector<Region> all = regions();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].stop, UINT64_MAX);
  EXPECT_EQ(events_.back().event, "trace_stop");
  EXPECT_TRUE(std::any_of(events_.begin(), events_.end(), [&](const DumpEvent &event) {
    return event.event == "task_end" && event.tid == all[0].tid;
  }));
  const Outcome info = run({.argv = {ovnitrace(), "info", trace()}});
  EXPECT_EQ(info.status(), 0) << info.err;
  EXPECT_EQ(run({.argv = {ovnitrace(), "convert", "--region", "1", trace()}}).status(), 0);
}

/// The region of the old program ends there, and the chains of the new one are at their starts.
TEST_F(ControlProcess, AProcessMayExecuteAProgramInsideItsRegion) {
  const std::string program = installed("regions");
  capture({"start:enter_func:foo,stop:enter_func:bar"}, {"foo", "exec=" + program + ":boo"});
  const std::vector<Region> all = regions();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_LT(all[0].start, mark("foo"));
  EXPECT_EQ(all[0].stopped_by, "exec");
  EXPECT_LT(all[0].stop, mark("boo"));
  expect_events_in_regions();
}

/// The kernel's account of a thread does not depend on regions.
TEST_F(ControlProcess, AThreadThatEndsOutsideItsRegionHasItsAccount) {
  capture({"start:enter_func:foo,stop:enter_func:bar"}, {"foo", "bar", "turns=3:1"});
  EXPECT_EQ(regions().size(), 1u);
  const TraceRecord reported = read_trace_json(trace());
  EXPECT_EQ(reported.threads.size(), 4u);
  for (const ThreadRecord &thread : reported.threads) {
    ASSERT_TRUE(thread.account) << thread.tid;
    EXPECT_GT(thread.account->run_ns, 0u);
    EXPECT_GT(thread.account->slices, 0u);
    EXPECT_GT(thread.account->voluntary + thread.account->involuntary, 0u);
  }
}

} // namespace ovnitrace::test
