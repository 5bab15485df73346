// The opened files of one host: what the catalog is made from and what the merge reads.
#pragma once

#include "emulator/unique_fd.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace {

/// One chunk file.
struct ChunkInput {
  std::string name;  ///< for messages
  UniqueFd fd;       ///< a regular file
  uint64_t size = 0; ///< bytes, when it was opened: what is written later is not read
  bool compressed = false; ///< of zstd frames (emulator/compress)
  uint16_t cpu = 0;  ///< as its name says, until its first chunk says otherwise
};

/// One host.
struct NodeInput {
  std::string name;
  int64_t clock_offset_ns = 0; ///< added to each of its times
  uint32_t cpus = 0;           ///< CPUs that it has at least, 0 unknown
  std::vector<ChunkInput> chunks;
};

} // namespace ovnitrace
