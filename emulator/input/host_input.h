// SPDX-License-Identifier: BSD-2-Clause
// Holds the opened files of one host, from which the catalog and the merge read.
#pragma once

#include "emulator/base/unique_fd.h"
#include "emulator/format/codec.h"
#include "emulator/input/trace_info.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace {

/// Successive whole chunks of a file: their bytes in the plain file, and their start in the file
/// itself.
struct FilePart {
  uint64_t start, end;
  uint64_t place;
};

/// One chunk file.
struct ChunkInput {
  std::string name;              ///< for messages
  UniqueFd fd;                   ///< a regular file; empty if the file is missing
  uint64_t size = 0;             ///< bytes, when it was opened: later growth is not read
  Codec codec = Codec::none;     ///< how its chunks are compressed
  uint16_t cpu = 0;              ///< as its name says, until its first chunk says otherwise
  uint64_t records = 0;          ///< number of its records, once it was scanned
  uint64_t written = 0;          ///< records that the tracer wrote to it, 0 not known
  uint64_t unwritten = 0;        ///< records of its CPU that were captured and could not be written
  uint64_t unwritten_events = 0; ///< events in those
  std::vector<FilePart> parts = {}; ///< what to read of it; empty: all
  /// There is no such file, though its CPU may have had something to record.
  bool missing = false;
};

/// One host.
struct HostInput {
  std::string name;
  std::string path = {};       ///< of its directory, for messages
  int64_t clock_offset_ns = 0; ///< added to each of its times
  TraceInfo info = {};         ///< what its trace.json says, by its clock
  std::vector<ChunkInput> chunks;
};

} // namespace ovnitrace
