// SPDX-License-Identifier: BSD-2-Clause
// Reads the parts of a trace that was rotated (docs/format.md) as one trace.
#pragma once

#include "emulator/input/host_input.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ovnitrace {

/// Returns the paths of the parts of a trace, oldest first: the newest one, and those before it up
/// to a part that was removed. Empty: it has no parts.
std::vector<std::string> trace_parts(const std::string &path);

/// Returns the CPUs that have a file in a part that has ended. Nothing: `path` is no such part.
/// Throws Error.
std::optional<std::set<uint16_t>> cpus_of_ended_part(const std::string &path);

/// Returns a file for each CPU with all its chunks, copied into temporary files, without what each
/// part has for a reader of that part alone. Throws Error.
std::vector<ChunkInput> join_parts(const std::string &path, const std::vector<std::string> &parts);

} // namespace ovnitrace
