// SPDX-License-Identifier: BSD-2-Clause
// Lists the counters of a thread. `info`, `stat`, JSON, `--sort` and the report page read the
// table. To add a counter, see CONTRIBUTING.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ovnitrace {

/// How often a thread did something, or something happened to it.
struct ThreadCounters {
  uint64_t preempted = 0;
  uint64_t yielded = 0;
  uint64_t throttled = 0;
  uint64_t voluntary = 0;
  uint64_t wakeups = 0;
  uint64_t migrations = 0;

  void add(const ThreadCounters &other);
};

/// How a counter is shown.
struct CounterInfo {
  std::string_view name;    ///< in JSON and for `--sort`; in upper case, the head of its column
  std::string_view meaning; ///< "the thread …"
  uint64_t ThreadCounters::*count;
  bool is_switch; ///< the thread left its CPU: it is a part of `switches`
  bool if_any;    ///< tables show it only if it is not 0 everywhere
};

/// The counters, in the order of their columns.
inline constexpr std::array kCounters = {
    CounterInfo{"preempted", "lost its CPU to another thread while it could run",
                &ThreadCounters::preempted, true, false},
    CounterInfo{"yielded", "gave its CPU up while it could run", &ThreadCounters::yielded, true,
                false},
    CounterInfo{"throttled", "lost its CPU because no CPU quota or deadline budget was left",
                &ThreadCounters::throttled, true, true},
    CounterInfo{"voluntary", "left its CPU to block, or to end", &ThreadCounters::voluntary, true,
                false},
    CounterInfo{"wakeups", "became runnable", &ThreadCounters::wakeups, false, false},
    CounterInfo{"migrations", "moved to another CPU", &ThreadCounters::migrations, false, false},
};
static_assert(sizeof(ThreadCounters) == kCounters.size() * sizeof(uint64_t), "a row for each");

inline void ThreadCounters::add(const ThreadCounters &other) {
  for (const CounterInfo &counter : kCounters)
    this->*counter.count += other.*counter.count;
}

} // namespace ovnitrace
