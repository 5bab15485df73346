// SPDX-License-Identifier: BSD-2-Clause
// Finds the group of a thread: its container, unit or cgroup.
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

} // namespace ovnitrace
