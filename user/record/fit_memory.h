// SPDX-License-Identifier: BSD-2-Clause
// Makes a capture fit into the memory that a control group leaves it.
#pragma once

#include "user/record/record.h"

#include <cstdint>

namespace ovnitrace {

/// Sizes that the user has given.
struct GivenSizes {
  bool rings = false, chunks = false;
};

/// Makes rings and chunks smaller if a capture on `cpus` CPUs would not fit into `left` bytes. It
/// does not change sizes that are given. Throws Error, with what it needs and what is left, if they
/// cannot be small enough: otherwise the kernel would end the capture (or the program) in the
/// middle.
void fit_memory(RecordOptions &options, GivenSizes given, unsigned cpus, uint64_t left);
/// Does the same on this machine, with the memory that the cgroup of this process leaves.
void fit_memory(RecordOptions &options, GivenSizes given);

} // namespace ovnitrace
