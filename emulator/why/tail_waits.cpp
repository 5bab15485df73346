// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/tail_waits.h"

#include <algorithm>
#include <bit>
#include <map>

namespace ovnitrace {

namespace {

/// Returns the power of two, and the two bits that follow it.
uint32_t class_of(uint64_t length) {
  const auto bits = uint32_t(std::bit_width(length));
  return bits < 3 ? uint32_t(length) : bits << 2 | uint32_t(length >> (bits - 3) & 3);
}

} // namespace

void TailWaits::add(uint64_t length, const OpenWait &wait) {
  const uint32_t at = class_of(length);
  classes_[at].count++;
  classes_[at].shortest = std::min(classes_[at].shortest, length);
  for (const OpenWait::Part &part : wait.parts())
    sums_.of({at, part.sum.holder}).ns += part.sum.ns;
}

TailSums TailWaits::take(const CpuHolders &holders) const {
  TailSums tail;
  for (const Class &one : classes_)
    tail.all += one.count;
  size_t first = classes_.size();
  while (first > 0 && tail.count * 100 < tail.all) {
    if (tail.count && (tail.count + classes_[first - 1].count) * 10 > tail.all)
      break;
    first--;
    tail.count += classes_[first].count;
    tail.shortest = std::min(tail.shortest, classes_[first].shortest);
  }
  if (tail.all < 100 || tail.count * 10 > tail.all)
    return {};
  std::map<uint32_t, uint64_t> by_holder;
  for (const Sum &sum : sums_.all())
    if (sum.length_class >= first)
      by_holder[sum.holder] += sum.ns;
  for (const auto &[holder, ns] : by_holder)
    tail.holders.push_back({holders.holder(holder), holders.host_of(holder), ns});
  std::stable_sort(tail.holders.begin(), tail.holders.end(), [](const auto &a, const auto &b) {
    return std::pair(a.culprit.is_known(), a.ns) > std::pair(b.culprit.is_known(), b.ns);
  });
  return tail;
}

} // namespace ovnitrace
