// SPDX-License-Identifier: BSD-2-Clause
// Loads programs twice if the kernel can preempt them (bpf/twins.bpf.h).
#pragma once

#include <string_view>

struct bpf_object;

namespace ovnitrace {

class KernelTypes;

/// Before an object is loaded: leaves out the second twins where this kernel needs none. Returns
/// whether it needs them, for the object's `has_twins`.
bool choose_twins(bpf_object *object, const KernelTypes &types);

/// Returns whether a second twin of the program is loaded: then nothing is lost where the kernel
/// skips the program.
bool has_twin(bpf_object *object, std::string_view program);

} // namespace ovnitrace
