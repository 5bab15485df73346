// SPDX-License-Identifier: BSD-2-Clause
// Makes a capture fit into the memory that the machine and its control group leave it.
#pragma once

#include "user/record/record.h"

#include <cstdint>
#include <string>

namespace ovnitrace {

/// The files that say how much memory is left. Tests have others.
struct MemoryFiles {
  std::string machine = "/proc/meminfo", cgroups = "/proc/self/cgroup",
              mounts = "/proc/self/mountinfo";
};

/// Returns how many bytes the calling process can still take: the least of what the machine, its
/// memory cgroup (v1 or v2) and those above it leave. Page cache does not count as taken, but files
/// in tmpfs do: they cannot be given back.
uint64_t memory_left(const MemoryFiles &files = {});

/// Halves rings and chunks until a capture on `cpus` CPUs fits into `left` bytes. It does not
/// change sizes that the user has `given`. Throws Error, with what it needs and what is left, if
/// they cannot be small enough: otherwise the kernel would end the capture (or the program) in the
/// middle.
void fit_memory(RecordOptions &options, const RecordOptions &given, unsigned cpus, uint64_t left);

} // namespace ovnitrace
