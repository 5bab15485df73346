// SPDX-License-Identifier: BSD-2-Clause
// Alarms that need a tracer: icount, uniform, int3. The program must behave as without a tracer.
#include "tests/e2e/support/regions.h"

#include <algorithm>
#include <csignal>
#include <map>
#include <optional>

namespace ovnitrace::test {

class ControlStep : public RegionTest {
protected:
  void SetUp() override {
    RegionTest::SetUp();
    if (!IsSkipped())
      skip_if_impossible({"start:icount:5"});
  }
};

/// The place of the program after so many instructions is known: before a marker or after it.
TEST_F(ControlStep, InstructionsAreCountedToTheLast) {
  constexpr int kRounds = 50, kBetween = 2 * kRounds + 3 + 7;
  const std::map<int, std::vector<std::string>> kOrder = {
      {kBetween, {"icount/1/2", "ssc/2/1", "ssc/3/1"}},
      {kBetween + 1, {"ssc/2/1", "icount/1/2", "ssc/3/1"}},
      {kBetween + 2, {"ssc/2/1", "icount/1/2", "ssc/3/1"}},
      {kBetween + 3, {"ssc/2/1", "ssc/3/1", "icount/1/2"}},
  };
  for (const auto &[count, order] : kOrder) {
    SCOPED_TRACE(count);
    remove_trace();
    capture({"precond:ssc:100,threadid:icount:" + std::to_string(count), "threadid:ssc:101",
             "threadid:ssc:102"},
            {"count=" + std::to_string(kRounds)});
    EXPECT_EQ(alarms(), order);
  }
}

TEST_F(ControlStep, EachThreadCountsItsOwn) {
  capture({"precond:ssc:100,threadid:icount:30", "threadid:ssc:101"}, {"threads=8:count=10"});
  std::map<uint32_t, std::string> order;
  for (const DumpEvent &event : events_)
    if (event.event == "EXT_region" && event.detail("event") == "threadid")
      order[event.tid] += event.detail("alarm") + " ";
  EXPECT_EQ(order.size(), 8u);
  for (const auto &[tid, alarms] : order)
    EXPECT_EQ(alarms, "icount ssc ") << tid;
}

TEST_F(ControlStep, InstructionsOfOneThreadOrOfAllAreCounted) {
  capture({"precond:ssc:100,threadid:icount:30:tid0"}, {"threads=2:count=10", "count=10"});
  EXPECT_EQ(alarms(), std::vector<std::string>{"icount/1/2"});
  remove_trace();
  capture({"precond:enter_func:bar:bcast,threadid:icount:2000:global"},
          {"bar", "threads=1:foo", "threads=1:foo"});
  EXPECT_EQ(alarms(), std::vector<std::string>{"icount/1/2"});
}

TEST_F(ControlStep, SkipAndLengthCountInstructions) { // of the seed
  capture({"start:icount:10000,stop:icount:1000"}, {"foo"});
  const std::vector<Region> all = regions();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].started_by, "icount");
  EXPECT_EQ(all[0].stopped_by, "icount");
  expect_events_in_regions();
}

TEST_F(ControlStep, SamplesStartAtEqualDistances) { // of the seed
  for (const std::string before : {"precond:icount:200", "precond:ssc:100"}) {
    remove_trace();
    capture({before + ",uniform:800:500:5"}, {"count=3000", "foo"});
    const std::vector<Region> all = regions();
    ASSERT_EQ(all.size(), 5u) << before;
    EXPECT_LT(all[4].stop, mark("foo"));
    expect_events_in_regions();
  }
}

TEST_F(ControlStep, AnInt3IsAnAlarmAndNoTrap) {
  capture({"start:int3,stop:int3:count2,repeat"},
          {"foo", "int3", "bar", "int3", "boo", "int3", "foo", "int3", "int3", "int3", "wait=1"});
  const std::vector<Region> all = regions();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_GT(all[0].start, mark("foo"));
  EXPECT_LT(all[0].start, mark("int3", 0));
  EXPECT_GT(all[0].stop, mark("boo"));
  EXPECT_LT(all[0].stop, mark("int3", 2));
  EXPECT_GT(all[1].start, mark("foo", 1));
  EXPECT_EQ(all[0].started_by, "int3");
  expect_events_in_regions();
}

TEST_F(ControlStep, SignalsReachTheProgramAsWithoutIt) {
  for (const std::string event : {"icount:1000000000", "int3"}) {
    remove_trace();
    capture({"precond:enter_func:foo,start:" + event}, {"foo", "signals", "fork=signals"});
    EXPECT_EQ(std::count_if(marks_.begin(), marks_.end(),
                            [](const Mark &mark) { return mark.name == "signals"; }),
              2)
        << event;
  }
}

