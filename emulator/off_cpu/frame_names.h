// SPDX-License-Identifier: BSD-2-Clause
// Names frames, threads and files in profiles.
#pragma once

#include "emulator/off_cpu/off_cpu_times.h"

#include <fmt/format.h>

#include <string>

namespace ovnitrace {

/// Returns the name of a frame. Functions of the kernel end in "_[k]", as in folded stacks: a
/// program may have a function of the same name.
inline std::string frame_name(const StackTable &table, uint32_t frame) {
  return table.name(frame) + (table.frame(frame).kernel ? "_[k]" : "");
}

/// Returns the source file of a frame or else the file of its code; empty if neither is known.
inline std::string frame_file(const StackTable &table, uint32_t frame) {
  const StackFrame &of = table.frame(frame);
  return !of.source.empty() || of.file == kNone ? of.source : table.file(of.file).path;
}

/// Returns the name of a thread or process; "[12]" if it has none.
inline std::string name_or_number(const std::string &name, uint32_t number) {
  return name.empty() ? fmt::format("[{}]", number) : name;
}

} // namespace ovnitrace
