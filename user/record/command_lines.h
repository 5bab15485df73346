// SPDX-License-Identifier: BSD-2-Clause
// Collects the command lines of the traced processes.
#pragma once

#include "emulator/input/source.h"

#include <ovnitrace/capture.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace {

/// Keeps the command lines of a capture, in bounded memory. Arguments have a blank between them and
/// no control characters; "…" where one was cut.
class CommandLines {
public:
  static constexpr size_t kMostBytes = 32 << 20; ///< of all, also those of short texts

  /// `message`: a cmdline_record as the ring has it, of `bytes`.
  void take(const void *message, size_t bytes);
  /// `arguments`: each with a byte 0 behind it. `cut`: there were more.
  void add(uint32_t pid, uint64_t since_ns, std::string_view arguments, bool cut);

  const std::vector<CommandLine> &all() const { return all_; } ///< in the order of add()
  /// Returns the first word of the last command line of a process; empty: it has none.
  std::string last_program(uint32_t pid) const;
  uint64_t left_out() const { return left_out_; } ///< beyond kMostBytes

private:
  std::vector<CommandLine> all_;
  size_t bytes_ = 0;
  uint64_t left_out_ = 0;
};

/// Shortens arguments to CAPTURE_CMDLINE_LONG bytes, each with its byte 0; "…" where one was cut.
void shorten(std::vector<std::string> &arguments);

/// Adds the command lines of the processes that are alive, from /proc. Adds none in a PID
/// namespace, where pids are other numbers than in traces.
void add_living(CommandLines &lines);

} // namespace ovnitrace
