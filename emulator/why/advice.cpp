// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/advice.h"

#include "emulator/base/human.h"

#include <fmt/format.h>

namespace ovnitrace {

namespace {

constexpr uint64_t kLeastTime = 10'000'000; // ns
constexpr uint64_t kLeastShare = 10;        // % of the time in which it wanted a CPU

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
                     pinned ? ", or a wider affinity (taskset, OMP_PROC_BIND)" : "",
                     double(facts.wanted()) / double(facts.length), cpus);
}

constexpr AdviceRule kRules[] = {
    {"quota", [](const AdviceFacts &facts) { return facts.throttled; },
     [](const AdviceFacts &facts) {
       return fmt::format("Try a larger CPU quota: its cgroup had none left for {}.",
                          sum_text(facts, facts.throttled));
     }},
    {"pinned", [](const AdviceFacts &facts) { return facts.idle_forbidden; },
     [](const AdviceFacts &facts) {
       return fmt::format("Try a wider affinity (taskset, OMP_PROC_BIND): for {} of its waiting, "
                          "CPUs were idle, but none that its threads may use.",
                          sum_text(facts, facts.idle_forbidden));
     }},
    {"preempted holder",
     [](const AdviceFacts &facts) {
       return where(facts.behind_preempted * 4 >= facts.woken_by_threads, facts.behind_preempted);
     },
     [](const AdviceFacts &facts) {
       return fmt::format(
           "Try to keep the CPU of {} free (fewer threads, nice, taskset): this thread "
           "was preempted for {} while others were blocked in futex; it woke them "
           "later.",
           facts.preempted, human_duration(facts.preempted_ns));
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
     [](const AdviceFacts &facts) {
       const char *or_else =
           facts.other_class == FTRACE_CLASS_UNKNOWN ? ""
           : facts.other_class == FTRACE_CLASS_NORMAL
               ? ", or to give it a smaller share (nice, or the weight of its cgroup)"
               : ", or to remove its real-time priority (chrt --all-tasks --other -p 0 PID)";
       return fmt::format(
           "{} waited {} behind {}. Try to move that program to other CPUs (taskset){}.",
           facts.name, sum_text(facts, facts.behind_other), facts.other, or_else);
     }},
    {"own threads",
     [](const AdviceFacts &facts) {
       return where(facts.woken_by_own * 2 >= facts.blocked, facts.woken_by_own);
     },
     [](const AdviceFacts &facts) {
       return fmt::format("Try `{} --critical-path`: its threads waited {} for each other, and the "
                          "critical path shows for which.",
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
