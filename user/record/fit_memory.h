// SPDX-License-Identifier: BSD-2-Clause
// What a capture takes of the memory that a control group leaves it.
#pragma once

#include "user/record/record.h"

#include <cstdint>

namespace ovnitrace {

/// Sizes that the user has given.
struct GivenSizes {
  bool rings = false, chunks = false;
};

/// Makes rings and chunks smaller, if they are not given and that is needed for a capture on `cpus`
/// CPUs to fit into `left` bytes. Throws Error, with what it needs and what is left, if they cannot
/// be small enough: the kernel would end the capture (or the program) in the middle.
void fit_memory(RecordOptions &options, GivenSizes given, unsigned cpus, uint64_t left);
/// The same on this machine, with what the cgroup of this process leaves.
void fit_memory(RecordOptions &options, GivenSizes given);

} // namespace ovnitrace
