// SPDX-License-Identifier: BSD-2-Clause
// Makes the output of `ovnitrace why`, as text and as JSON.
#pragma once

#include "emulator/base/json_stream.h"
#include "emulator/critical/path.h"
#include "emulator/input/stacks.h"
#include "emulator/input/trace_info.h"
#include "emulator/why/explanation.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace {

/// Everything that the output is made from; borrowed.
struct WhyInput {
  const std::string &path;
  const TraceInfo &info;
  const Catalog &catalog;
  const Stacks &stacks;
  const Explanation &why;
  CriticalPath *critical_path = nullptr; ///< shown in the JSON too, if not null
  /// The command that explains the same threads and times, for the advice.
  const std::string command = "ovnitrace why";
};

/// What a line of the table of threads is about.
enum class WhyBy : uint8_t { thread, process, name, cgroup };

struct WhyOptions {
  std::optional<size_t> top = {}; ///< most lines of each table, and one for the rest; 0: all
  std::string sort = "waiting";   ///< one of why_sort_words(); "latency" adds a column
  WhyBy by = WhyBy::thread;
  bool brief = false;   ///< only the answer
  size_t columns = 100; ///< width of a line
  size_t depth = 1;     ///< functions that the tree names of a stack, from the innermost outward
};

/// Returns the words for sorting the table of threads, the default first.
std::vector<std::string> why_sort_words();

/// Returns text: the answer in two sentences, the tree of times, the threads, the longest waits and
/// blocks, and who wakes whom.
std::string why_text(const WhyInput &input, const WhyOptions &options = {});

/// Returns text: in which calls and where in the program threads were blocked, and who woke them.
std::string blocked_text(const WhyInput &input, size_t top, size_t columns);

/// Returns a JSON object. Times are ns. Keys are never renamed.
void write_why_json(const WhyInput &input, const JsonStream::Write &write);

} // namespace ovnitrace
