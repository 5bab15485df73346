// SPDX-License-Identifier: BSD-2-Clause
// Names of places in ELF files, which may be anybody's.
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
  std::optional<uint64_t> address = {}; ///< of the ELF file; nothing: it is that of the offset
};

/// What is asked of a file.
struct PlacesOfFile {
  std::string path;                   ///< absolute; nothing is known of any other
  std::string build_id;               ///< hexadecimal, that it must have; empty: any
  std::optional<uint64_t> inode = {}; ///< that it must have; nothing: any
  std::vector<PlaceInFile> places;
};

struct NamedPlace {
  std::optional<uint64_t> address;         ///< of the ELF file
  std::vector<CodePlace> functions = {{}}; ///< as ElfSymbols::at() gives them
};

struct NamesOfFile {
  std::string build_id;           ///< hexadecimal; empty: not known
  std::vector<NamedPlace> places; ///< one for each that was asked for
};

/// Looks the places up. Files are read in a child process (confined.h) of at most 1 GiB and 30 s of
/// CPU time. Where it ends over a file, the names of that file are not known, and `warn` is called
/// with a sentence that says so.
std::vector<NamesOfFile> name_places(const std::vector<PlacesOfFile> &files,
                                     const std::function<void(const std::string &)> &warn);

} // namespace ovnitrace
