// SPDX-License-Identifier: BSD-2-Clause
// The stacks of a capture: what stood on them when threads left their CPUs and woke others.
#pragma once

#include "emulator/input/source.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace ovnitrace {

/// One function on a stack. A text is empty and a number 0 where it is not known.
struct StackFrame {
  std::string function;  ///< demangled
  std::string source;    ///< file, as the compiler named it
  uint32_t line = 0;     ///< in `source`, where it calls the next inner one, or is
  uint32_t file = kNone; ///< index for StackTable::file(): what the code is in
  uint64_t offset = 0;   ///< bytes; where in the file or, in the kernel, from the function's start
  bool kernel = false;
  bool inlined = false; ///< into the next outer frame, with which it shares the address
};

/// A file of code that stacks go through.
struct StackFile {
  std::string path;     ///< where it was when it was mapped; "[ext4]": a module of the kernel
  std::string build_id; ///< hexadecimal, empty: not known
};

/// The stacks of one trace directory. All texts are printable, in one line.
class StackTable {
public:
  /// Reads trace.json, and completes it with the symbols and debug data that are on this machine,
  /// of files with the build ids that it says. That it holds no stacks is no fault; what is wrong
  /// is reported to `sink`, and the table is empty then. Throws nothing but for memory, which is
  /// bounded.
  static StackTable read(const std::string &directory, DiagnosticSink &sink);

  bool empty() const { return stacks_.empty(); }
  /// Numbers are 1 to size(), as parameter 2 of EXT_stack and EXT_waker_stack.
  uint32_t size() const { return uint32_t(stacks_.size()); }
  /// Its frames, as indices for frame(), from the innermost outward: those of the kernel, then
  /// those of the program. Empty for a number that the table does not have.
  std::span<const uint32_t> frames(uint32_t number) const;
  const StackFrame &frame(uint32_t index) const { return frames_[index]; }
  const StackFile &file(uint32_t index) const { return files_[index]; }
  /// The function of a frame or, where that is not known, "libc.so.6+0x1234" or "[unknown]".
  std::string name(uint32_t index) const;
  /// Its source line, "file.c:12", without folders; empty if it is not known.
  std::string place(uint32_t index) const;
  /// Whether its outermost frame of the program is probably not the first function of the thread:
  /// the rest could not be unwound (docs/stacks.md).
  bool is_cut(uint32_t number) const;

private:
  struct Stack {
    uint32_t first = 0, count = 0; ///< in indices_
    bool cut = false;
  };
  friend class StackReader;

  std::vector<StackFile> files_;
  std::vector<StackFrame> frames_;
  std::vector<uint32_t> indices_;
  std::vector<Stack> stacks_; ///< by number - 1
};

/// The stacks of all traces of a source, by host.
class Stacks {
public:
  /// Reads those of each host that has some.
  Stacks(const Catalog &catalog, DiagnosticSink &sink);
  const StackTable &of_host(uint32_t host) const { return tables_[host]; }
  const StackTable &of_thread(const ThreadInfo &thread) const { return tables_[thread.host]; }

private:
  std::vector<StackTable> tables_;
};

} // namespace ovnitrace
