// SPDX-License-Identifier: BSD-2-Clause
// Prepares the scheduler's BPF object for what a capture needs and for what this kernel has.
#pragma once

#include "user/bpf/capture.h"

struct ovnitrace_bpf;

namespace ovnitrace {

class KernelTypes;

/// Returns whether living threads are looked for when the capture starts.
bool visits_living(const CaptureParameters &parameters);

/// Chooses the programs and the sizes of the maps of an object that is not loaded yet. `cpus`:
/// those that are possible. Throws Error if the kernel cannot watch what a filter needs.
void prepare_capture(ovnitrace_bpf &object, const CaptureParameters &parameters, uint32_t cpus,
                     const KernelTypes &types);

/// Returns the stack at a place + 1 of a table of CAPTURE_STACKS; null without a stack, or while it
/// is still being written. The table may be null.
const stack_slot *written_stack(const stack_slot *table, uint32_t place_and_1);

} // namespace ovnitrace
