// SPDX-License-Identifier: BSD-2-Clause
// Events that a traced program logs itself. Each is in the trace once, at its time, on its CPU,
// while its thread runs there. Codes that a program may not log are refused.
#include "tests/e2e/support/bpf_programs.h"
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/logged.h"
#include "tests/e2e/support/prv.h"
#include "tests/e2e/support/trace.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <csignal>
#include <set>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ovnitrace::test {

namespace {

std::vector<DumpEvent> only(const std::vector<DumpEvent> &events, const std::string &name) {
  std::vector<DumpEvent> some;
  std::copy_if(events.begin(), events.end(), std::back_inserter(some),
               [&](const DumpEvent &event) { return event.event == name; });
  return some;
}

std::vector<std::string> par2_of(const std::vector<DumpEvent> &events) {
  std::vector<std::string> all;
  for (const DumpEvent &event : events)
    all.push_back(event.detail("par2"));
  return all;
}

} // namespace

class UserEvents : public CaptureTest {
protected:
  uint64_t refused() const {
    return number_after(read_text(trace() + "/trace.json"), "\"user_events_refused\":");
  }
  /// Runs the program and compares the trace with what the program prints about its events.
  void expect_all_there(const std::vector<std::string> &program, size_t least,
                        const std::vector<std::string> &options = {}) {
    const Outcome outcome = record(program, options);
    const std::vector<LoggedEvent> logged = read_logged(outcome.out);
    EXPECT_GE(logged.size(), least);
    expect_in_trace(logged, trace());
  }
};

TEST_F(UserEvents, EachIsThereAtItsTimeInTheTimeOfItsThread) {
  expect_all_there({installed("user_events"), "7"}, 1000);
}

TEST_F(UserEvents, ChildProcessesAreRecorded) {
  expect_all_there({installed("user_events"), "fork", "100"}, 3000);
}

TEST_F(UserEvents, TheWholeMachineIsRecorded) {
  expect_all_there({installed("user_events"), "7"}, 1000, {"-a"});
}

TEST_F(UserEvents, AProgramOfAnotherUserIsRecorded) {
  ASSERT_EQ(chown(directory().c_str(), nobody_uid(), nobody_gid()), 0);
  expect_all_there({installed("user_events"), "7"}, 1000, {"--user", "nobody"});
}

TEST_F(UserEvents, AreFoundByTheNameOfTheProgramInThePath) {
  const std::string program = installed("user_events");
  const size_t slash = program.rfind('/');
  Command run_it = record_command(trace(), {program.substr(slash + 1), "7"});
  run_it.env["PATH"] = program.substr(0, slash) + ":" + getenv("PATH");
  const Outcome outcome = run(run_it);
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  expect_in_trace(read_logged(outcome.out), trace());
}

TEST_F(UserEvents, AProgramStartedByTheTracedOneNeedsTheProbeOption) {
  const std::string program = installed("user_events");
  expect_all_there({"sh", "-c", "true; exec '" + program + "' 7"}, 1000, {"--probe", program});
}

TEST_F(UserEvents, AProgramBehindALauncherIsNamedAtTheEnd) {
  const std::string program = installed("user_events"),
                    hint = "env started " + program +
                           ", whose user events are not recorded: add --probe " + program + "\n";
  EXPECT_NE(record({"env", program, "7"}).err.find(hint), std::string::npos);
  EXPECT_EQ(record({"env", program, "7"}, {"-f", "--probe", program}).err.find(hint),
            std::string::npos);
  EXPECT_EQ(record({"env", "true"}, {"-f"}).err.find("--probe"), std::string::npos);
}

TEST_F(UserEvents, AFileNamedWithProbeIsRecorded) {
  write_text(path("script"), "#!/bin/sh\nexec " + installed("user_events") + " 7\n");
  ASSERT_EQ(chmod(path("script").c_str(), 0755), 0);
  expect_all_there({path("script")}, 1000, {"--probe", installed("user_events")});
}

