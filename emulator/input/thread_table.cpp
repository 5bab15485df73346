// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/thread_table.h"

#include <bit>
#include <iterator>
#include <utility>

namespace ovnitrace {

ThreadTable::ThreadTable(const Catalog &catalog, uint32_t node) : ThreadTable() {
  for (uint32_t i = 0; i < catalog.threads.size(); i++)
    if (const ThreadInfo &thread = catalog.threads[i]; thread.node == node)
      find_or_add(thread.tid, thread.birth, i);
}

ThreadTable::Slot ThreadTable::crowded_slot(uint32_t tid) const {
  const auto at = crowded_.find(tid);
  return at == crowded_.end() ? Slot{} : at->second;
}

ThreadTable::Slot &ThreadTable::slot_to_fill(uint32_t tid) {
  const Slot *slot = find_slot(tid);
  return slot ? slots_[size_t(slot - slots_.data())] : crowded_[tid];
}

void ThreadTable::resize(size_t slots) {
  shift_ = uint32_t(32 - std::countr_zero(slots));
  const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(slots));
  const std::map<uint32_t, Slot> crowded = std::exchange(crowded_, {});
  for (const Slot &slot : before)
    if (slot.number != kNone)
      slot_to_fill(slot.tid) = slot;
  for (const auto &[tid, slot] : crowded)
    slot_to_fill(tid) = slot;
}

uint32_t ThreadTable::find_or_add(uint32_t tid, uint64_t birth, uint32_t next) {
  Slot *slot = &slot_to_fill(tid);
  if (slot->number == kNone) {
    *slot = {birth, tid, next};
    if (++used_ * 5 > slots_.size() * 4)
      resize(2 * slots_.size());
    return next;
  }
  if (slot->number != kSeveral) {
    if (slot->birth == birth)
      return slot->number;
    several_.push_back({{slot->birth, slot->number}});
    *slot = {several_.size() - 1, tid, kSeveral};
  }
  return several_[slot->birth].try_emplace(birth, next).first->second;
}

uint32_t ThreadTable::find(uint32_t tid, uint64_t birth) const {
  const Slot slot = slot_of(tid);
  if (slot.number != kSeveral) [[likely]]
    return slot.birth == birth ? slot.number : kNone; // that of a free one is kNone
  const std::map<uint64_t, uint32_t> &threads = several_[slot.birth];
  const auto at = threads.find(birth);
  return at == threads.end() ? kNone : at->second;
}

uint32_t ThreadTable::latest(uint32_t tid, uint64_t time) const {
  const Slot slot = slot_of(tid);
  if (slot.number != kSeveral) [[likely]]
    return slot.number;
  const std::map<uint64_t, uint32_t> &threads = several_[slot.birth];
  const auto later = threads.upper_bound(time);
  return later == threads.begin() ? later->second : std::prev(later)->second;
}

} // namespace ovnitrace
