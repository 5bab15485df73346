// SPDX-License-Identifier: BSD-2-Clause
// Prepares the BPF object of families for what is wanted and for what this kernel has.
#pragma once

#include "user/bpf/family_set.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct families_bpf;

namespace ovnitrace {

class KernelTypes;

struct FamilyParameters {
  FamilySet families;
  uint32_t cpus = 0;     ///< possible ones
  uint32_t recorder = 0; ///< user whose FTrace_set_filter is obeyed
  size_t probes = 0;     ///< of the program's own events
};

/// Chooses the programs and the sizes of the maps of an object that is not loaded yet. Returns the
/// tracepoints that the families want and this kernel does not have.
std::vector<std::string> prepare_families(families_bpf &object, const FamilyParameters &wanted,
                                          const KernelTypes &types);

} // namespace ovnitrace
