// SPDX-License-Identifier: BSD-2-Clause
// Finds the instructions that leave a function: exit_func sets probes on them.
#pragma once

#include "user/control/image.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace::control {

struct Leaves {
  std::vector<uint64_t> at; ///< instructions that may leave it, in order
  std::string refused;      ///< why they are not all known, in words; then there are none
};

/// Decodes the function that starts at `address`, with the parts of it that lie elsewhere
/// (foo.cold), as far as jumps lead. It is left by its returns, by jumps to other functions (of a
/// conditional one, its target is named), and by jumps through pointers. A jump through a table of
/// a switch stays inside. One that may be either is refused.
Leaves find_leaves(const Image &image, uint64_t address);

} // namespace ovnitrace::control
