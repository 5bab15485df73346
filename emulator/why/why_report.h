// SPDX-License-Identifier: BSD-2-Clause
// What `ovnitrace why` prints, as text and as JSON.
#pragma once

#include "emulator/base/json_stream.h"
#include "emulator/critical/path.h"
#include "emulator/input/stacks.h"
#include "emulator/input/trace_dir.h"
#include "emulator/why/explanation.h"

#include <string>

namespace ovnitrace {

/// All that the output is made from; borrowed.
struct WhyInput {
  const std::string &path;
  const TraceInfo &info;
  const Catalog &catalog;
  const Stacks &stacks;
  const Explanation &why;
  CriticalPath *critical_path = nullptr; ///< in the JSON too, where there is one
};

/// For people: where the time went as a tree, the threads, the longest waits and blocks, who wakes
/// whom.
std::string why_text(const WhyInput &input);

/// For programs: one object, times in ns. Keys are never renamed.
void write_why_json(const WhyInput &input, const JsonStream::Write &write);

} // namespace ovnitrace
