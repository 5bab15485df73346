// SPDX-License-Identifier: BSD-2-Clause
// Writes stacks as Perfetto interns them: each name, frame and stack once, with a number.
#pragma once

#include "emulator/input/stacks.h"
#include "emulator/perfetto/packet_file.h"

#include <cstdint>
#include <string>
#include <unordered_map>

namespace ovnitrace::perfetto {

/// The stacks of one host. Memory grows with distinct stacks.
class Callstacks {
public:
  /// Borrows both.
  Callstacks(const StackTable &table, PacketFile &file) : table_(table), file_(file) {}

  /// Writes what is not yet in the file. Returns the number of the stack for events that follow; 0
  /// if there is no such stack.
  uint64_t write(uint32_t stack);

private:
  using Texts = std::unordered_map<std::string, uint64_t>;

  uint64_t frame(uint32_t index, protozero::pbf_builder<InternedData> &data);

  const StackTable &table_;
  PacketFile &file_;
  Texts functions_, paths_;
  std::unordered_map<uint32_t, uint64_t> frames_; ///< by index in the table
  std::unordered_map<uint32_t, uint64_t> stacks_; ///< by number in the table
};

} // namespace ovnitrace::perfetto
