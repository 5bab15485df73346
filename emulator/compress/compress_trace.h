// SPDX-License-Identifier: BSD-2-Clause
// Compresses and decompresses the chunk files of a trace directory.
#pragma once

#include <cstdint>
#include <string>

namespace ovnitrace {

struct CompressResult {
  unsigned files = 0;
  unsigned left = 0; ///< files that had the wanted form already
  uint64_t bytes_before = 0, bytes_after = 0;
};

/// Replaces each cpuNNNN.ftr with cpuNNNN.ftr.zst, in frames of one chunk, at `level`. At every
/// moment each file exists whole in one form. Throws Error at the first file that fails, which
/// stays as it was; earlier ones stay done. Throws Error and changes nothing if the directory has
/// no chunk file or is being written (lock_trace()).
CompressResult compress_trace(const std::string &directory, int level);

/// Does the reverse. Throws Error for a damaged file and leaves it as it is.
CompressResult decompress_trace(const std::string &directory);

} // namespace ovnitrace
