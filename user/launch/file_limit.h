// SPDX-License-Identifier: BSD-2-Clause
// How many files we may have open.
#pragma once

#include <cstddef>

namespace ovnitrace {

/// Raises the limit, where it may, by `files`: the usual one of 1024 is too low for a machine of
/// 512 CPUs, and for a program of 500 probes where each needs two (before Linux 6.6).
void raise_file_limit(size_t files);

/// In the forked child: the limit that ovnitrace was started with.
void restore_file_limit();

} // namespace ovnitrace
