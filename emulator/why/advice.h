// SPDX-License-Identifier: BSD-2-Clause
// What to try where a program lost time. Each rule is one row of one table; docs/why.md has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ovnitrace {

/// What rules look at. Times are ns, of all threads of the program together.
struct AdviceFacts {
  std::string name = {};             ///< of the program
  uint64_t length = 0;               ///< of the range, without what was not recorded
  size_t cpus = 0;                   ///< of the host; 0: not known
  uint64_t running = 0, waiting = 0; ///< waiting for a CPU
  uint64_t throttled = 0;            ///< of `waiting`: the cgroup had no CPU quota left
  uint64_t behind_own = 0;           ///< of `waiting`: threads of the program ran there
  uint64_t behind_other = 0;         ///< of `waiting`: `other` ran there
  std::string other = {};            ///< the program outside that held CPUs longest
  uint64_t idle_forbidden = 0;       ///< of `waiting`: only CPUs that it may not use were idle
  uint64_t woken_by_threads = 0;     ///< blocked in futexes until a traced thread woke it
  uint64_t behind_preempted = 0;     ///< of that: the later waker was preempted meanwhile
  std::string preempted = {};        ///< who that was most

  uint64_t wanted() const { return running + waiting; } ///< it ran or could have run
};

struct AdviceRule {
  const char *name; ///< as in docs/why.md
  /// The time that the advice is about, ns; 0: the numbers do not carry it.
  uint64_t (*lost)(const AdviceFacts &facts);
  std::string (*text)(const AdviceFacts &facts);
};

/// All rules. Where two are about as much time, the first one speaks.
std::span<const AdviceRule> advice_rules();

/// Returns the advice of the rule that is about most time, as one sentence that starts with "Try";
/// empty where no rule is about 10 % of the time in which the program wanted a CPU and 10 ms.
std::string advice(const AdviceFacts &facts);

} // namespace ovnitrace
