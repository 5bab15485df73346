// SPDX-License-Identifier: BSD-2-Clause
// A capture agrees with the kernel's own accounting of every thread.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/trace.h"

#include <set>
#include <sstream>

namespace ovnitrace::test {

namespace {

/// Returns how much time the hypervisor has stolen on all CPUs so far, in ns. The kernel leaves it
/// out of a thread's run time (update_rq_clock_task()), and no tracer can see it. USER_HZ is 100.
uint64_t stolen_ns() {
  std::istringstream stat(read_text("/proc/stat"));
  std::string cpu;
  uint64_t value[8] = {};
  stat >> cpu;
  for (uint64_t &one : value)
    stat >> one;
  return value[7] * 10'000'000;
}

/// What the trace says of a thread up to an instant. `idle_wait` is the part of `wait` that began
/// with a wakeup on an idle CPU.
struct Account {
  uint64_t run = 0, wait = 0, idle_wait = 0, slices = 0, voluntary = 0, involuntary = 0;
  uint64_t switches() const { return voluntary + involuntary; }
};

/// The wakeups that chose an idle CPU, by tid and time.
using IdleWakeups = std::set<std::pair<uint32_t, uint64_t>>;

IdleWakeups idle_wakeups_of(const std::vector<DumpEvent> &events) {
  IdleWakeups wakeups;
  for (size_t i = 1; i < events.size(); i++) {
    const DumpEvent &holder = events[i - 1], &wakeup = events[i];
    if (wakeup.event == "task_activate" && holder.event == "EXT_holder" &&
        holder.time == wakeup.time && holder.detail("holder") == "idle(0)")
      wakeups.emplace(wakeup.tid, wakeup.time);
  }
  return wakeups;
}

/// Adds up the events of a thread that the kernel would have by `until`. Written from the meaning
/// of the events, without the emulator.
Account account_until(const std::vector<DumpEvent> &events, const IdleWakeups &idle_wakeups,
                      uint64_t until) {
  Account account;
  uint64_t since = 0;
  bool running = false, waiting = false, on_idle_cpu = false;
  for (const DumpEvent &event : events) {
    if (event.time > until)
      break;
    const uint64_t passed = event.time - since;
    if (event.takes_cpu()) {
      account.wait += waiting ? passed : 0;
      account.idle_wait += waiting && on_idle_cpu ? passed : 0;
      account.slices++;
      running = true, waiting = false;
    } else if (event.leaves_cpu()) {
      account.run += running ? passed : 0;
      (event.event == "task_epilogue" ? account.involuntary : account.voluntary)++;
      running = false, waiting = event.event == "task_epilogue", on_idle_cpu = false;
    } else if (event.event == "task_activate" && !running && !waiting) {
      waiting = true;
      on_idle_cpu = idle_wakeups.contains({event.tid, event.time});
    } else {
      continue;
    }
    since = event.time;
  }
  account.run += running ? until - since : 0;
  return account;
}

/// A line that sched_mix prints: what /proc reports of a thread between two instants.
struct Reading {
  std::string role;
  uint32_t tid = 0;
  uint64_t exec = 0, delay = 0, slices = 0, voluntary = 0, involuntary = 0, before = 0, after = 0;
};

std::vector<Reading> readings_of(const std::string &text) {
  std::vector<Reading> readings;
  for (const std::string &line : lines_of(text)) {
    if (!line.starts_with("thread "))
      continue;
    const size_t role = line.find("role=") + 5;
    readings.push_back({line.substr(role, line.find(' ', role) - role),
                        uint32_t(number_after(line, "tid=")), number_after(line, "exec="),
                        number_after(line, "delay="), number_after(line, "slices="),
                        number_after(line, " vol="), number_after(line, " invol="),
                        number_after(line, "before="), number_after(line, "after=")});
  }
  return readings;
}

/// A capture of sched_mix, which meets the scheduler in every way.
struct MixCapture {
  std::vector<Reading> readings;
  uint64_t stolen = 0;
  TraceRecord reported;
  std::vector<DumpEvent> events;
  std::map<uint32_t, std::vector<DumpEvent>> threads;
  IdleWakeups idle_wakeups;

