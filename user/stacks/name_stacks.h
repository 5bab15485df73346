// SPDX-License-Identifier: BSD-2-Clause
// Names the functions on the stacks of a capture.
#pragma once

#include "emulator/symbols/elf_symbols.h"
#include "user/stacks/code_files.h"
#include "user/stacks/stack_collector.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace {

/// What is known of one CapturedFrame.
struct NamedFrame {
  /// The functions there, from the innermost inlined one to the one that is called.
  std::vector<CodePlace> places = {{}};
  std::optional<uint64_t> address; ///< in an ELF file
  uint64_t offset = 0; ///< bytes: in the file; of the kernel, from the start of the function
  std::optional<uint32_t> module; ///< of the kernel: index in files, as "[ext4]"
};

struct NamedStacks {
  CapturedStacks captured;            ///< and the kernel's modules among the files
  std::vector<std::string> build_ids; ///< of captured.files; empty: not known
  std::vector<NamedFrame> frames;     ///< of captured.frames
  /// By number - 1: the outermost frame is probably not where the thread started.
  std::vector<bool> cut;
  uint32_t missing = 0; ///< index of a frame of CapturedFrame::missing
};

/// Reads the kernel's symbols (an open /proc/kallsyms; -1: none) and those of JIT compilers, but no
/// files yet. `since`: when the capture started (ns, CLOCK_REALTIME).
NamedStacks name_stacks(CapturedStacks &&captured, int kallsyms, uint64_t since);

/// Adds the names from symbols and debug data of files. A file that is not the one that was mapped
/// is not read. Calls `warn` with a sentence about each file that cannot be read. `fetch` gets
/// debug data by build id; nullptr: nothing is fetched.
void name_files(NamedStacks &stacks, CodeFiles &files, const CodeFiles::Fetch &fetch,
                const std::function<void(const std::string &)> &warn);

/// Sets `cut` from the names that are there.
void find_cuts(NamedStacks &stacks);

} // namespace ovnitrace
