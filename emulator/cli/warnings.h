// SPDX-License-Identifier: BSD-2-Clause
// Prints what is wrong in an input.
#pragma once

#include "emulator/input/source.h"

#include <cstdint>

namespace ovnitrace {

/// Prints the first diagnostics as warnings on stderr, and counts all.
class Warnings final : public DiagnosticSink {
public:
  /// Prints at most `limit` of them.
  explicit Warnings(uint64_t limit = 10) : limit_(limit) {}
  void report(const Diagnostic &diagnostic) override;

  /// Prints how many were not printed. To be called at the end.
  void finish() const;
  /// Returns how many are about something missing or doubtful.
  uint64_t damage() const { return damage_; }

private:
  uint64_t limit_;
  uint64_t reported_ = 0, printed_ = 0;
  uint64_t damage_ = 0;
};

} // namespace ovnitrace
