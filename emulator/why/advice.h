// SPDX-License-Identifier: BSD-2-Clause
// Finds what to try where a program lost time. Each rule is a row of a table; docs/why.md lists
// them.
#pragma once

#include <ovnitrace/ftrace_codes.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ovnitrace {

/// What the rules look at. Times are ns, of all threads of the program together.
struct AdviceFacts {
  std::string name = {};                 ///< of the program
  std::string command = "ovnitrace why"; ///< that explains the same, for the advice
  uint64_t length = 0;                   ///< of the range, without time that was not recorded
  size_t cpus = 0;                       ///< that could run it; 0: not known
  size_t all_cpus = 0;                   ///< of the host
  size_t threads = 1;
  bool single_threaded = false;      ///< several processes of one thread each
  uint64_t running = 0, waiting = 0; ///< waiting for a CPU
  uint64_t throttled = 0;            ///< of `waiting`: the cgroup had no CPU quota left
  uint64_t throttled_real_time = 0;  ///< of that: of threads with a real-time priority
  uint64_t behind_own = 0;           ///< of `waiting`: a thread of the program ran there
  uint64_t behind_other = 0;         ///< of `waiting`: `other` ran there
  std::string other = {};            ///< the program that held CPUs longest, other than this one
  ftrace_class other_class = FTRACE_CLASS_UNKNOWN; ///< the one with which it mostly ran
  // Parts of `waiting`, behind threads of any other program:
  uint64_t behind_lower = 0;     ///< a real-time thread behind a normal one
  uint64_t preempted_lower = 0;  ///< of that: it had not slept before
  uint64_t as_nice = 0;          ///< of threads with a nice value above 0, behind no real-time one
  int nice = 0;                  ///< of these, the value of the thread that waited longest
  uint64_t idle_forbidden = 0;   ///< of `waiting`: only CPUs that it may not use were idle
  uint64_t blocked = 0;          ///< for whatever reason
  uint64_t woken_by_own = 0;     ///< of `blocked`: a thread of the program ended it
  uint64_t woken_by_threads = 0; ///< blocked in a futex until a traced thread made the wakeup
  uint64_t behind_preempted = 0; ///< of that: time in which the later waker was preempted
  std::string preempted = {};    ///< the waker that was preempted longest in that time
  uint64_t preempted_ns = 0;     ///< how long it was, while at least one thread was blocked
  std::string preempted_by = {}; ///< who ran during most of its preemptions; empty: not known
  bool inverts_priority = false; ///< that one, and a blocked thread, have real-time priorities

  uint64_t wanted() const { return running + waiting; } ///< wanted a CPU
};

struct AdviceRule {
  const char *name; ///< as in docs/why.md
  /// Returns the time that the advice is about, ns; 0 if the rule does not apply.
  uint64_t (*lost)(const AdviceFacts &facts);
  std::string (*text)(const AdviceFacts &facts);
  bool is_last = false; ///< only if no other rule applies
};

/// Returns all rules. If two are about as much time, the first one is used.
std::span<const AdviceRule> advice_rules();

/// Returns the advice of the rule that is about the most time, a sentence that starts with "Try".
/// Empty if no rule is about at least 10 ms and 10 % of the time in which the program wanted a CPU.
std::string advice(const AdviceFacts &facts);

} // namespace ovnitrace
