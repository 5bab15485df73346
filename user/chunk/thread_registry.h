// SPDX-License-Identifier: BSD-2-Clause
// Who the traced threads are, from their life events.
#pragma once

#include <ovnitrace/capture.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>

namespace ovnitrace {

struct ThreadIdentity {
  uint32_t tid = 0;
  uint32_t pid = 0;    ///< process (tgid)
  uint32_t parent = 0; ///< tid of its creator, 0 unknown
  uint64_t birth = 0;  ///< ns, 0: alive before the capture
  std::array<char, CAPTURE_COMM_LEN> comm{};
  std::optional<life_account> account; ///< the kernel's own figures, once it is dead
};

/// The latest thread of each tid and the one before it, of which some events may be unread when the
/// creation of the next is read already.
class ThreadRegistry {
public:
  /// Learns from a life event. Events of one thread come in their order. Whether a tid that an
  /// earlier thread had has come to another.
  bool learn(const life_record &record) {
    auto [at, first] = threads_.try_emplace(record.tid);
    ThreadIdentity &thread = at->second;
    if (record.kind == LIFE_NEW) {
      if (!first)
        earlier_[record.tid] = thread;
      thread = {};
      thread.parent = record.arg;
      thread.birth = record.time;
    }
    thread.tid = record.tid;
    thread.pid = record.pid;
    std::copy_n(record.comm, CAPTURE_COMM_LEN, thread.comm.begin());
    if (record.kind == LIFE_DEAD)
      thread.account = record.account;
    return !first && record.kind == LIFE_NEW;
  }

  /// Who has the tid at `time` (ns), or null if nothing was ever told of it.
  const ThreadIdentity *find(uint32_t tid, uint64_t time) const {
    auto found = threads_.find(tid);
    if (found == threads_.end() || time >= found->second.birth)
      return found == threads_.end() ? nullptr : &found->second;
    auto before = earlier_.find(tid);
    return before == earlier_.end() ? &found->second : &before->second;
  }

  /// Until when the thread that has the tid at `time` can have it, ns.
  uint64_t until(uint32_t tid, uint64_t time) const {
    auto found = threads_.find(tid);
    return found != threads_.end() && time < found->second.birth ? found->second.birth : UINT64_MAX;
  }

  const std::unordered_map<uint32_t, ThreadIdentity> &all() const { return threads_; }

private:
  std::unordered_map<uint32_t, ThreadIdentity> threads_;
  std::unordered_map<uint32_t, ThreadIdentity> earlier_; ///< of tids that were used again
};

} // namespace ovnitrace