TEST_F(UserEvents, MoreFilesThanMayBeOpenAreRecorded) {
  std::vector<std::string> options;
  std::string last;
  for (int n = 0; n < 50; n++) {
    last = path("program" + std::to_string(n));
    write_text(last, read_text(installed("user_events")));
    ASSERT_EQ(chmod(last.c_str(), 0755), 0);
    options.insert(options.end(), {"--probe", last});
  }
  Command command = record_command(trace(), {last, "7"}, options);
  command.in_child = [] {
    const rlimit few = {48, 1000}; // not every root may raise the second
    setrlimit(RLIMIT_NOFILE, &few);
  };
  const Outcome outcome = run(command);
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  const std::vector<LoggedEvent> logged = read_logged(outcome.out);
  EXPECT_GE(logged.size(), 1000u);
  expect_in_trace(logged, trace());
}

TEST_F(UserEvents, AProgramThatContainsTheLibraryIsRecorded) {
  expect_all_there({installed("library_events_static"), "7"}, 101);
}

TEST_F(UserEvents, AProgramLinkedWithTheLibraryIsRecorded) {
  installed("libovnitrace.so.0");
  expect_all_there({installed("library_events_shared"), "7"}, 101);
}

TEST_F(UserEvents, AProgramThatOpensTheLibraryIsRecorded) {
  const std::string library = installed("libovnitrace.so.0"), other = path("other.so");
  write_text(other, read_text(library));
  expect_all_there({installed("library_events_shared"), "7", "loaded", other}, 101,
                   {"--probe", other});
}

TEST_F(UserEvents, ALibraryOnTheLoadersPathIsRecorded) {
  write_text(path("libovnitrace.so.0"), read_text(installed("libovnitrace.so.0")));
  write_text(path("program"), read_text(installed("library_events_shared")));
  ASSERT_EQ(chmod(path("program").c_str(), 0755), 0);
  ASSERT_EQ(mkdir(path("elsewhere").c_str(), 0755), 0);
  ASSERT_EQ(rename(path("program").c_str(), path("elsewhere/program").c_str()), 0);
  Command command = record_command(trace(), {path("elsewhere/program"), "7"});
  command.env["LD_LIBRARY_PATH"] = directory();
  const Outcome outcome = run(command);
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  const std::vector<LoggedEvent> logged = read_logged(outcome.out);
  EXPECT_GE(logged.size(), 101u);
  expect_in_trace(logged, trace());
}

TEST_F(UserEvents, AProbeFileWithoutProbesIsRefusedBeforeAnythingRuns) {
  write_text(path("text"), "no program");
  for (const std::string &file : {path("text"), path("none"), directory(), ovnitrace() + "\n"}) {
    const Outcome outcome = record({"touch", path("ran")}, {"--probe", file}, 1);
    EXPECT_NE(outcome.err.find("--probe " + file), std::string::npos) << outcome.err;
    EXPECT_FALSE(exists(path("ran")));
    EXPECT_FALSE(exists(trace()));
  }
}

TEST_F(UserEvents, AProbeFileWithoutTheFamilyIsWrongUsage) {
  record({"touch", path("ran")}, {"--probe", installed("user_events"), "--filter", "sched"}, 2);
  EXPECT_FALSE(exists(path("ran")));
}

TEST_F(UserEvents, EveryNumberShowsInParaver) {
  record({installed("user_events"), "7"});
  const Outcome outcome = run({.argv = {ovnitrace(), "convert", trace()}});
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  const Prv thread = read_prv(trace(), "thread"), cpu = read_prv(trace(), "cpu");
  expect_sound(thread, cpu);
  for (const Prv *prv : {&thread, &cpu}) {
    std::set<uint32_t> seen;
    for (const PrvEvent &event : prv->events)
      seen.insert(event.type);
    for (uint32_t type = 300; type <= 316; type++)
      EXPECT_TRUE(seen.contains(type)) << type;
  }
}

