// SPDX-License-Identifier: BSD-2-Clause
// Lets BPF programs call functions of the kernel that not every kernel has.
#pragma once

#include <cstdint>

struct bpf_object;

namespace ovnitrace {

class KernelTypes;

/// Turns the placeholder calls of bpf/kfuncs.h in an object's programs into calls of the kernel's
/// functions. Call it before the object is loaded. Returns which functions the kernel has, a bit
/// for each enum kfunc, for the object's `kfuncs`.
uint32_t use_kfuncs(bpf_object *object, const KernelTypes &types);

} // namespace ovnitrace