/// Tests trace a program that works already, with -p.
class ControlStepAttached : public ControlStep {
protected:
  /// Starts `regions` with an argument, and waits until so many of its threads work. They do until
  /// the file `go` exists.
  void start(const std::string &work, size_t threads) {
    program_.emplace(Command{.argv = {installed("regions"), work + "spin=" + path("go")}});
    eventually([&] { return lines_of(program_->out()).size() == threads; }, "they work");
  }
  /// Returns the value of a line of /proc/PID/status.
  std::string status(const std::string &key) const {
    const std::string text = read_text("/proc/" + std::to_string(program_->pid()) + "/status");
    const size_t at = text.find(key + ":");
    return at == text.npos
               ? ""
               : text.substr(at + key.size() + 2, text.find('\n', at) - at - key.size() - 2);
  }
  void expect_untraced_and_well() {
    eventually([&] { return status("TracerPid") == "0"; }, "it is not traced any more");
    write_text(path("go"), "");
    const Outcome outcome = program_->wait();
    EXPECT_EQ(outcome.status(), 0) << "it got a signal that was not for it";
    EXPECT_NE(outcome.out.find("spun"), std::string::npos);
  }
  std::vector<std::string> attached(const std::vector<std::string> &chains) const {
    std::vector<std::string> argv = {ovnitrace(), "-o", trace(), "-p",
                                     std::to_string(program_->pid())};
    for (const std::string &chain : chains)
      argv.insert(argv.end(), {"--control", chain});
    return argv;
  }

  std::optional<Process> program_;
};

TEST_F(ControlStepAttached, AProcessThatRunsIsCountedStoppedAndLetGo) {
  start("", 1);
  Process tracer({.argv = attached({"precond:icount:1000,start:icount:500"})});
  eventually(
      [&] {
        const Outcome ctl = run({.argv = {ovnitrace(), "ctl", trace(), "status"}});
        return ctl.out.find("in a region") != std::string::npos;
      },
      "1500 instructions");
  program_->signal(SIGSTOP);
  eventually([&] { return status("State").starts_with("t"); }, "it is stopped");
  program_->signal(SIGCONT);
  eventually([&] { return !status("State").starts_with("t"); }, "it goes on");
  tracer.signal(SIGTERM);
  read(tracer.wait());
  EXPECT_EQ(alarms(), std::vector<std::string>{"icount/1/2"});
  expect_untraced_and_well();
}

/// There are more threads than CPUs, so one thread has always just stopped. All go on, and
/// ovnitrace ends.
TEST_F(ControlStepAttached, ThreadsThatAllWorkAreAllCounted) {
  constexpr size_t kThreads = 8;
  start("threads=" + std::to_string(kThreads) + ":", kThreads);
  std::vector<std::string> argv = attached({"start:icount:2000"});
  argv.insert(argv.end(), {"--region", "thread"});
  Process tracer({.argv = argv});
  eventually(
      [&] {
        const Outcome ctl = run({.argv = {ovnitrace(), "ctl", trace(), "status"}});
        size_t in_a_region = 0;
        for (const std::string &line : lines_of(ctl.out))
          in_a_region += line.find("in a region") != line.npos;
        return in_a_region == kThreads;
      },
      "2000 instructions of each");
  tracer.signal(SIGTERM);
  EXPECT_EQ(tracer.wait().status(), 0);
  write_text(path("go"), "");
  EXPECT_EQ(program_->wait().status(), 0);
}

/// If ovnitrace left a thread between two instructions, the trap of the second would kill it.
TEST_F(ControlStepAttached, KillingOvnitraceKillsNoProgram) {
  start("", 1);
  Process tracer({.argv = attached({"start:icount:1000000000000"})});
  eventually([&] { return status("TracerPid") != "0"; }, "it is traced");
  tracer.signal(SIGKILL);
  EXPECT_EQ(tracer.wait().status(), 128 + SIGKILL);
  expect_untraced_and_well();
}

TEST_F(ControlStepAttached, AProcessThatADebuggerHasIsRefused) {
  start("", 1);
  Process first({.argv = attached({"start:int3"})});
  eventually([&] { return status("TracerPid") != "0"; }, "it is traced");
  std::vector<std::string> argv = attached({"start:icount:5"});
  argv[2] = path("second");
  const Outcome second = run({.argv = argv});
  EXPECT_EQ(second.status(), 1);
  EXPECT_NE(second.err.find("debugger"), std::string::npos) << second.err;
  first.signal(SIGTERM);
  first.wait();
  expect_untraced_and_well();
}

} // namespace ovnitrace::test