TEST_F(UserEvents, ADisabledProcessIsSilent) {
  const Outcome outcome = record({installed("user_events"), "switch", "7"});
  expect_in_trace(read_logged(outcome.out), trace());
  const std::vector<DumpEvent> events = dump(trace());
  EXPECT_EQ(par2_of(only(events, "user_event_1")), (std::vector<std::string>{"1", "4", "5"}));
  const auto disabled = only(events, "EXT_disable"), enabled = only(events, "EXT_enable");
  ASSERT_EQ(disabled.size(), 1u);
  ASSERT_EQ(enabled.size(), 1u);
  EXPECT_EQ(disabled[0].tid, enabled[0].tid);
  EXPECT_EQ(disabled[0].comm, "user_events");
  ASSERT_EQ(run({.argv = {ovnitrace(), "convert", trace()}}).status(), 0);
  std::vector<int64_t> shown;
  for (const PrvEvent &event : read_prv(trace(), "thread").events)
    if (event.type == 13)
      shown.push_back(event.value);
  EXPECT_NE(std::find(shown.begin(), shown.end(), 1), shown.end());
  EXPECT_NE(std::find(shown.begin(), shown.end(), 2), shown.end());
}

TEST_F(UserEvents, AProgramThatIsExecutedBeginsEnabled) {
  const std::string program = installed("user_events");
  const Outcome outcome =
      record({"sh", "-c", program + " disable && exec " + program + " 1"}, {"--probe", program});
  expect_in_trace(read_logged(outcome.out), trace());
}

TEST_F(UserEvents, AProcessWithThePidOfADisabledOneBeginsEnabled) {
  const std::string program = installed("user_events");
  const Outcome outcome =
      record({installed("tid_reuse"), program, "disable", "1"}, {"--probe", program});
  EXPECT_EQ(only(dump(trace()), "EXT_disable").size(), 1u);
  expect_in_trace(read_logged(outcome.out), trace());
}

