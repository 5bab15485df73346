// SPDX-License-Identifier: BSD-2-Clause
// Functions and source lines of one ELF file, from its symbols and from its debug data.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace {

/// What a place in the code is in. A text is empty and a number 0 where it is not known.
struct CodePlace {
  std::string function; ///< demangled
  std::string source;   ///< file, as the compiler named it
  uint32_t line = 0;
};

/// Debug data is looked for in the file and, where a file with the same build id is there, below
/// /usr/lib/debug and where its .gnu_debuglink points. A hostile file can end the process: open
/// those of others only in a child process (file_symbols.h).
class ElfSymbols {
public:
  /// The regular file at `path`, which is absolute. With `build_id`, in hexadecimal, the file must
  /// have that one; if it has not, or is not there, the debug file of that build id is taken. Null
  /// if there is nothing.
  static std::unique_ptr<ElfSymbols> open(const std::string &path, const std::string &build_id);
  ~ElfSymbols();
  ElfSymbols(const ElfSymbols &) = delete;
  ElfSymbols &operator=(const ElfSymbols &) = delete;

  const std::string &build_id() const { return build_id_; } ///< hexadecimal; empty: it has none
  uint64_t inode() const { return inode_; }
  /// The address, as the file counts, of what is at `offset`, bytes in the file; nothing if no
  /// segment has it, or if the file is one of debug data only.
  std::optional<uint64_t> address_of(uint64_t offset) const;
  /// The functions that are at an address, from the innermost inlined one to the one that is
  /// called. At least one; its function may be unknown.
  std::vector<CodePlace> at(uint64_t address);

private:
  struct Opened; // elfutils' side
  ElfSymbols(std::unique_ptr<Opened> elf);

  std::unique_ptr<Opened> elf_;
  std::string build_id_;
  uint64_t inode_ = 0;
};

} // namespace ovnitrace
