// SPDX-License-Identifier: BSD-2-Clause
// Prepares the BPF object of --control for a plan, before it is loaded.
#pragma once

#include "user/control/plan.h"
#include "user/control/programs.h"

namespace ovnitrace::control {

/// Fills the tables and settings in the memory of the object, which is read-only once it is loaded.
void fill_tables(const Plan &plan, const ProgramOptions &options, control_bpf &object);

/// Leaves out the programs that no alarm of the plan needs, and those that the loader runs itself.
void choose_programs(const Plan &plan, control_bpf &object);

/// Makes maps smaller (30 MiB) before 6.1. There, a program that may sleep can use only maps whose
/// memory is allocated at once (02cc5aa29e8c "bpf: Remove prealloc-only restriction for sleepable
/// bpf programs").
void preallocate(control_bpf &object);

/// Returns where the chains of a process are when it begins.
control_process fresh_process(const Plan &plan);

} // namespace ovnitrace::control
