// SPDX-License-Identifier: BSD-2-Clause
// The stacks of a capture as trace.json has them.
#pragma once

#include "user/chunk/trace_directory.h"
#include "user/stacks/name_stacks.h"

namespace ovnitrace {

/// The members of trace.json, each after a comma. Frames and files that no stack has are left out.
void write_stacks(const NamedStacks &stacks, const Put &put);

} // namespace ovnitrace