  Account account_until(uint32_t tid, uint64_t until) const {
    return test::account_until(threads.at(tid), idle_wakeups, until);
  }
};

/// What the trace says of a thread just before and just after the kernel was asked.
struct Bracket {
  Account before, after;
};

Bracket bracket(const MixCapture &capture, const Reading &reading) {
  return {capture.account_until(reading.tid, reading.before - capture.reported.begin),
          capture.account_until(reading.tid, reading.after - capture.reported.begin)};
}

/// Threads whose times the trace and the kernel disagree on, in words.
class TimeCheck {
public:
  explicit TimeCheck(uint64_t stolen) : stolen_(stolen) {}

  /// The tolerances: 10 us for every switch, a millisecond, and 1 % of Running or 5 % of waiting.
  /// From a wakeup on an idle CPU to the thread's first instruction, the kernel may count no wait.
  /// After a wakeup that preempts, __schedule() leaves the clock as it was
  /// (rq_clock_skip_update()). A thread in the kernel can be preempted long after that wakeup.
  void compare(const std::string &who, const Account &low, const Account &high, uint64_t run,
               uint64_t wait) {
    const uint64_t allowance = 10'000 * (high.switches() + 1) + 1'000'000 + stolen_;
    compare_one(who + ": Running", low.run, high.run, run, run / 100 + allowance);
    compare_one(who + ": Warming and Cooling", low.wait - low.idle_wait, high.wait, wait,
                wait / 20 + allowance);
  }
  const std::string &disagreements() const { return text_; }

private:
  void compare_one(const std::string &what, uint64_t low, uint64_t high, uint64_t kernel,
                   uint64_t tolerance) {
    if (kernel + tolerance < low || kernel > high + tolerance)
      text_ += what + ": " + std::to_string(low) + " to " + std::to_string(high) +
               " ns in the trace, " + std::to_string(kernel) + " ns in the kernel, tolerance " +
               std::to_string(tolerance) + "\n";
  }

