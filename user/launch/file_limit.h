// SPDX-License-Identifier: BSD-2-Clause
// Raises the limit on open files, and restores it for the traced program.
#pragma once

#include <cstddef>

namespace ovnitrace {

/// Raises the limit by `files`, if that is allowed. The usual limit of 1024 is too low for a
/// machine of 512 CPUs, and for a program of 500 probes if each needs two files (before Linux 6.6).
void raise_file_limit(size_t files);

/// Restores the limit that ovnitrace was started with. Call it in the forked child.
void restore_file_limit();

} // namespace ovnitrace
