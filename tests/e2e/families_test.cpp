// SPDX-License-Identifier: BSD-2-Clause
// Families beyond the scheduler's, in real captures.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/prv.h"
#include "tests/e2e/support/trace.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

namespace ovnitrace::test {

namespace {

size_t count(const std::vector<DumpEvent> &events, const std::string &name,
             const std::string &key = "", const std::string &value = "") {
  return size_t(std::count_if(events.begin(), events.end(), [&](const DumpEvent &event) {
    return event.event == name && (key.empty() || event.detail(key) == value);
  }));
}

std::vector<std::string> kinds(const std::vector<DumpEvent> &events) {
  std::vector<std::string> all;
  for (const DumpEvent &event : events)
    if (std::find(all.begin(), all.end(), event.event) == all.end())
      all.push_back(event.event);
  return all;
}

bool is_scheduler(const std::string &event) {
  return event.starts_with("task_") ||
         (event.starts_with("EXT_") && !event.starts_with("EXT_idle")) ||
         event.starts_with("trace_");
}

} // namespace

class Families : public CaptureTest {};

TEST_F(Families, AreOffByDefault) {
  record({installed("families")});
  for (const std::string &kind : kinds(dump(trace())))
    EXPECT_TRUE(is_scheduler(kind)) << kind;
}

TEST_F(Families, OnlyChosenFamiliesAreRecorded) {
  record({installed("families")}, {"--filter", "signal"});
  const std::vector<DumpEvent> events = dump(trace());
  EXPECT_GT(count(events, "signal"), 0u);
  EXPECT_EQ(count(events, "task_dispatch") + count(events, "task_sleep") +
                count(events, "task_activate"),
            0u);
  EXPECT_EQ(count(events, "interrupt_start"), 0u);
  EXPECT_EQ(count(events, "blackout_start"), 0u) << "nothing was lost";
}

// Otherwise the states at the start would last for ever.
TEST_F(Families, NoStateIsKnownWithoutSwitches) {
  record({"sleep", "0.1"}, {"-a", "--filter", "irq"});
  const std::vector<DumpEvent> events = dump(trace());
  EXPECT_GT(count(events, "EXT_snapshot"), 0u);
  EXPECT_EQ(count(events, "EXT_snapshot", "state", "unknown"), count(events, "EXT_snapshot"));
}

TEST_F(Families, EachSignalIsSentAndTaken) {
  record({installed("families")}, {"--filter", "+signal"});
  const std::vector<DumpEvent> events = dump(trace());
  std::vector<DumpEvent> sent, taken;
  for (const DumpEvent &event : events)
    if (event.event == "signal" && event.detail("signal") == "USR1")
      (event.detail("taken") == "1" ? taken : sent).push_back(event);
  ASSERT_EQ(sent.size(), 20u);
  ASSERT_EQ(taken.size(), 20u);
  uint32_t main = 0;
  for (const ThreadRecord &thread : read_trace_json(trace()).threads)
    if (thread.tid == thread.pid)
      main = thread.tid;
  for (size_t n = 0; n < 20; n++) {
    EXPECT_EQ(tid_of(sent[n].detail("sender")), main);
    EXPECT_NE(sent[n].tid, main);
    EXPECT_EQ(taken[n].tid, sent[n].tid);
    EXPECT_LT(sent[n].time, taken[n].time);
    if (n > 0) {
      EXPECT_LT(taken[n - 1].time, sent[n].time);
    }
  }
  EXPECT_EQ(count(events, "signal", "signal", "ALRM"), 2u);
  EXPECT_EQ(count(events, "signal", "sender", "kernel(0)"), 1u)
      << "the timer's comes from the kernel";
}

// "An interrupt hits a traced thread": the thread that its record names is the one that the
// scheduler's events say runs on that CPU. Some kernels raise no event for a switch from certain
// threads; then a capture says nothing of it.
TEST_F(Families, AnInterruptHitsTheThreadThatRunsThere) {
  std::string wrong;
  for (int attempt = 0; attempt < 5; attempt++) {
    record({installed("families")}, {"-f", "--filter", "+irq"});
    wrong.clear();
    std::map<int, uint32_t> running;
    std::map<int, int> depth;
    size_t seen = 0;
    for (const DumpEvent &event : dump(trace())) {
      if (event.takes_cpu())
        running[event.cpu] = event.tid;
      else if (event.leaves_cpu())
        running[event.cpu] = 0;
      bool starts = event.event == "interrupt_start", ends = event.event == "interrupt_end";
      if (!starts && !ends)
        continue;
      seen++;
      if (tid_of(event.detail("interrupted")) != running[event.cpu])
        wrong += " " + std::to_string(event.time);
      depth[event.cpu] += starts ? 1 : -1;
      EXPECT_GE(depth[event.cpu], -1) << "one may have begun before the capture";
      EXPECT_LE(depth[event.cpu], 4);
    }
    EXPECT_GT(seen, 10u) << "0.2 s of CPU time without interrupts?";
    if (wrong.empty())
      return;
  }
  ADD_FAILURE() << "in each of five captures; in the last, at" << wrong;
}

TEST_F(Families, ShowInParaver) {
  record({installed("families")}, {"--filter", "all"});
  Command convert{.argv = {ovnitrace(), "convert", trace()}};
  ASSERT_EQ(Process(convert).wait().status(), 0);
  const Prv thread = read_prv(trace(), "thread"), cpu = read_prv(trace(), "cpu");
  expect_sound(thread, cpu);
  for (uint32_t type : {401, 410, 411})
    EXPECT_TRUE(thread.types.contains(type)) << type;
  EXPECT_TRUE(cpu.types.contains(400));
}

TEST_F(Families, AnUnknownNameIsRefusedBeforeAnythingRuns) {
  const Outcome outcome = record({"touch", path("ran")}, {"--filter", "irqs"}, 2);
  EXPECT_NE(outcome.err.find("signal"), std::string::npos)
      << "the families are reported: " << outcome.err;
  EXPECT_FALSE(exists(path("ran")));
}

// Compares with the kernel's own count of idle periods. A traced program reads it, and so does the
// test before and after the capture.
TEST_F(Families, IdlePeriodsEqualTheKernelsCounts) {
  const std::string count_all =
      "cat /sys/devices/system/cpu/cpu*/cpuidle/state*/usage | awk '{n += $1} END {print n}'";
  if (!exists("/sys/devices/system/cpu/cpu0/cpuidle"))
    GTEST_SKIP() << "this kernel does not count idle periods";
  const auto read_count = [&] { return std::stoull(run({.argv = {"sh", "-c", count_all}}).out); };
  const uint64_t before = read_count();
  const Outcome outcome =
      record({"sh", "-c", count_all + "; sleep 0.5; " + count_all}, {"--filter", "+power"});
  const uint64_t around = read_count() - before;
  uint64_t first = 0, last = 0;
  ASSERT_EQ(sscanf(outcome.out.c_str(), "%lu %lu", &first, &last), 2) << outcome.out;
  const size_t entered = count(dump(trace()), "EXT_idle_start");
  EXPECT_LE(entered, around);
  EXPECT_GE(entered + 2 * size_t(sysconf(_SC_NPROCESSORS_CONF)), last - first);
}

} // namespace ovnitrace::test
