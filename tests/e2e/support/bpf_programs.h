// SPDX-License-Identifier: BSD-2-Clause
// Which BPF programs and arrays a process holds, and whether the kernel still has them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <sys/types.h>

namespace ovnitrace::test {

/// Ids of the programs that `pid` has loaded, from its descriptors.
std::set<uint32_t> bpf_programs_of(pid_t pid);
/// The arrays (BPF_MAP_TYPE_ARRAY) that `pid` has, by their ids: how many entries each has.
std::map<uint32_t, uint64_t> bpf_arrays_of(pid_t pid);
bool bpf_program_exists(uint32_t id);

} // namespace ovnitrace::test
