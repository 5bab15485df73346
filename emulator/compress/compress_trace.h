// SPDX-License-Identifier: BSD-2-Clause
// Compresses the chunk files of a trace directory, and brings them back.
#pragma once

#include <cstdint>
#include <string>

namespace ovnitrace {

struct CompressResult {
  unsigned files = 0;
  unsigned left = 0; ///< files that were in the wanted form already
  uint64_t bytes_before = 0, bytes_after = 0;
};

/// Makes cpuNNNN.ftr.zst of each cpuNNNN.ftr, a frame a chunk, at `level`. File by file: at every
/// moment each is there whole in one form, and what was done stays done. Throws Error at the first
/// that fails; that one is left as it was. Throws it too, and changes nothing, if the directory has
/// no chunk file or is being written (lock_trace()).
CompressResult compress_trace(const std::string &directory, int level);

/// The reverse. A damaged file is an Error and is left as it is.
CompressResult decompress_trace(const std::string &directory);

} // namespace ovnitrace
