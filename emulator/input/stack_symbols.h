// SPDX-License-Identifier: BSD-2-Clause
// Looks on this machine for functions and lines of stacks that the capture could not find.
#pragma once

#include "emulator/symbols/elf_symbols.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace {

/// A place in a file of code whose function or line is not known.
struct UnknownPlace {
  uint32_t frame = 0; ///< the caller's number for the place
  uint32_t file = 0;
  std::string path, build_id;           ///< of the file
  uint64_t offset = 0;                  ///< bytes in the file
  std::optional<uint64_t> address = {}; ///< in the ELF file
};

struct FoundPlace {
  uint32_t frame = 0;
  /// As ElfSymbols::at() gives them; the last one has a name or a line.
  std::vector<CodePlace> places;
};

/// Returns the places that it finds. Reads the file at the given path if its build id matches,
/// otherwise the debug data with that build id. Skips places without a build id. `warn`: as
/// name_places() calls it.
std::vector<FoundPlace> find_places(std::vector<UnknownPlace> places,
                                    const std::function<void(const std::string &)> &warn);

} // namespace ovnitrace
