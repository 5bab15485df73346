// SPDX-License-Identifier: BSD-2-Clause
// Looks again, on this machine, for what a capture did not find out about its stacks.
#pragma once

#include "emulator/symbols/elf_symbols.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace {

/// A place in a file of code of which the function or the line is not known.
struct UnknownPlace {
  uint32_t frame = 0; ///< the caller's number for it
  uint32_t file = 0;
  std::string path, build_id;           ///< of the file
  uint64_t offset = 0;                  ///< bytes in the file
  std::optional<uint64_t> address = {}; ///< of the ELF file
};

struct FoundPlace {
  uint32_t frame = 0;
  std::vector<CodePlace> places; ///< as ElfSymbols::at() gives them, the last with a name or a line
};

/// Asks the file of that path, if it has that build id, and else the debug data of that build id.
/// Without a build id nothing is asked. `warn`: as name_places() calls it.
std::vector<FoundPlace> find_places(std::vector<UnknownPlace> places,
                                    const std::function<void(const std::string &)> &warn);

} // namespace ovnitrace
