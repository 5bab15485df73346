// SPDX-License-Identifier: BSD-2-Clause
// Runs a BPF program once for each thread of the machine.
#pragma once

#include <string>

struct bpf_program;

namespace ovnitrace {

/// Returns what the program has written. `program` is an iterator over tasks, loaded. Throws Error:
/// cannot `what`.
std::string visit_tasks(bpf_program *program, const char *what);

} // namespace ovnitrace
