// SPDX-License-Identifier: BSD-2-Clause
// perf at the same moment sees the same switches, at the same times and in the same order.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/trace.h"

namespace ovnitrace::test {

namespace {

/// A thread gets or leaves a CPU.
struct Switch {
  int cpu;
  bool in;
  bool operator==(const Switch &) const = default;
};
using Switches = std::map<uint32_t, std::vector<Switch>>; // by tid

/// Reads `perf script` of sched:sched_switch. If the thread that leaves a CPU is not the one that
/// took it last, the kernel hid a switch from perf: some kernels hide certain threads. The thread
/// that leaves must have taken the CPU before.
Switches switches_of_perf(const std::string &text) {
  Switches switches;
  std::map<int, uint64_t> runs; // by CPU
  for (const std::string &line : lines_of(text)) {
    const size_t bracket = line.find('[');
    if (bracket == std::string::npos || line.find("prev_pid=") == std::string::npos)
      continue;
    const int cpu = atoi(line.c_str() + bracket + 1);
    const uint64_t prev = number_after(line, "prev_pid="), next = number_after(line, "next_pid=");
    if (runs.contains(cpu) && runs[cpu] != prev)
      switches[uint32_t(prev)].push_back({cpu, true});
    switches[uint32_t(prev)].push_back({cpu, false});
    switches[uint32_t(next)].push_back({cpu, true});
    runs[cpu] = next;
  }
  return switches;
}

Switches switches_of(const std::vector<DumpEvent> &events) {
  Switches switches;
  for (const DumpEvent &event : events)
    if (event.takes_cpu() || event.leaves_cpu())
      switches[event.tid].push_back({event.cpu, event.takes_cpu()});
  return switches;
}

} // namespace

class Perf : public CaptureTest {};

TEST_F(Perf, SeesTheSameSwitches) {
  if (run({.argv = {"sh", "-c", "command -v perf"}}).status() != 0)
    GTEST_SKIP() << "perf (linux-perf) is not installed";
  Command command = record_command(trace(), {installed("sched_mix"), "0.5"}, {"-q"});
  command.argv.insert(command.argv.begin(),
                      {"perf", "record", "-q", "-m", "16M", "-a", "-k", "CLOCK_MONOTONIC", "-e",
                       "sched:sched_switch", "-o", path("perf.data"), "--"});
  const Outcome recorded = run(command);
  if (recorded.status() != 0 && !exists(trace() + "/trace.json"))
    GTEST_SKIP() << "perf cannot record here: " << recorded.err;
  ASSERT_EQ(recorded.status(), 0) << recorded.err;
  const Outcome script = run({.argv = {"perf", "script", "-i", path("perf.data"), "--ns", "-F",
                                       "comm,tid,cpu,time,event,trace"}});
  ASSERT_EQ(script.status(), 0) << script.err;

  // perf started before and ended after the capture, so it has all switches of the program's
  // threads.
  Switches theirs = switches_of_perf(script.out), ours = switches_of(dump(trace()));
  EXPECT_GE(ours.size(), 15u);
  for (const auto &[tid, switches] : ours)
    EXPECT_TRUE(switches == theirs[tid])
        << "thread " << tid << ": " << switches.size() << " against " << theirs[tid].size();
}

} // namespace ovnitrace::test
