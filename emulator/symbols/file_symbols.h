// SPDX-License-Identifier: BSD-2-Clause
// Finds functions in ELF files that may be anybody's.
#pragma once

#include "emulator/symbols/elf_symbols.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace {

/// A place in the code of a file.
struct PlaceInFile {
  uint64_t offset = 0;                  ///< bytes in the file
  std::optional<uint64_t> address = {}; ///< in the ELF file; absent: of the offset
};

/// A file, and the addresses in it whose functions and lines are asked for.
struct PlacesOfFile {
  std::string path;             ///< absolute, otherwise nothing is found
  std::string build_id;         ///< hexadecimal, must match; empty: any
  ElfSymbols::Files files = {}; ///< from kFirstKeptFile on; -1: searched for
  std::vector<PlaceInFile> places;
};

struct NamedPlace {
  std::optional<uint64_t> address;         ///< in the ELF file
  std::vector<CodePlace> functions = {{}}; ///< as from ElfSymbols::at()
};

struct NamesOfFile {
  std::string build_id;           ///< hexadecimal; empty: not known
  std::vector<NamedPlace> places; ///< in the order of the question
};

/// Looks the places up. Reads files in a child process (confined.h) of at most 1 GiB and 30 s of
/// CPU time. If the child dies over a file, the names of that file are not known, and `warn` is
/// called with a sentence that says so.
std::vector<NamesOfFile> name_places(const std::vector<PlacesOfFile> &files,
                                     const std::function<void(const std::string &)> &warn);

} // namespace ovnitrace
