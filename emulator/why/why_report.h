// SPDX-License-Identifier: BSD-2-Clause
// What `ovnitrace why` prints, as text and as JSON.
#pragma once

#include "emulator/base/json_stream.h"
#include "emulator/critical/path.h"
#include "emulator/input/stacks.h"
#include "emulator/input/trace_dir.h"
#include "emulator/why/explanation.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

/// Whose times a line of the table of threads has.
enum class WhyBy : uint8_t { thread, process, name };

struct WhyOptions {
  std::optional<size_t> top = {}; ///< lines of each table at most, the rest is one more; 0: all
  std::string sort = "waiting";   ///< one of why_sort_words()
  WhyBy by = WhyBy::thread;
  bool brief = false;   ///< only the answer
  size_t columns = 100; ///< that a line may have
};

/// The words that the table of threads can be sorted by, the default first.
std::vector<std::string> why_sort_words();

/// For people: the answer in two sentences, where the time went as a tree, the threads, the longest
/// waits and blocks, who wakes whom.
std::string why_text(const WhyInput &input, const WhyOptions &options = {});

/// For people: in which calls threads were blocked, where in the program, and who woke them.
std::string blocked_text(const WhyInput &input, size_t top, size_t columns);

/// For programs: one object, times in ns. Keys are never renamed.
void write_why_json(const WhyInput &input, const JsonStream::Write &write);

} // namespace ovnitrace