TEST_F(UserEvents, EventsOtherThanTheProgramsOwnAreRefused) {
  const Outcome outcome = record({installed("user_events"), "codes"});
  std::multiset<std::string> seen, expected = {"ipoint", "ipoint", "data_pointer"};
  for (int n = 0; n <= 14; n++)
    expected.insert("user_event_" + std::to_string(n));
  for (const DumpEvent &event : dump(trace()))
    if (event.detail("par1").starts_with("424"))
      seen.insert(event.event);
  EXPECT_EQ(seen, expected);
  EXPECT_NE(outcome.err.find("may not log events with these codes"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(refused(), 754u) << "of 772; 18 are in the trace";
  EXPECT_EQ(run({.argv = {ovnitrace(), "convert", "--lint", trace()}}).status(), 0);
}

TEST_F(UserEvents, AProgramCanFilterAFamilyForATime) {
  record({installed("user_events"), "filter", "0xf3", "1", "0xf3", "0", "0xf9", "1", "0xf9", "0"},
         {"--filter", "+irq"});
  int filtered = 0, interrupts[2] = {0, 0};
  std::vector<std::string> reported;
  const std::vector<DumpEvent> events = dump(trace());
  for (const DumpEvent &event : events) {
    if (event.event.starts_with("filter_")) {
      reported.push_back(event.event + " " + event.detail("status"));
      if (event.event == "filter_interrupt")
        filtered = event.detail("status") == "1";
    }
    interrupts[filtered] += event.event == "interrupt_start" || event.event == "interrupt_end";
  }
  EXPECT_EQ(reported, (std::vector<std::string>{"filter_interrupt 1", "filter_interrupt 0",
                                                "filter_user 1", "filter_user 0"}));
  EXPECT_GT(interrupts[0], 0);
  EXPECT_EQ(interrupts[1], 0);
  EXPECT_EQ(par2_of(only(events, "user_event_2")), (std::vector<std::string>{"0", "1", "3"}));
}

TEST_F(UserEvents, TheLibraryFiltersAFamilyAlsoWhileItsTracingIsDisabled) {
  record({installed("library_events_static"), "filters"}, {"--filter", "+irq"});
  bool filtered = false;
  int interrupts[2] = {0, 0};
  std::vector<std::string> filters;
  for (const DumpEvent &event : dump(trace())) {
    if (event.event == "filter_interrupt") {
      filters.push_back(event.detail("status"));
      filtered = filters.back() == "1";
    }
    interrupts[filtered] += event.event == "interrupt_start" || event.event == "interrupt_end";
  }
  EXPECT_EQ(filters, (std::vector<std::string>{"1", "0"}));
  EXPECT_GT(interrupts[false], 0);
  EXPECT_EQ(interrupts[true], 0);
}

// A user who runs programs must not be able to hide events from another user's capture.
TEST_F(UserEvents, OnlyTheOwnerOfACaptureAndItsProgramCanFilter) {
  const std::string program = installed("user_events");
  const std::string filter = program + " filter 0xf3 1";
  const std::string as_nobody =
      "setpriv --reuid=" + std::to_string(nobody_uid()) + " --clear-groups sh -c '" + filter + "'";
  // The same in a user namespace in which the uid of nobody is mapped to root.
  const std::string as_false_root = "setpriv --reuid=" + std::to_string(nobody_uid()) +
                                    " --clear-groups unshare -r sh -c '" + filter + "'";
  const auto filters = [&] {
    size_t count = 0;
    for (const DumpEvent &event : dump(trace()))
      count += event.event == "filter_interrupt";
    return count;
  };
  const auto capture_beside = [&](const std::string &script) {
    Process tracer(
        record_command(trace(), {}, {"-f", "-a", "--filter", "+irq", "--probe", program}));
    EXPECT_TRUE(eventually([&] { return tracer.err().find("tracing every") != std::string::npos; },
                           "the capture starts"));
    run({.argv = {"sh", "-c", script}});
    tracer.signal(SIGINT);
    EXPECT_EQ(tracer.wait().status(), 0);
    return filters();
  };
  EXPECT_EQ(capture_beside(filter), 1u) << "root records, and root's programs may";
  EXPECT_EQ(capture_beside(as_nobody), 0u);
  EXPECT_EQ(capture_beside(as_false_root), 0u);
  record({"sh", "-c", as_nobody}, {"-f", "-a", "--filter", "+irq", "--probe", program});
  EXPECT_EQ(filters(), 1u) << "the program that was started here may, as any user";
}

TEST_F(UserEvents, AProgramCannotFilterTheSchedulerNorAddAFamily) {
  record({installed("user_events"), "filter", "0xf2", "1", "0xf3", "0", "0xf7", "1", "0xf0", "1",
          "0xf9", "7"});
  const std::vector<DumpEvent> events = dump(trace());
  EXPECT_EQ(refused(), 5u);
  for (const DumpEvent &event : events) {
    EXPECT_FALSE(event.event.starts_with("filter_")) << event.event;
    EXPECT_FALSE(event.event.starts_with("interrupt_")) << event.event;
  }
  EXPECT_EQ(only(events, "user_event_2").size(), 5u);
  const auto last = only(events, "user_event_2").back();
  EXPECT_TRUE(std::any_of(events.begin(), events.end(), [&](const DumpEvent &event) {
    return event.leaves_cpu() && event.time > last.time;
  })) << "the scheduler is captured to the end";
}

// Families that the manual does not have have no filter codes.
TEST_F(UserEvents, AProgramCannotFilterAFamilyOfOvnitrace) {
  record({installed("user_events"), "filter", "0xfe", "1", "0xfb", "1"},
         {"--filter", "+power,+timer"});
  EXPECT_EQ(refused(), 1u);
  std::vector<std::string> filters;
  for (const DumpEvent &event : dump(trace()))
    if (event.event.starts_with("filter_"))
      filters.push_back(event.event + " " + event.detail("status"));
  EXPECT_EQ(filters, std::vector<std::string>{"filter_timer 1"});
}

TEST_F(UserEvents, TheFilterLeavesThemOut) {
  const Outcome outcome = record({installed("user_events"), "7"}, {"--filter", "sched"});
  ASSERT_FALSE(read_logged(outcome.out).empty());
  for (const DumpEvent &event : dump(trace()))
    EXPECT_TRUE(event.detail("par1").empty()) << event.event;
}

TEST_F(UserEvents, AnUntracedProcessIsNotRecorded) {
  Process other({.argv = {installed("user_events"), "until", path("end")}});
  const Outcome outcome = record({installed("user_events"), "7"});
  EXPECT_TRUE(other.running());
  write_text(path("end"), "");
  EXPECT_GT(number_after(other.wait().out, "logged "), 0u);
  expect_in_trace(read_logged(outcome.out), trace());
  for (const DumpEvent &event : dump(trace()))
    EXPECT_NE(event.detail("par1"), "777");
}

// To attach and detach a file takes a while, and ovnitrace handles no signal meanwhile.
TEST_F(UserEvents, OnlySomeOfManyProbedFilesAreWatched) {
  std::string preload;
  for (int n = 0; n < 20; n++) {
    const std::string copy = path("lib" + std::to_string(n) + ".so");
    write_text(copy, read_text(installed("libovnitrace.so.0")));
    preload += copy + " ";
  }
  Process program({.argv = {"sleep", "1000"}, .env = {{"LD_PRELOAD", preload}}});
  ASSERT_TRUE(eventually(
      [&] {
        return read_text("/proc/" + std::to_string(program.pid()) + "/maps").find("lib19.so") !=
               std::string::npos;
      },
      "the libraries are mapped"));
  const Outcome outcome =
      run(record_command(trace(), {}, {"-p", std::to_string(program.pid()), "-d", "10ms"}));
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  EXPECT_NE(outcome.err.find("user events of 4 more files are not recorded"), std::string::npos)
      << outcome.err;
}

TEST_F(UserEvents, ARunningProcessIsRecorded) {
  Process program({.argv = {installed("user_events"), "until", path("end")}});
  Process tracer(record_command(trace(), {}, {"-p", std::to_string(program.pid())}));
  ASSERT_TRUE(eventually([&] { return exists(trace() + "/trace.json"); }, "the capture begins"));
  ASSERT_TRUE(blocked(program.pid(), blocks_of(program.pid()) + 100)) << "after each event";
  tracer.signal(SIGINT);
  const Outcome outcome = tracer.wait();
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  write_text(path("end"), "");
  program.wait();
  const std::vector<DumpEvent> events = only(dump(trace()), "user_event_0");
  ASSERT_GT(events.size(), 1u);
  for (size_t n = 1; n < events.size(); n++) // none lost
    EXPECT_EQ(std::stoul(events[n].detail("par2")), std::stoul(events[n - 1].detail("par2")) + 1);
}

TEST_F(UserEvents, AProgramWithoutThemPaysNothing) {
  std::set<size_t> programs;
  for (const std::string families : {"sched", "sched,user"}) {
    const std::string where = path(families);
    Process tracer(record_command(where, {"sleep", "1000"}, {"--filter", families}));
    ASSERT_TRUE(eventually([&] { return exists(where + "/trace.json"); }, "the capture begins"));
    programs.insert(bpf_programs_of(tracer.pid()).size());
    tracer.signal(SIGTERM);
    tracer.wait();
  }
  EXPECT_EQ(programs.size(), 1u) << "the second BPF object is not loaded";
}

} // namespace ovnitrace::test
