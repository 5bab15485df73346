// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/advice.h"

#include "emulator/base/human.h"

#include <fmt/format.h>

namespace ovnitrace {

namespace {

constexpr uint64_t kLeastTime = 10'000'000; // ns
constexpr uint64_t kLeastShare = 10;        // % of the time in which it wanted a CPU

/// The kernel compares the nice values of threads of one cgroup, and if autogroups are on
/// (sched(7)), of one session. The trace has no sessions.
constexpr const char *kWhereNiceWorks = "if both are in the same cgroup and session";
constexpr const char *kAffinity = "a wider affinity (taskset, OMP_PROC_BIND, cpuset of the cgroup)";

uint64_t where(bool holds, uint64_t ns) {
  return holds ? ns : 0;
}

/// Returns a time of all threads together: "2.170 s (sum of 4 threads)".
std::string sum_text(const AdviceFacts &facts, uint64_t ns) {
  const std::string text = human_duration(ns);
  return facts.threads > 1 ? fmt::format("{} (sum of {} threads)", text, human_count(facts.threads))
                           : text;
}

/// Returns what to try if more threads want a CPU than may use one.
std::string fewer_text(const AdviceFacts &facts) {
  const bool pinned = facts.cpus < facts.all_cpus;
  const std::string cpus =
      pinned            ? fmt::format("they may use {} of {} CPUs", facts.cpus, facts.all_cpus)
      : facts.cpus == 1 ? "there is 1"
                        : fmt::format("there are {}", facts.cpus);
  return fmt::format("Try fewer {}{}: {:.1f} of them wanted a CPU at a time, and {}.",
                     facts.single_threaded ? "processes at a time" : "threads",
                     pinned ? fmt::format(", or {}", kAffinity) : "",
                     double(facts.wanted()) / double(facts.length), cpus);
}

/// Says behind which program the threads waited, and what to try, as far as priorities allow it.
std::string other_program(const AdviceFacts &facts) {
  const std::string who = fmt::format("{} waited {} behind {}", facts.name,
                                      sum_text(facts, facts.behind_other), facts.other);
  constexpr const char *kMove = "to move that program to other CPUs (taskset)";
  const auto mostly = [&](uint64_t ns) { return ns * 2 >= facts.behind_other; };
  switch (facts.other_class) {
  case FTRACE_CLASS_UNKNOWN:
  case FTRACE_CLASS_NORMAL:
    if (mostly(facts.behind_lower) && facts.preempted_lower * 2 >= facts.behind_lower)
      return who + ", which has a lower priority: the kernel keeps a part of each CPU for normal "
                   "threads (kernel.sched_rt_runtime_us; since Linux 6.12 the fair server).";
    if (mostly(facts.behind_lower))
      return fmt::format("{}, which has a lower priority: the kernel could not preempt it at once. "
                         "Try {}.",
                         who, kMove);
    if (mostly(facts.as_nice))
      return fmt::format("{0} (nice {1}) waited {2} behind {3}. Try to raise the priority of {0} "
                         "first (renice, {4}), or {5}.",
                         facts.name, facts.nice, sum_text(facts, facts.behind_other), facts.other,
                         kWhereNiceWorks, kMove);
    return fmt::format(
        "{}. Try {}{}.", who, kMove,
        facts.other_class == FTRACE_CLASS_UNKNOWN
            ? ""
            : fmt::format(", or to give it a smaller share (the weight of its cgroup, or nice {})",
                          kWhereNiceWorks));
  default:
    return fmt::format("{}. Try {}, or to remove its real-time priority (chrt --all-tasks --other "
                       "-p 0 PID).",
                       who, kMove);
  }
}

constexpr AdviceRule kRules[] = {
    {"quota", [](const AdviceFacts &facts) { return facts.throttled; },
     [](const AdviceFacts &facts) {
       const std::string lost = sum_text(facts, facts.throttled);
       if (facts.throttled_real_time * 2 < facts.throttled)
         return "Try a larger CPU quota: its cgroup had none left for " + lost + ".";
       return "Try a larger quota of real-time threads (cpu.rt_runtime_us of the cgroup, "
              "kernel.sched_rt_runtime_us): none was left for at most " +
              lost + "."; // the trace does not say when there was some again
     }},
    {"pinned", [](const AdviceFacts &facts) { return facts.idle_forbidden; },
     [](const AdviceFacts &facts) {
       return fmt::format(
           "Try {}: for {} of its waiting, CPUs were idle, but none that its threads "
           "may use.",
           kAffinity, sum_text(facts, facts.idle_forbidden));
     }},
    {"preempted holder",
     [](const AdviceFacts &facts) {
       return where(facts.behind_preempted * 4 >= facts.woken_by_threads, facts.behind_preempted);
     },
     [](const AdviceFacts &facts) {
       const std::string by =
           facts.preempted_by.empty() ? "" : ", mostly by " + facts.preempted_by + ",";
       const std::string what = fmt::format(
           fmt::runtime(facts.inverts_priority
                            ? "priority inheritance (PTHREAD_PRIO_INHERIT) for the locks of {}, or "
                              "to keep its CPU free (fewer threads, taskset)"
                            : "to keep the CPU of {} free (fewer threads, taskset)"),
           facts.preempted);
       return fmt::format("Try {}: this thread was preempted{} for {} while others were blocked in "
                          "futex; it woke them later.",
                          what, by, human_duration(facts.preempted_ns));
     }},
    {"fewer threads or processes",
     [](const AdviceFacts &facts) {
       const bool too_many = // a tenth more than CPUs: fewer could be threads that take turns
           facts.cpus && facts.wanted() / 11 * 10 >= facts.length * facts.cpus;
       return where(too_many && facts.behind_own * 2 >= facts.waiting, facts.behind_own);
     },
     fewer_text},
    {"other program",
     [](const AdviceFacts &facts) {
       return where(facts.behind_other * 2 >= facts.waiting, facts.behind_other);
     },
     other_program},
    {"own threads",
     [](const AdviceFacts &facts) {
       return where(facts.woken_by_own * 2 >= facts.blocked, facts.woken_by_own);
     },
     [](const AdviceFacts &facts) {
       return fmt::format("Try `{} --critical-path`: its threads waited {} for each other, and the "
                          "path shows for what one of them waited at each moment.",
                          facts.command, sum_text(facts, facts.woken_by_own));
     },
     true},
};

} // namespace

std::span<const AdviceRule> advice_rules() {
  return kRules;
}

std::string advice(const AdviceFacts &facts) {
  const AdviceRule *best = nullptr;
  uint64_t most = 0;
  for (const AdviceRule &rule : kRules) {
    const uint64_t lost = rule.lost(facts);
    if ((rule.is_last ? !best : lost > most) && lost >= kLeastTime &&
        lost >= facts.wanted() / 100 * kLeastShare) {
      best = &rule;
      most = lost;
    }
  }
  return best ? best->text(facts) : "";
}

} // namespace ovnitrace
