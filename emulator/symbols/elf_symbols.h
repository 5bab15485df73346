// SPDX-License-Identifier: BSD-2-Clause
// Finds functions and source lines in one ELF file, from its symbols and its debug data.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace {

/// A function at a place in the code. Unknown texts are empty, unknown numbers 0.
struct CodePlace {
  std::string function; ///< demangled
  std::string source;   ///< file, as the compiler named it
  uint32_t line = 0;
};

/// An ELF file and its debug data, which is searched for in the file, below /usr/lib/debug, and
/// where .gnu_debuglink points; build ids must match. A hostile file can end the process: open
/// files of other users only in a child process (file_symbols.h).
class ElfSymbols {
public:
  /// Descriptors of a file and of its debug file; -1: search for them. They stay the caller's.
  struct Files {
    int file = -1, debug = -1;
  };
  /// Opens the regular file at `path`, which is absolute, or the one in `files`. If it lacks
  /// `build_id` (hexadecimal) or does not exist, opens the debug file with that build id. Returns
  /// nullptr if there is no such file either.
  static std::unique_ptr<ElfSymbols> open(const std::string &path, const std::string &build_id,
                                          Files files);
  static std::unique_ptr<ElfSymbols> open(const std::string &path, const std::string &build_id) {
    return open(path, build_id, Files());
  }
  ~ElfSymbols();

  const std::string &build_id() const { return build_id_; } ///< hexadecimal; empty: not known
  /// Returns the name of the debug file that .gnu_debuglink says; empty if there is no such
  /// section.
  std::string debug_link() const;
  /// Returns whether there is debug data, not only symbols.
  bool has_debug_data() const;
  /// Returns the address, as the file counts, of the byte at `offset` in the file. Returns nothing
  /// if no segment has it, or if the file has only debug data.
  std::optional<uint64_t> address_of(uint64_t offset) const;
  /// Returns the functions at an address, from the innermost inlined one to the called one. At
  /// least one; its name may be unknown.
  std::vector<CodePlace> at(uint64_t address);

private:
  struct Opened; // the part that uses elfutils
  ElfSymbols(std::unique_ptr<Opened> elf);

  std::unique_ptr<Opened> elf_;
  std::string build_id_;
};

} // namespace ovnitrace
