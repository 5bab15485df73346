// SPDX-License-Identifier: BSD-2-Clause
// Reads and writes until all bytes are done, across short calls and interrupting signals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ovnitrace {

/// Returns how many bytes were written. If not all of them, errno says why.
size_t write_all(int file, std::string_view bytes);

/// Returns how many bytes were read from `offset` on. If not all of them, the file ends there and
/// errno is 0, or errno says why.
size_t read_at(int file, uint64_t offset, void *bytes, size_t size);

} // namespace ovnitrace
