// SPDX-License-Identifier: BSD-2-Clause
// Connects calls of BPF programs with functions of the kernel, if the kernel has them.
#pragma once

#include <cstdint>

struct bpf_object;

namespace ovnitrace {

class KernelTypes;

/// Makes the calls that bpf/kfuncs.h describes real ones; call it before the object is loaded.
/// Returns which functions the kernel has, a bit each of enum kfunc, for the object's `kfuncs`.
uint32_t use_kfuncs(bpf_object *object, const KernelTypes &types);

} // namespace ovnitrace
