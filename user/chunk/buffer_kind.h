// SPDX-License-Identifier: BSD-2-Clause
// What happens to the chunks of a capture: the kinds of the S.Ha.R.K. tracer.
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

/// Throws Error with kExitUsage.
BufferKind parse_buffer_kind(const std::string &text);

/// Bytes of 512, 64K, 16M, 2G or 1T, in powers of 1024. Throws Error with kExitUsage; `option` is
/// named in it.
uint64_t parse_size(const std::string &option, const std::string &text);

/// Throws Error if a flight recorder of so many CPUs cannot fit into this machine's memory.
void require_memory(const BufferKind &buffer, uint32_t cpus);

} // namespace ovnitrace
