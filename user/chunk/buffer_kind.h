// SPDX-License-Identifier: BSD-2-Clause
// Reads --buffer: what happens to the chunks of a capture. The kinds are those of S.Ha.R.K.
#pragma once

#include <cstdint>
#include <string>

namespace ovnitrace {

/// "disk", "last:SIZE" or "stop:SIZE", as --buffer has it; "jtn" and "cyc:SIZE" are the manual's
/// names of the first two.
struct BufferKind {
  enum Kind {
    kJtn,  ///< linked chunks: all is kept, on disk
    kCyc,  ///< cyclic: the last `bytes` of each CPU are kept, in memory
    kStop, ///< tracing stops when `bytes` are recorded
  } kind = kJtn;
  uint64_t bytes = 0;
};

/// Reads the text of --buffer. Throws Error with kExitUsage.
BufferKind parse_buffer_kind(const std::string &text);

/// Returns the bytes of 512, 64K, 16M, 2G or 1T, in powers of 1024. Throws Error with kExitUsage,
/// which names `option`.
uint64_t parse_size(const std::string &option, const std::string &text);

} // namespace ovnitrace
