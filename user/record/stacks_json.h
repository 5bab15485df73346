// SPDX-License-Identifier: BSD-2-Clause
// Writes the stacks of a capture into trace.json.
#pragma once

#include "user/chunk/trace_directory.h"
#include "user/stacks/name_stacks.h"

namespace ovnitrace {

/// Writes the members `stacks`, `stack_frames` and `stack_files`, each after a comma. Leaves out
/// frames and files that are in no stack.
void write_stacks(const NamedStacks &stacks, const Put &put);

} // namespace ovnitrace
