// SPDX-License-Identifier: BSD-2-Clause
// Names a time of a run: "wall", "wait.p99", "blocked.futex@worker-*".
#pragma once

#include "emulator/diff/run_times.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ovnitrace {

/// A quantity of a gate. docs/diff.md has the grammar.
struct Quantity {
  enum class Of : uint8_t { wall, life, path, wait };
  Of of = Of::wall;
  TimeCause::Kind kind = TimeCause::Kind::unknown; ///< of life and path
  std::string call = {};                           ///< of blocked; empty: all calls
  double percentile = 0;                           ///< of waits; 100: the longest
  std::string group = {};                          ///< a shell pattern; empty: all groups

  bool has_group(const std::string &of_run, const Names &names) const;
  /// Returns its value in a run, ns.
  uint64_t value(const RunTimes &run, const Names &names) const;
};

/// Returns nothing if the text is no quantity.
std::optional<Quantity> parse_quantity(std::string_view text);

/// Returns the word of a kind, as in a quantity.
const char *kind_word(TimeCause::Kind kind);

} // namespace ovnitrace
