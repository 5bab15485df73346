// SPDX-License-Identifier: BSD-2-Clause
// Loads programs twice if the kernel can preempt them (bpf/twins.bpf.h).
#pragma once

#include <string_view>

struct bpf_object;

namespace ovnitrace {

class KernelTypes;

/// Leaves out the second twins where this kernel needs none. Returns whether it needs them, for the
/// object's `has_twins`. Call it before the object is loaded.
bool choose_twins(bpf_object *object, const KernelTypes &types);

/// Returns whether a second twin of the program is loaded. Nothing is lost then if the kernel skips
/// the program.
bool has_twin(bpf_object *object, std::string_view program);

} // namespace ovnitrace
