// SPDX-License-Identifier: BSD-2-Clause
// Which thread has the CPU for which a traced thread waits. A capture of one process names the same
// threads as a capture of the whole machine at the same time.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/regions.h"
#include "tests/e2e/support/trace.h"

#include <nlohmann/json.hpp>

#include <sched.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

namespace ovnitrace::test {

using nlohmann::json;

namespace {

/// How long one thread waited, by the tid of the holder; kUnknown: the trace does not say.
using Holders = std::map<int64_t, int64_t>;
constexpr int64_t kUnknown = -1;

int64_t sum_of(const Holders &holders) {
  int64_t sum = 0;
  for (const auto &[tid, ns] : holders)
    sum += ns;
  return sum;
}

json trace_json(const std::string &trace) {
  return json::parse(read_text(trace + "/trace.json"));
}

/// Writes out holders for a message.
std::string text_of(const Holders &holders) {
  std::string text;
  for (const auto &[tid, ns] : holders)
    text +=
        (tid == kUnknown ? "unknown" : std::to_string(tid)) + " " + std::to_string(ns) + " ns, ";
  return text;
}

} // namespace

class HoldersOf : public CaptureTest {
protected:
  /// Returns the holders while a thread waited, from `from` to `to` on the machine's clock, in ns.
  Holders holders(const std::string &trace, pid_t tid, uint64_t from, uint64_t to) {
    const uint64_t begin = trace_json(trace)["begin_ns"];
    const Outcome outcome = run(
        {.argv = {ovnitrace(), "why", trace, "--json", "--tid", std::to_string(tid), "--from",
                  std::to_string(from - begin) + "ns", "--to", std::to_string(to - begin) + "ns"}});
    EXPECT_EQ(outcome.status(), 0) << outcome.err;
    const json why = json::parse(outcome.out);
    Holders found;
    for (const json &thread : why["threads"])
      for (const json &wait : thread["waiting"])
        found[wait["holder_tid"].is_null() ? kUnknown : wait["holder_tid"].get<int64_t>()] +=
            wait["ns"].get<int64_t>();
    return found;
  }

