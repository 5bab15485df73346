// SPDX-License-Identifier: BSD-2-Clause
// Prepares the BPF object of causes for the running kernel.
#pragma once

#include <ovnitrace/capture.h>

#include <cstdint>

struct bpf_program;
struct causes_bpf;

namespace ovnitrace {

class KernelTypes;

/// Replaces a constant of 64 bits in a program that is not loaded yet. Returns whether it is there.
bool replace_constant(bpf_program *program, uint64_t constant, uint64_t value);

/// Chooses the programs of an object that is not loaded yet. `timers`: of this kernel. Returns
/// whether the programs see the moment at which throttled threads may run again.
bool prepare_causes(causes_bpf &object, const KernelTypes &types, const quota_timers &timers);

} // namespace ovnitrace
