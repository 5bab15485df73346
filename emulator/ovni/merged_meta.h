// SPDX-License-Identifier: BSD-2-Clause
// Merges what several streams of a trace say about the same things.
#pragma once

#include "emulator/input/source.h"

#include <cstdint>
#include <map>
#include <vector>

namespace ovnitrace::ovni {

/// The CPUs of one loom. Each index, by which events name CPUs, has one phyid.
class LoomCpus {
public:
  /// Adds a CPU. Returns false and changes nothing if it contradicts an earlier one.
  bool declare(uint32_t index, uint32_t phyid);
  bool has_index(uint32_t index) const { return phyid_of_.contains(index); }
  const std::map<uint32_t, uint32_t> &index_of() const { return index_of_; } ///< by phyid

private:
  std::map<uint32_t, uint32_t> phyid_of_;
  std::map<uint32_t, uint32_t> index_of_;
};

/// Adds a mark type, or its labels if `marks` has the type already. The first label of a value is
/// kept. Returns false if the title, the kind of channel or a label differs from before.
bool merge_mark(std::vector<MarkType> &marks, const MarkType &mark);

} // namespace ovnitrace::ovni