  uint64_t stolen_;
  std::string text_;
};

TimeCheck check_times(const MixCapture &capture) {
  TimeCheck check(capture.stolen);
  for (const Reading &reading : capture.readings) {
    const Bracket trace = bracket(capture, reading);
    check.compare(reading.role, trace.before, trace.after, reading.exec, reading.delay);
  }
  for (const ThreadRecord &thread : capture.reported.threads) {
    const Account all = capture.account_until(thread.tid, UINT64_MAX);
    if (thread.account)
      check.compare(thread.name + " at its death", all, all, thread.account->run_ns,
                    thread.account->wait_ns);
  }
  return check;
}

// sched_info_arrive() does not count if last_queued is 0. The kernel may therefore count fewer time
// slices than times at which the thread got a CPU. Its counts of switches are exact.
constexpr const char *kUncounted = "the kernel counts no slice that did not happen";

/// Threads whose counts the trace and the kernel disagree on, in words.
std::string check_counts(const MixCapture &capture) {
  std::string text;
  for (const Reading &reading : capture.readings) {
    const auto &[before, after] = bracket(capture, reading);
    const auto expect_between = [&](const char *what, uint64_t low, uint64_t high, uint64_t value) {
      if (value < low || value > high)
        text += reading.role + " " + std::to_string(reading.tid) + ": " + what + ": " +
                std::to_string(low) + " to " + std::to_string(high) + " in the trace, " +
                std::to_string(value) + " in the kernel\n";
    };
    // A thread that runs has got its CPU once more than it has left it.
    expect_between("dispatches", before.slices, after.slices,
                   reading.voluntary + reading.involuntary + 1);
    expect_between(kUncounted, 0, after.slices, reading.slices);
    expect_between("voluntary", before.voluntary, after.voluntary, reading.voluntary);
    expect_between("involuntary", before.involuntary, after.involuntary, reading.involuntary);
  }
  return text;
}

} // namespace

class Accounting : public CaptureTest {
protected:
  MixCapture capture() {
    MixCapture capture;
    const uint64_t stolen_before = stolen_ns();
    capture.readings = readings_of(record({installed("sched_mix"), "1"}, {"-f"}).out);
    capture.stolen = stolen_ns() - stolen_before;
    capture.reported = read_trace_json(trace());
    EXPECT_EQ(capture.reported.lost + capture.reported.skipped_runs, 0u)
        << "events were lost at the default sizes";
    capture.events = dump(trace());
    capture.threads = by_thread(capture.events);
    capture.idle_wakeups = idle_wakeups_of(capture.events);
    EXPECT_GE(capture.readings.size(), 17u) << "14 roles, main twice, a child at least";
    EXPECT_GE(capture.reported.threads.size(), 16u);
    return capture;
  }
};

// The kernel can hide the switch to a thread. We compute its time when the thread leaves the CPU.
// It is late by what the hypervisor took away between the kernel's reading of its clock and ours. A
// fault of ovnitrace would show in every capture.
TEST_F(Accounting, CountsTheSwitchesThatEachThreadReadsOfItself) {
  std::string disagreements;
  for (int attempt = 0; attempt < 3; attempt++) {
    disagreements = check_counts(capture());
    if (disagreements.empty())
      return;
  }
  ADD_FAILURE() << "in each of 3 captures; in the last:\n" << disagreements;
}

// The last switch of each thread counts, too.
TEST_F(Accounting, CountsTheSwitchesOfEachThreadToItsDeath) {
  const MixCapture mix = capture();
  for (const ThreadRecord &thread : mix.reported.threads) {
    SCOPED_TRACE(thread.name + " " + std::to_string(thread.tid));
    ASSERT_TRUE(thread.account) << "no account of its death";
    const Account all = mix.account_until(thread.tid, UINT64_MAX);
    EXPECT_EQ(all.slices, thread.account->voluntary + thread.account->involuntary);
    EXPECT_LE(thread.account->slices, all.slices) << kUncounted;
    EXPECT_EQ(all.voluntary, thread.account->voluntary);
    EXPECT_EQ(all.involuntary, thread.account->involuntary);
  }
}

// In one switch, the hypervisor can take the CPU away between the kernel's reading of its clock and
// ours, for longer than any tolerance. Some kernels show no wakeup by an interrupt of certain
// threads. A fault of ovnitrace would show in every capture.
TEST_F(Accounting, AgreesOnRunningAndWaitingTime) {
  std::string disagreements;
  for (int attempt = 0; attempt < 15; attempt++) {
    disagreements = check_times(capture()).disagreements();
    if (disagreements.empty())
      return;
  }
  ADD_FAILURE() << "in each of 15 captures; in the last:\n" << disagreements;
}

TEST_F(Accounting, CountsEachTransitionOnce) {
  const MixCapture mix = capture();
  EXPECT_EQ(count_transitions(mix.events), mix.reported.logged);
  EXPECT_EQ(mix.events.size(), mix.reported.events);
}

// A thread that only spins is preempted, mostly on its way back to user space. The kernel does not
// call this a preemption. Only sched_yield() yields. (The program yields once to read /proc.)
TEST_F(Accounting, ReportsPreemptionFromYield) {
  const MixCapture mix = capture();
  std::map<uint32_t, std::string> roles;
  for (const Reading &reading : mix.readings)
    roles[reading.tid] = reading.role;
  std::map<std::string, std::map<std::string, int>> epilogues; // by role, by reason
  for (const DumpEvent &event : mix.events)
    if (event.event == "task_epilogue")
      epilogues[roles[event.tid]][event.detail("reason")]++;
  EXPECT_GT(epilogues["shared-spin"]["preempted"], 4);
  EXPECT_LE(epilogues["shared-spin"]["yielded"], 2) << "two threads";
  EXPECT_GT(epilogues["yielder"]["yielded"], 4);
}

// Some kernels hide migrations by certain threads.
TEST_F(Accounting, AMigratedThreadGetsTheCpuThatItWasPutOn) {
  const MixCapture mix = capture();
  std::map<uint32_t, std::string> put_on;
  size_t compared = 0, right = 0;
  for (const DumpEvent &event : mix.events)
    if (event.event == "EXT_migrate") {
      put_on[event.tid] = event.detail("cpu");
    } else if (event.takes_cpu() && put_on.contains(event.tid)) {
      right += std::to_string(event.cpu) == put_on[event.tid];
      compared++;
      put_on.erase(event.tid);
    }
  EXPECT_GT(compared, 10u);
  EXPECT_GE(right, compared - compared / 5) << "of " << compared;
}

TEST_F(Accounting, ANewThreadIsWokenByItsCreator) {
  const MixCapture mix = capture();
  size_t compared = 0;
  for (const DumpEvent &event : mix.events) {
    const ThreadRecord *thread = mix.reported.thread(event.tid);
    if (event.detail("new") != "1" || !thread)
      continue;
    EXPECT_EQ(event.detail("context"), "task");
    compared += tid_of(event.detail("waker")) == thread->parent;
  }
  EXPECT_GE(compared, 15u) << "threads of sched_mix";
}

} // namespace ovnitrace::test
