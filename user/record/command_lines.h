// SPDX-License-Identifier: BSD-2-Clause
// What the traced processes execute, as they were called.
#pragma once

#include "emulator/input/source.h"

#include <ovnitrace/capture.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace {

/// The command lines of a capture, in bounded memory: the arguments with a blank between them,
/// without control characters; "…" where one was cut.
class CommandLines {
public:
  static constexpr size_t kMostBytes = 32 << 20; ///< of all texts together

  /// `message`: a cmdline_record as the ring has it, of `bytes`.
  void take(const void *message, size_t bytes);
  /// `arguments`: each with a byte 0 behind it. `cut`: there were more.
  void add(uint32_t pid, uint64_t since_ns, std::string_view arguments, bool cut);

  const std::vector<CommandLine> &all() const { return all_; } ///< in the order of add()
  uint64_t left_out() const { return left_out_; }              ///< beyond kMostBytes

private:
  std::vector<CommandLine> all_;
  size_t bytes_ = 0;
  uint64_t left_out_ = 0;
};

/// Adds those of the processes that are alive, from /proc. None where pids are other numbers than
/// those of traces: in a PID namespace.
void add_living(CommandLines &lines);

} // namespace ovnitrace
