// SPDX-License-Identifier: BSD-2-Clause
// The longest sections of one number, and why each of them took so long.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/input/source.h"
#include "emulator/input/trace_dir.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace ovnitrace {

/// One section of a thread, of which both ends were seen.
struct LongSection {
  uint32_t thread = kNone;   ///< index into Catalog::threads
  uint64_t from = 0, to = 0; ///< ns on the clock of the trace

  uint64_t length() const { return to - from; }
};

/// The `most` longest sections `number` of the threads that `cut` keeps, the longest first; of
/// those in one another, each is one. Reads all of `source`.
std::vector<LongSection> longest_sections(EventSource &source, const Cut &cut, uint32_t number,
                                          size_t most);

/// What the explanation of sections is made from; borrowed.
struct SlowestInput {
  const std::string &path;
  const TraceInfo &info;
  const Cut &cut;
  uint32_t number; ///< of the sections
  size_t most;
  std::function<std::unique_ptr<EventSource>()> open; ///< the trace, from its start
};

/// For people: of each where the time of its thread went, and its critical path. Reads the trace
/// twice for each section, up to the section's end. Throws Error where there is no such
/// section.
std::string slowest_text(const SlowestInput &input);

/// The same for programs.
nlohmann::ordered_json slowest_json(const SlowestInput &input);

} // namespace ovnitrace
