// SPDX-License-Identifier: BSD-2-Clause
// The streams of an ovni trace directory and what they say about looms, CPUs and threads.
#pragma once

#include "emulator/input/source.h"
#include "emulator/ovni/stream_file.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace::ovni {

/// A stream that can be read.
struct Stream {
  StreamFile file;
  uint32_t thread; ///< index into Catalog::threads
  uint16_t name;   ///< index into Catalog::files
  int64_t offset;  ///< ns to add to its times
};

/// The CPUs of one loom, by the index that its events name them with.
using CpuIndices = std::vector<uint32_t>; ///< phyid of index i, kNone where there is none

struct StreamDir {
  Catalog catalog; ///< one host a loom; CpuInfo::index is the phyid
  std::vector<Stream> streams;
  std::vector<CpuIndices> cpu_indices; ///< by host
};

/// Whether `path` is a directory that holds an ovni trace or a part of one: below it are loom.*,
/// proc.*, thread.* or a stream.json. Looks at its own entries only.
bool is_stream_dir(const std::string &path);

/// Reads every stream.json below `path`, and every stream once, to learn its times. What is missing
/// or wrong goes to `sink` and the rest is used. `clock_offsets` is a table as ovnisync makes it;
/// empty: `path`/clock-offsets.txt if there is one. Throws Error when `path` cannot be read, holds
/// no thread at all or too many, or a table that was asked for cannot be read.
StreamDir open_stream_dir(const std::string &path, const std::string &clock_offsets,
                          DiagnosticSink &sink);

} // namespace ovnitrace::ovni
