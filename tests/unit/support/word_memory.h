// SPDX-License-Identifier: BSD-2-Clause
// The memory of a program whose stack a test walks.
#pragma once

#include <ovnitrace/unwind.h>

#include <cstdint>
#include <map>

namespace ovnitrace::test {

/// Words by address. All other memory cannot be read.
using WordMemory = std::map<uint64_t, uint64_t>;

/// Reads a word, as unwind_read. `memory` is a WordMemory.
inline long read_word(void *memory, __u64 address, __u64 *to) {
  const WordMemory &words = *static_cast<WordMemory *>(memory);
  const auto found = words.find(address);
  if (found == words.end())
    return -1;
  *to = found->second;
  return 0;
}

} // namespace ovnitrace::test
