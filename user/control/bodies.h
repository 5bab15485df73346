// SPDX-License-Identifier: BSD-2-Clause
// Finds where the functions of a file begin and end, and where instructions begin in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ovnitrace::control {

struct Image;

/// The instructions of one function, or of a part of one. Addresses are as the file was linked.
struct Body {
  uint64_t start = 0, end = 0;
  auto operator<=>(const Body &) const = default;
};

/// Returns the functions that unwind information describes: `bytes` of .eh_frame, which is at
/// `address`. The bytes may be anything; those that say nothing are skipped.
std::vector<Body> bodies_of_frames(std::string_view bytes, uint64_t address);

/// Returns where the instruction begins that has the byte at `address`. Decodes from the start of
/// its function, or from the end of the function before, if no known function has the address.
/// Nothing if `address` is no code, or if what lies before it cannot be decoded.
std::optional<uint64_t> instruction_at(const Image &image, uint64_t address);

} // namespace ovnitrace::control
