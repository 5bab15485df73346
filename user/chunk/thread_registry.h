// SPDX-License-Identifier: BSD-2-Clause
// Knows the traced threads, from their life events.
#pragma once

#include "emulator/format/thread_identity.h"

#include <ovnitrace/capture.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace ovnitrace {

/// A traced thread, which has a name.
struct TracedThread : ThreadIdentity {
  static constexpr size_t kMostNames = 16;

  struct FormerName {
    uint64_t until = 0; ///< ns
    std::optional<ThreadName> name;
  };
  bool name_unsaid = false; ///< it got its name from a record that is not written to a chunk
  std::optional<life_account> account; ///< the kernel's own figures, once it is dead
  /// The last ones, by time: events before a renaming are written when it is known already.
  std::vector<FormerName> former_names;

  /// Returns who the thread is, with the name that it had at `time`, ns; without a name if it had
  /// too many since.
  ThreadIdentity at(uint64_t time) const {
    ThreadIdentity then = *this;
    for (auto former = former_names.rbegin(); former != former_names.rend(); ++former)
      if (time < former->until)
        then.name = former->name;
    return then;
  }
  void rename(uint64_t time, const char *comm) {
    former_names.push_back({time, name});
    if (former_names.size() > kMostNames) {
      former_names.erase(former_names.begin());
      former_names.front().name.reset();
    }
    name.emplace(comm);
  }
};

/// A name of a thread that is not traced, but appears beside traced ones: as the next on their CPU,
/// or as their waker.
struct NamedPeer {
  uint32_t tid = 0;
  uint32_t pid = 0;    ///< process (tgid)
  uint64_t since = 0;  ///< ns: when the thread was first seen with this name
  uint64_t born = 0;   ///< ns: when it was created; 0: not known
  uint32_t cgroup = 0; ///< in which it was then: its number, 0 not known
  std::array<char, CAPTURE_COMM_LEN> comm{};
};

/// Keeps the latest thread of each tid and the one before it. Some events of the earlier one may be
/// unread when the creation of the later one has been read.
class ThreadRegistry {
public:
  static constexpr size_t kMostPeers = 1 << 16, kMostPeersOfTid = 1000;

  /// Learns from a life event, whose `cgroup` is the number in trace.json. Events of one thread
  /// come in their order. Returns whether the tid has come from an earlier thread to a new one.
  bool learn(const life_record &record) {
    if (record.kind == LIFE_NAME && !record.arg) {
      learn_peer(record);
      return false;
    }
    auto [at, first] = threads_.try_emplace(record.tid);
    TracedThread &thread = at->second;
    const bool again = !first && (record.kind == LIFE_NEW || record.kind == LIFE_ENTER);
    if (again) {
      earlier_[record.tid] = thread;
      thread = {};
      thread.birth = record.time; // tells it from the earlier one
    }
    if (record.kind == LIFE_NEW) {
      thread.parent = record.arg;
      thread.birth = record.time;
    } else if (record.parent && !thread.parent) {
      thread.parent = record.parent;
    }
    thread.tid = record.tid;
    thread.pid = record.pid;
    if (!thread.name) {
      thread.name.emplace(record.comm);
      thread.name_unsaid = !first && !again;
    } else if (names_anew(thread, record)) {
      thread.rename(record.time, record.comm);
      thread.name_unsaid = true;
    }
    if (is_written(record))
      thread.name_unsaid = false;
    learn_cgroup(thread, record);
    if (record.kind == LIFE_DEAD)
      thread.account = record.account;
    reused_ += again;
    return again;
  }

  /// Returns whether the chunks must say the name in a life event, which learn() has yet to learn.
  /// A thread that executes a program and ends on the same CPU has no LIFE_RENAME in between.
  /// Otherwise its LIFE_RENAME repeats the name.
  bool renames(const life_record &record) const {
    const auto found = threads_.find(record.tid);
    if (found == threads_.end())
      return record.kind == LIFE_RENAME;
    if (!is_written(record) || record.kind == LIFE_NEW || record.kind == LIFE_ENTER ||
        record.kind == LIFE_DEAD)
      return false;
    return found->second.name_unsaid || names_anew(found->second, record);
  }

  /// Returns whether a life event is written to a chunk.
  static bool is_written(const life_record &record) {
    return record.kind != LIFE_NAME && !record.outside;
  }

