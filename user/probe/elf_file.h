// SPDX-License-Identifier: BSD-2-Clause
// Reads what a program or library says about itself: its probes, and its dynamic loader.
#pragma once

#include "user/probe/probe.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct Elf;

namespace ovnitrace {

struct ElfFile {
  std::vector<Probe> probes; ///< by offset, each offset once
  size_t not_understood = 0; ///< probes of ours that are no use: other arguments, not on a nop
  std::string interpreter;   ///< PT_INTERP, an absolute path; empty: none
  uint64_t bytes_read = 0;   ///< of the file, about
};

/// Returns whether the file is a program or shared library of this machine's kind, and cannot make
/// libelf take memory without bounds.
bool is_native_program(int fd);

/// Returns whether the file is an ELF file of another kind than this machine's, as of 32 bits.
bool is_foreign_program(int fd);

struct EndElf {
  void operator()(Elf *elf) const;
};
using ElfHandle = std::unique_ptr<Elf, EndElf>;

/// Opens a program or shared library of this machine's kind; returns null for any other file. `fd`
/// must stay open.
ElfHandle open_elf(int fd);

/// Reads a program or shared library of this machine's kind; returns nothing for any other file.
/// The file belongs to a user who may have made it to harm us: everything that it says is checked,
/// and memory is bounded. `fd` is a regular file and stays the caller's.
std::optional<ElfFile> read_elf_file(int fd);

} // namespace ovnitrace
