// SPDX-License-Identifier: BSD-2-Clause
// Explains the longest sections of a number.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/input/source.h"
#include "emulator/input/trace_info.h"
#include "emulator/slices/long_sections.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace ovnitrace {

/// Returns the `most` longest sections `number` of the threads that `cut` keeps, longest first.
/// Nested sections are listed one by one. Reads all of `source`.
std::vector<LongSection> longest_sections(EventSource &source, const Cut &cut, uint32_t number,
                                          size_t most);

/// The input of an explanation of sections; borrowed.
struct SlowestInput {
  const std::string &path;
  const TraceInfo &info;
  const Cut &cut;
  uint32_t number; ///< of the sections
  size_t most;
  std::function<std::unique_ptr<EventSource>()> open; ///< opens the trace at its start
  size_t columns = 100;                               ///< width of a line of text
};

/// Returns text: for each section where its thread's time went, and its critical path. Reads the
/// trace twice for each section, up to the section's end. Throws Error if there is no such section.
std::string slowest_text(const SlowestInput &input);

/// Returns the same as JSON.
nlohmann::ordered_json slowest_json(const SlowestInput &input);

} // namespace ovnitrace
