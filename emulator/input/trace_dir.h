// SPDX-License-Identifier: BSD-2-Clause
// Opens the chunk files of a trace directory (docs/format.md). trace_info.h reads its trace.json.
#pragma once

#include "emulator/input/host_input.h"
#include "emulator/input/trace_info.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace {

/// Returns whether a path looks like a trace directory: it holds a chunk file or a trace.json.
bool is_trace_dir(const std::string &path);

/// Returns the names of a directory's chunk files with this codec, by CPU. Omits a compressed file
/// whose plain one exists too: it is left from an interrupted compression. Throws Error if the
/// directory cannot be read.
std::vector<std::string> chunk_files(const std::string &path, Codec codec);

/// Opens the chunk files that a directory has, in the order of their CPUs; not those of parts.
/// Throws Error.
std::vector<ChunkInput> open_chunks(const std::string &path);

/// Opens the chunk files of a trace directory, in the order of their CPUs, and lists missing ones.
/// Throws Error if there is no such directory, if no chunk file has a record, or if one cannot be
/// opened.
HostInput open_trace_dir(const std::string &path, const TraceInfo &info, int64_t clock_offset_ns);

} // namespace ovnitrace
