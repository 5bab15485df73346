// SPDX-License-Identifier: BSD-2-Clause
// What several streams of a trace say about the same things, put together.
#pragma once

#include "emulator/input/source.h"

#include <cstdint>
#include <map>
#include <vector>

namespace ovnitrace::ovni {

/// The CPUs of one loom: index (by which events name them) and phyid are one to one.
class LoomCpus {
public:
  /// False, and nothing changes, if it contradicts what was declared before.
  bool declare(uint32_t index, uint32_t phyid);
  bool has_index(uint32_t index) const { return phyid_of_.contains(index); }
  const std::map<uint32_t, uint32_t> &index_of() const { return index_of_; } ///< by phyid

private:
  std::map<uint32_t, uint32_t> phyid_of_;
  std::map<uint32_t, uint32_t> index_of_;
};

/// Adds a mark type, or its labels if `marks` has the type already; the first label of a value
/// holds. False if title, kind of channel or a label differ from before.
bool merge_mark(std::vector<MarkType> &marks, const MarkType &mark);

} // namespace ovnitrace::ovni
