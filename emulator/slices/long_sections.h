// SPDX-License-Identifier: BSD-2-Clause
// Finds the longest sections of a number.
#pragma once

#include "emulator/slices/slicer.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace ovnitrace {

/// A section of a thread. Both its ends were seen.
struct LongSection {
  uint32_t thread = kNone;   ///< index into Catalog::threads
  uint64_t from = 0, to = 0; ///< ns on the clock of the trace

  uint64_t length() const { return to - from; }
};

/// Collects the `most` longest sections `number`. Nested sections are listed one by one.
class LongSections final : public SliceSink {
public:
  /// `kept`: by thread, 1 if its sections count.
  LongSections(uint32_t number, size_t most, std::vector<uint8_t> kept);

  void on_event(const Event &event, const System &system) override;
  void on_slice(const Slice &slice) override;
  /// Returns what was found, longest first; of equally long ones, the one that ended first.
  const std::vector<LongSection> &found() const { return found_; }

private:
  void add(LongSection section);

  struct Open {
    std::vector<uint64_t> starts; ///< ns
    size_t ignored = 0;           ///< nested ones beyond kMostNested
  };
  const uint32_t number_;
  const size_t most_;
  const std::vector<uint8_t> kept_;
  std::map<uint32_t, Open> open_; ///< by thread
  std::vector<LongSection> found_;
};

} // namespace ovnitrace
