// SPDX-License-Identifier: BSD-2-Clause
// Checks limits on what may change between runs: "wait.p99<+10%".
#pragma once

#include "emulator/diff/comparison.h"
#include "emulator/diff/quantity.h"

#include <string>
#include <vector>

namespace ovnitrace {

/// A limit. docs/diff.md has the grammar.
struct Gate {
  enum class Limit : uint8_t {
    percent, ///< of the change, relative to A
    change,  ///< of the change, ns
    value,   ///< of B, ns
  };
  std::string text; ///< as given
  Quantity quantity = {};
  Limit limit = Limit::percent;
  double most = 0; ///< percent or ns
};

/// Parses a gate. Throws Error (usage).
Gate parse_gate(const std::string &text);

struct GateResult {
  std::string text;    ///< of the gate
  double a = 0, b = 0; ///< medians, ns
  bool passed = false;
  std::string why = {}; ///< why it passed or failed, if not only because of the limit
};

/// Checks a gate. It fails if the limit is exceeded and, with enough runs, the change is shown. It
/// also fails if events were lost that it is about. Throws Error (usage) for a group that no run
/// has.
GateResult check_gate(const Gate &gate, const ComparedRuns &runs);

} // namespace ovnitrace
