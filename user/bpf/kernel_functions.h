// SPDX-License-Identifier: BSD-2-Clause
// Functions of the kernel that BPF programs call where it has them.
#pragma once

#include <cstdint>

struct bpf_object;

namespace ovnitrace {

class KernelTypes;

/// Before an object is loaded: lets the calls of its programs that bpf/kfuncs.h describes be what
/// they stand for. Returns which there are, a bit each of enum kfunc, for the object's `kfuncs`.
uint32_t use_kfuncs(bpf_object *object, const KernelTypes &types);

} // namespace ovnitrace
