// Which BPF programs a process holds, and whether the kernel still has them.
#pragma once

#include <cstdint>
#include <set>
#include <sys/types.h>

namespace ovnitrace::test {

/// Ids of the programs that `pid` has loaded, from its descriptors.
std::set<uint32_t> bpf_programs_of(pid_t pid);
bool bpf_program_exists(uint32_t id);

} // namespace ovnitrace::test