  /// Captures the machine and one process that waits, at the same time. Adds to `disagreement` what
  /// the two traces do not agree on.
  void compare(int attempt, std::string *disagreement);
};

void HoldersOf::compare(int attempt, std::string *disagreement) {
  Process hog({.argv = {"taskset", "-c", "0", "sh", "-c", "while :; do :; done"}});
  Process pair({.argv = {"taskset", "-c", "0", installed("pingpong"), "--cpus", "0", "10000000"}});
  Process victim({.argv = {"taskset", "-c", "0", installed("spin"), "1000000"}});
  const std::string whole = path("whole" + std::to_string(attempt)),
                    one = path("one" + std::to_string(attempt));
  Process of_all(record_command(whole, {}, {"-a"}));
  Process of_one(record_command(one, {}, {"-p", std::to_string(victim.pid())}));
  ASSERT_TRUE(
      eventually([&] { return exists(whole + "/trace.json") && exists(one + "/trace.json"); },
                 "both captures begin"));
  const auto waited_ns = [&] { // the second number: runnable, but not running
    uint64_t ran = 0, waited = 0;
    std::istringstream(read_text("/proc/" + std::to_string(victim.pid()) + "/schedstat")) >> ran >>
        waited;
    return waited;
  };
  const uint64_t before = waited_ns();
  ASSERT_TRUE(eventually([&] { return waited_ns() > before + 1'000'000'000; },
                         "the victim has waited for a second"));
  for (Process *tracer : {&of_one, &of_all}) {
    tracer->signal(SIGINT);
    const Outcome outcome = tracer->wait();
    if (outcome.status() != 0)
      *disagreement += outcome.err;
  }
  const json a = trace_json(whole), b = trace_json(one);
  EXPECT_EQ(b.value("cpu_holders", false), true);
  EXPECT_FALSE(a.contains("cpu_holders")) << "every thread is recorded there";
  const auto time = [](const json &trace, const char *name) { return trace[name].get<uint64_t>(); };
  const uint64_t from = std::max(time(a, "begin_ns"), time(b, "begin_ns")),
                 to = std::min(time(a, "end_ns"), time(b, "end_ns"));
  const Holders truth = holders(whole, victim.pid(), from, to),
                found = holders(one, victim.pid(), from, to);
  const int64_t waited = sum_of(truth);
  ASSERT_GT(waited, 0);
  EXPECT_GT(truth.count(hog.pid()), 0u) << "both spin on one CPU";
  int64_t wrong = std::abs(sum_of(found) - waited);
  for (const auto &[tid, ns] : found)
    if (tid != kUnknown)
      wrong += std::max<int64_t>(0, ns - (truth.contains(tid) ? truth.at(tid) : 0));
  if (wrong >= waited / 50)
    *disagreement += std::to_string(wrong) + " ns are charged to whom they are not of\n";
  if (found.contains(kUnknown) && found.at(kUnknown) >= waited / 10)
    *disagreement += "too much is unknown for what the start of a capture does not say\n";
  if (!disagreement->empty())
    *disagreement += "whole machine: " + text_of(truth) + "one process: " + text_of(found);
}

// The hypervisor can take the CPU away between the clock readings of the two captures, for longer
// than any tolerance. A fault of ovnitrace would show in every attempt.
TEST_F(HoldersOf, AProcessAgreeWithACaptureOfTheMachine) {
  std::string disagreement;
  for (int attempt = 0; attempt < 3; attempt++) {
    disagreement.clear();
    compare(attempt, &disagreement);
    if (disagreement.empty() || HasFailure())
      return;
  }
  ADD_FAILURE() << "in each of three attempts; in the last:\n" << disagreement;
}

// No record of a switch names the next thread there.
TEST_F(HoldersOf, ACpuAreKnownWhenAThreadEnds) {
  Process hog({.argv = {"taskset", "-c", "0", "sh", "-c", "while :; do :; done"}});
  record({"taskset", "-c", "0", installed("many_threads"), "100"});
  std::map<std::pair<int, uint64_t>, int> next; // by CPU and time: who gets the CPU, as records say
  std::vector<std::pair<int, uint64_t>> ends;
  for (const DumpEvent &event : dump(trace())) {
    const std::pair at(event.cpu, event.time);
    next[at] += event.takes_cpu() || event.event == "EXT_holder";
    if (event.event == "task_end")
      ends.push_back(at);
  }
  EXPECT_EQ(ends.size(), 101u);
  for (const auto &at : ends)
    EXPECT_EQ(next[at], 1) << "at " << at.second;
}

// No dispatch of such a thread is recorded.
TEST_F(HoldersOf, AProcessHaveTheirClass) {
  Process victim({.argv = {"taskset", "-c", "0", installed("spin"), "1000000"}});
  const std::string work = "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; sleep 0.01";
  Process burst({.argv = {"taskset", "-c", "0", "sh", "-c", "while :; do " + work + "; done"}});
  const sched_param priority = {.sched_priority = 10};
  if (sched_setscheduler(burst.pid(), SCHED_FIFO, &priority) != 0)
    GTEST_SKIP() << "SCHED_FIFO is not allowed here";
  const std::string tid = std::to_string(victim.pid());
  const Outcome outcome =
      run({.argv = {ovnitrace(), "record", "-q", "-d", "1", "-p", tid, "-o", trace()}});
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  std::set<std::string> classes;
  for (const DumpEvent &event : dump(trace()))
    for (const char *who : {"holder", "next"})
      if (event.detail(who).ends_with("(" + std::to_string(burst.pid()) + ")"))
        classes.insert(event.detail("class"));
  EXPECT_EQ(classes, std::set<std::string>{"real_time"});
  const Outcome why = run({.argv = {ovnitrace(), "why", trace(), "--json"}});
  const std::string advice = json::parse(why.out)["answer"]["advice"];
  if (advice.find("(" + std::to_string(burst.pid()) + ")") != advice.npos) {
    EXPECT_EQ(advice.find("nice"), advice.npos) << advice;
  }
}

// The thread or the idle task on a CPU may have run since before the capture. No switch names it.
TEST_F(HoldersOf, ACpuAreKnownBeforeItsFirstSwitch) {
  for (int attempt = 0; attempt < 20; attempt++) {
    std::filesystem::remove_all(trace());
    record({"true"});
    std::string before;
    for (const DumpEvent &event : dump(trace())) {
      if (event.event == "task_activate")
        break;
      before = event.event;
    }
    EXPECT_EQ(before, "EXT_holder") << "the first wait";
  }
}

class HoldersIn : public RegionTest {};

// The victim shares its CPU with others that switch all the time, so it mostly waits when a region
// ends.
TEST_F(HoldersIn, RegionsEndWithThem) {
  Process hog({.argv = {"taskset", "-c", "0", "sh", "-c", "while :; do :; done"}});
  Process pair({.argv = {"taskset", "-c", "0", installed("pingpong"), "--cpus", "0", "10000000"}});
  Process victim({.argv = {"taskset", "-c", "0", installed("spin"), "1000000"}});
  Process capture(record_command(trace(), {},
                                 {"-p", std::to_string(victim.pid()), "--control",
                                  "start:interactive,stop:interactive,repeat"}));
  const auto ctl = [&](const std::string &what) {
    return run({.argv = {ovnitrace(), "ctl", trace(), what}}).status() == 0;
  };
  eventually([&] { return ctl("status"); }, "the capture listens");
  for (int n = 0; n < 8; n++) {
    EXPECT_TRUE(ctl("start"));
    EXPECT_TRUE(ctl("stop"));
  }
  capture.signal(SIGINT);
  read(capture.wait());
  EXPECT_EQ(regions().size(), 8u);
  expect_events_in_regions();
}

class HoldersAfter : public CaptureTest {};

// A filter and a switch that change at once what is known of a thread's wait count it once.
TEST_F(HoldersAfter, TheLastWaitAreNotRecorded) {
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
    GTEST_SKIP() << "needs two CPUs";
  record({installed("renamed_waiters"), "150000"}, {"--comm", "odd", "--buffer", "cyc:1M"});
  size_t after = 0;
  for (const DumpEvent &event : dump(trace()))
    after = event.comm == "odd" ? 0 : after + (event.event == "EXT_holder");
  EXPECT_LT(after, 20u) << "no thread that is recorded waits";
}

} // namespace ovnitrace::test
