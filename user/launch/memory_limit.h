// SPDX-License-Identifier: BSD-2-Clause
// The memory that a control group leaves a process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ovnitrace {

/// Bytes that the calling process can still take until the kernel ends a process of its memory
/// cgroup: the least of what its own cgroup (v1 or v2) and those above it leave. Page cache does
/// not count as taken. Nothing: there is no limit, or it cannot be read. The arguments are other
/// files for tests.
std::optional<uint64_t> memory_left(const std::string &cgroups = "/proc/self/cgroup",
                                    const std::string &mounts = "/proc/self/mountinfo");

} // namespace ovnitrace
