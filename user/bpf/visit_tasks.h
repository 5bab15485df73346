// SPDX-License-Identifier: BSD-2-Clause
// Runs a BPF program once for each thread of the machine.
#pragma once

struct bpf_program;

namespace ovnitrace {

/// `program` is an iterator over tasks, loaded. Throws Error: cannot `what`.
void visit_tasks(bpf_program *program, const char *what);

} // namespace ovnitrace
