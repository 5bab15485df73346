// How many files we may have open.
#pragma once

#include <cstdint>

namespace ovnitrace {

/// Raises the limit, where it may, to what a capture on `cpus` CPUs needs: a ring and a chunk file each.
/// The usual limit of 1024 is too low for a machine of 512 CPUs.
void raise_file_limit(uint32_t cpus);

/// In the forked child: the limit that ovnitrace was started with.
void restore_file_limit();

} // namespace ovnitrace
