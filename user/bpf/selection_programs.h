// SPDX-License-Identifier: BSD-2-Clause
// Hands the filters of a capture to the kernel side (bpf/scheduler/selection.bpf.h).
#pragma once

#include "user/select/selection.h"

#include <string>
#include <vector>

struct ovnitrace_bpf;

namespace ovnitrace {

class KernelTypes;

/// Sets what the programs need, before they are loaded. `everywhere`: threads of the whole machine
/// may pass, and not only those of a program or of processes. Throws Error if the kernel cannot
/// watch what a filter needs.
void prepare_selection(ovnitrace_bpf &object, const Selection &selection, bool everywhere,
                       const KernelTypes &types);
/// Fills the maps of the loaded object. Throws Error.
void fill_selection(ovnitrace_bpf &object, const Selection &selection);
/// Chooses the cgroups that are there now. Returns their paths, for each of selection.cgroups.
/// Throws Error, also if there are too many.
std::vector<std::vector<std::string>> choose_living_cgroups(ovnitrace_bpf &object,
                                                            const Selection &selection);

} // namespace ovnitrace
