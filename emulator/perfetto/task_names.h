// SPDX-License-Identifier: BSD-2-Clause
// Names threads as the scheduler's events do.
#pragma once

#include "emulator/base/printable.h"
#include "emulator/input/source.h"
#include "emulator/perfetto/sched_bundle.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace ovnitrace::perfetto {

/// Names of threads, valid UTF-8 as the format requires: see printable_line().
class TaskNames {
public:
  explicit TaskNames(const Catalog &catalog)
      : threads_(catalog.threads), priorities_(catalog.threads.size(), kNotKnownPriority) {
    for (const ThreadInfo &thread : catalog.threads)
      names_.push_back(printable_line(thread.name));
    for (const HostInfo &host : catalog.hosts)
      for (const PeerName &peer : host.peers)
        if (!peer.name.empty())
          outside_.insert_or_assign(peer.tid, printable_line(peer.name));
  }

  /// Returns a thread of the trace. Its name stays valid.
  Task task(uint32_t thread) const {
    return {threads_[thread].tid, priorities_[thread], thread, names_[thread]};
  }
  /// Returns an untraced thread.
  Task outside(uint32_t tid) const {
    const auto name = outside_.find(tid);
    return {tid, kNotKnownPriority, kOutsideKey | tid,
            name == outside_.end() ? std::string_view() : name->second};
  }
  static Task idle() { return {0, kIdlePriority, kIdleKey, "swapper"}; }
  const std::string &name(uint32_t thread) const { return names_[thread]; }
  void set_priority(uint32_t thread, int32_t priority) { priorities_[thread] = priority; }

private:
  static constexpr int32_t kIdlePriority = 120, kNotKnownPriority = -2; ///< as the kernel has none
  static constexpr uint32_t kIdleKey = kNone - 1, kOutsideKey = 1u << 31; ///< a tid has 22 bits

  const std::vector<ThreadInfo> &threads_;
  std::vector<std::string> names_;                    ///< by thread
  std::vector<int32_t> priorities_;                   ///< by thread: the last known one
  std::unordered_map<uint32_t, std::string> outside_; ///< by tid: the last name seen
};

} // namespace ovnitrace::perfetto
