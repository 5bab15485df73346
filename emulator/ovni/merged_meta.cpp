// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/ovni/merged_meta.h"

#include <algorithm>

namespace ovnitrace::ovni {

bool LoomCpus::declare(uint32_t index, uint32_t phyid) {
  const auto known = phyid_of_.find(index);
  if (known != phyid_of_.end() || index_of_.contains(phyid))
    return known != phyid_of_.end() && known->second == phyid;
  phyid_of_.emplace(index, phyid);
  index_of_.emplace(phyid, index);
  return true;
}

bool merge_mark(std::vector<MarkType> &marks, const MarkType &mark) {
  const auto known = std::find_if(marks.begin(), marks.end(),
                                  [&](const MarkType &m) { return m.type == mark.type; });
  if (known == marks.end()) {
    marks.push_back(mark);
    return true;
  }
  auto &labels = known->labels;
  labels.insert(labels.end(), mark.labels.begin(), mark.labels.end());
  std::stable_sort(labels.begin(), labels.end(),
                   [](const auto &a, const auto &b) { return a.first < b.first; });
  bool alike = true;
  labels.erase(std::unique(labels.begin(), labels.end(),
                           [&](const auto &a, const auto &b) {
                             alike &= a.first != b.first || a.second == b.second;
                             return a.first == b.first;
                           }),
               labels.end());
  return alike && known->title == mark.title && known->stack == mark.stack;
}

} // namespace ovnitrace::ovni
