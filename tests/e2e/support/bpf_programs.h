// SPDX-License-Identifier: BSD-2-Clause
// Lists the BPF programs and arrays that a process holds, and says whether the kernel still has
// them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <sys/types.h>

namespace ovnitrace::test {

/// Returns the ids of the programs that `pid` has loaded, from its descriptors.
std::set<uint32_t> bpf_programs_of(pid_t pid);
/// Returns how many entries each array (BPF_MAP_TYPE_ARRAY) of `pid` has, by its id.
std::map<uint32_t, uint64_t> bpf_arrays_of(pid_t pid);
bool bpf_program_exists(uint32_t id);

} // namespace ovnitrace::test
