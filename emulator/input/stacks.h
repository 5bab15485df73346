// SPDX-License-Identifier: BSD-2-Clause
// Reads the stacks of a capture: the calls of threads that left their CPUs or woke others.
#pragma once

#include "emulator/input/source.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ovnitrace {

/// One function on a stack. Unknown texts are empty, unknown numbers 0.
struct StackFrame {
  std::string function;  ///< demangled
  std::string source;    ///< file, as the compiler named it
  uint32_t line = 0;     ///< in `source`: where it calls the next inner function, or where it is
  uint32_t file = kNone; ///< index for StackTable::file(): the file of the code
  uint64_t offset = 0;   ///< bytes, in the file; in the kernel, from the start of the function
  bool kernel = false;
  bool missing = false; ///< no function, but a place where frames may be missing
  bool inlined = false; ///< into the next outer frame, which has the same address
};

/// A file with code.
struct StackFile {
  std::string path;     ///< where it was mapped from; "[ext4]": a module of the kernel
  std::string build_id; ///< hexadecimal, empty: not known
};

/// The stacks of one trace directory. All texts are printable single lines.
class StackTable {
public:
  /// Reads trace.json, then adds symbols and debug data from files on this machine whose build ids
  /// match. A trace without stacks has an empty table. Anything wrong is reported to `sink` and
  /// makes the table empty. Throws only for lack of memory, which is bounded.
  static StackTable read(const std::string &directory, DiagnosticSink &sink);

  bool empty() const { return stacks_.empty(); }
  /// Returns the largest number; numbers start at 1, as in parameter 2 of EXT_stack and
  /// EXT_waker_stack.
  uint32_t size() const { return uint32_t(stacks_.size()); }
  /// Returns the frames of a stack as indices for frame(), from the innermost outward: the
  /// kernel's, then the program's. Empty if there is no such number.
  std::span<const uint32_t> frames(uint32_t number) const;
  const StackFrame &frame(uint32_t index) const { return frames_[index]; }
  const StackFile &file(uint32_t index) const { return files_[index]; }
  /// Returns the function of a frame or, if it is not known, "libc.so.6+0x1234" or "[unknown]".
  std::string name(uint32_t index) const;
  /// Returns the source line of a frame, "file.c:12", without folders; empty if it is not known.
  std::string place(uint32_t index) const;
  /// Returns whether the rest of the stack could probably not be unwound: its outermost program
  /// frame is not the first function of the thread (docs/stacks.md).
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

/// The stacks of all hosts of a trace.
class Stacks {
public:
  /// Reads the stacks of each host that has some.
  Stacks(const Catalog &catalog, DiagnosticSink &sink);
  const StackTable &of_host(uint32_t host) const { return tables_[host]; }
  const StackTable &of_thread(const ThreadInfo &thread) const { return tables_[thread.host]; }

private:
  std::vector<StackTable> tables_;
};

} // namespace ovnitrace
