// SPDX-License-Identifier: BSD-2-Clause
// Loads tracepoint programs twice if the kernel can preempt them (bpf/twins.bpf.h).
#pragma once

#include <string_view>

struct bpf_object;

namespace ovnitrace {

class KernelTypes;

/// Leaves out the second twins if this kernel needs none; call it before the object is loaded.
/// Returns whether the kernel needs them, for the object's `has_twins`.
bool choose_twins(bpf_object *object, const KernelTypes &types);

/// Returns whether a second twin of the program is loaded. Nothing is lost then if the kernel skips
/// the program.
bool has_twin(bpf_object *object, std::string_view program);

} // namespace ovnitrace
