// SPDX-License-Identifier: BSD-2-Clause
// Names the group of the kernel's own threads.
#pragma once

#include <string_view>

namespace ovnitrace {

/// Stands for the cgroup of each thread of the kernel. The path of a cgroup starts with '/' or '…'.
inline constexpr std::string_view kKernelGroup = "kernel";

} // namespace ovnitrace
