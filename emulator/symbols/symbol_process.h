// SPDX-License-Identifier: BSD-2-Clause
// Reads symbols in a process of its own. Whoever runs a program chooses what its ELF file holds and
// which other files that names: reading it can take all time and memory that there are, wait for a
// FIFO for ever, or fail within elfutils. None of that may end a recording.
#pragma once

#include "emulator/symbols/elf_symbols.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace {

/// What is asked of one file.
struct SymbolQuestion {
  struct Place {
    uint64_t offset = 0;                  ///< bytes in the file
    std::optional<uint64_t> address = {}; ///< in the ELF file; none: that of `offset`
  };
  std::string path, build_id;         ///< as ElfSymbols::open() takes them
  std::optional<uint64_t> inode = {}; ///< that the file must have, if there is one
  std::vector<Place> places;
};

struct SymbolAnswer {
  struct Place {
    std::optional<uint64_t> address; ///< in the ELF file
    std::vector<CodePlace> places;   ///< as ElfSymbols::at() gives them; empty: not known
  };
  std::string build_id;      ///< of the file that was read; empty: it has none, or none was
  std::vector<Place> places; ///< as many as were asked for
};

class SymbolProcess {
public:
  /// `patience`: ns without an answer after which a file takes too long.
  explicit SymbolProcess(uint64_t patience = 20'000'000'000) : patience_(patience) {}

  /// Of a file that takes too long, needs too much memory or ends its reader, the places that were
  /// not reached are unknown, which is printed; after a few of them nothing more is read.
  SymbolAnswer ask(const SymbolQuestion &question);

private:
  uint64_t patience_;
  int failed_ = 0; ///< files
};

} // namespace ovnitrace
