// SPDX-License-Identifier: BSD-2-Clause
// Reads the streams of an ovni trace directory, and what they say about looms, CPUs and threads.
#pragma once

#include "emulator/input/source.h"
#include "emulator/ovni/stream_file.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace::ovni {

/// A readable stream.
struct Stream {
  StreamFile file;
  uint32_t thread; ///< index into Catalog::threads
  uint16_t name;   ///< index into Catalog::files
  int64_t offset;  ///< ns to add to its times
};

/// The CPUs of one loom, by the index with which its events name them.
using CpuIndices = std::vector<uint32_t>; ///< phyid of index i, kNone if there is no such CPU

struct StreamDir {
  Catalog catalog; ///< each loom is a host; CpuInfo::index is the phyid
  std::vector<Stream> streams;
  std::vector<CpuIndices> cpu_indices; ///< by host
};

/// Returns whether `path` is a directory with an ovni trace or a part of one: loom.*, proc.*,
/// thread.* or a stream.json. Looks only at its own entries.
bool is_stream_dir(const std::string &path);

/// Reads every stream.json below `path`, and scans every stream for its times. Reports what is
/// missing or wrong to `sink` and uses the rest. `clock_offsets` is a table as ovnisync makes it;
/// empty: `path`/clock-offsets.txt if it exists. Throws Error if `path` cannot be read, has no
/// thread or too many, or if a given table cannot be read.
StreamDir open_stream_dir(const std::string &path, const std::string &clock_offsets,
                          DiagnosticSink &sink);

} // namespace ovnitrace::ovni
