// SPDX-License-Identifier: BSD-2-Clause
// Finds out how much memory a control group leaves to a process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ovnitrace {

/// Returns how many bytes the calling process can still take until the kernel kills a process of
/// its memory cgroup. This is the least of what its own cgroup (v1 or v2) and those above it leave.
/// Page cache does not count as taken, but files in tmpfs do: they cannot be given back. Returns
/// nothing if there is no limit, or if it cannot be read. The arguments are other files for tests.
std::optional<uint64_t> memory_left(const std::string &cgroups = "/proc/self/cgroup",
                                    const std::string &mounts = "/proc/self/mountinfo");

} // namespace ovnitrace
