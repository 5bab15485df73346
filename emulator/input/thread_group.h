// SPDX-License-Identifier: BSD-2-Clause
// Finds the group of a thread: its container, unit or cgroup, or the kernel.
#pragma once

#include "emulator/input/source.h"

#include <cstdint>
#include <string_view>

namespace ovnitrace {

/// Returns the cgroup in which a thread was at `time`, ns; nullptr if it is not known.
inline const Cgroup *cgroup_of(const Catalog &catalog, const ThreadInfo &thread, uint64_t time) {
  const uint32_t cgroup = thread.cgroup_at(time);
  return cgroup == kNone ? nullptr : &catalog.hosts[thread.host].cgroups[cgroup];
}

/// Returns the group of a thread at `time`, ns (Cgroup::group()); "" if it is not known.
inline std::string_view group_of(const Catalog &catalog, const ThreadInfo &thread, uint64_t time) {
  const Cgroup *cgroup = cgroup_of(catalog, thread, time);
  return cgroup ? std::string_view(cgroup->group()) : std::string_view();
}

/// Returns the group of an untraced thread of a host; "" if it is not known.
inline std::string_view group_of(const HostInfo &host, const PeerName &peer) {
  return peer.cgroup < host.cgroups.size() ? std::string_view(host.cgroups[peer.cgroup].group())
                                           : std::string_view();
}

/// Returns whether a thread is known to be of a program: it is no child of kthreadd (thread 2),
/// which creates the threads of the kernel. An untraced thread of `host` is known by the path of
/// its cgroup, which threads of the kernel do not have.
inline bool is_of_program(const Catalog &catalog, const Peer &peer, uint32_t host, uint64_t time) {
  constexpr uint32_t kKthreadd = 2;
  if (peer.thread != kNone) {
    const ThreadInfo &thread = catalog.threads[peer.thread];
    return thread.parent != 0 && thread.parent != kKthreadd && thread.tid != kKthreadd;
  }
  const HostInfo &of = catalog.hosts[host];
  const PeerName *name = peer.tid == kNone ? nullptr : find_peer(of.peers, peer.tid, time);
  return name && name->cgroup < of.cgroups.size() && of.cgroups[name->cgroup].path.starts_with('/');
}

} // namespace ovnitrace