  /// Returns the thread that has the tid at `time` (ns); null if no event named the tid.
  const TracedThread *find(uint32_t tid, uint64_t time) const {
    auto found = threads_.find(tid);
    if (found == threads_.end() || time >= found->second.birth)
      return found == threads_.end() ? nullptr : &found->second;
    auto before = earlier_.find(tid);
    return before == earlier_.end() ? &found->second : &before->second;
  }

  /// Returns until when (ns) the thread that has the tid at `time` can have it.
  uint64_t until(uint32_t tid, uint64_t time) const {
    auto found = threads_.find(tid);
    return found != threads_.end() && time < found->second.birth ? found->second.birth : UINT64_MAX;
  }

  /// Returns a copy for all(), peers() and peers_left_out(): without the earlier threads of tids.
  ThreadRegistry without_earlier() const {
    ThreadRegistry copy = only_peers();
    copy.threads_ = threads_;
    return copy;
  }
  /// Returns a copy for peers() and peers_left_out().
  ThreadRegistry only_peers() const {
    ThreadRegistry copy;
    copy.peers_ = peers_;
    copy.peers_left_out_ = peers_left_out_;
    return copy;
  }

  const std::unordered_map<uint32_t, TracedThread> &all() const { return threads_; }
  /// Counts all threads, also those whose tid was used again.
  size_t count() const { return threads_.size() + reused_; }
  /// Returns the names of peers in the order in which they were learned: at most kMostPeers, and
  /// kMostPeersOfTid of one tid. If names of a tid are left out, an empty one follows its last.
  const std::vector<NamedPeer> &peers() const { return peers_; }
  uint64_t peers_left_out() const { return peers_left_out_; }

private:
  /// Returns whether a life event has another name for a thread. The name in a LIFE_DEAD can be
  /// that of a main thread whose tid an execve has given to another thread.
  static bool names_anew(const TracedThread &thread, const life_record &record) {
    return record.kind != LIFE_DEAD && thread.name->raw() != ThreadName(record.comm).raw();
  }

  static void learn_cgroup(TracedThread &thread, const life_record &record) {
    if (!record.cgroup || record.cgroup == thread.cgroup)
      return;
    const bool moved = thread.cgroup != 0;
    thread.cgroup_since = moved || record.kind == LIFE_NEW ? record.time : 0;
    thread.cgroup = uint32_t(record.cgroup);
  }

  /// Learns the name of a peer. If another thread had its tid before, it has it since its birth.
  void learn_peer(const life_record &record) {
    const auto known = peers_of_tid_.find(record.tid);
    NamedPeer *last = known == peers_of_tid_.end() ? nullptr : &peers_[known->second.last];
    if (last && is_same(*last, record)) {
      last->born = record.born ? record.born : last->born;
      return;
    }
    const bool full =
        peers_.size() >= kMostPeers || (last && known->second.count >= kMostPeersOfTid);
    peers_left_out_ += full;
    if (full && (!last || !last->comm[0]))
      return; // the name is not known already
    const bool reused = last ? record.born > last->since : threads_.contains(record.tid);
    const uint64_t since = reused && record.born ? record.born : record.time;
    PeersOfTid &of_tid = peers_of_tid_[record.tid];
    of_tid = {peers_.size(), of_tid.count + 1};
    NamedPeer &peer = peers_.emplace_back(
        NamedPeer{record.tid, record.pid, since, record.born, uint32_t(record.cgroup), {}});
    if (!full)
      std::copy_n(record.comm, CAPTURE_COMM_LEN, peer.comm.begin());
  }

  /// Returns whether a record gives the same thread the same name.
  static bool is_same(const NamedPeer &peer, const life_record &record) {
    return peer.pid == record.pid && (!peer.born || !record.born || peer.born == record.born) &&
           std::equal(record.comm, record.comm + CAPTURE_COMM_LEN, peer.comm.begin());
  }

  std::unordered_map<uint32_t, TracedThread> threads_;
  std::unordered_map<uint32_t, TracedThread> earlier_; ///< of tids that were used again
  size_t reused_ = 0;                                  ///< how often they were
  std::vector<NamedPeer> peers_;
  struct PeersOfTid {
    size_t last = 0; ///< place in peers_
    size_t count = 0;
  };
  std::unordered_map<uint32_t, PeersOfTid> peers_of_tid_;
  uint64_t peers_left_out_ = 0;
};

} // namespace ovnitrace
