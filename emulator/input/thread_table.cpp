// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/thread_table.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace ovnitrace {

ThreadTable::ThreadTable(const Catalog &catalog, uint32_t node) {
  const auto is_of_node = [node](const ThreadInfo &thread) { return thread.node == node; };
  reserve(size_t(std::count_if(catalog.threads.begin(), catalog.threads.end(), is_of_node)));
  for (uint32_t i = 0; i < catalog.threads.size(); i++)
    if (const ThreadInfo &thread = catalog.threads[i]; is_of_node(thread))
      find_or_add(thread.tid, thread.birth, i);
}

void ThreadTable::reserve(size_t count) {
  const int bits = std::max(4, int(std::bit_width(count + count / 4)));
  shift_ = uint32_t(32 - bits);
  room_ = (size_t(1) << bits) / 5 * 4;
  const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(size_t(1) << bits));
  for (const Slot &slot : before)
    if (slot.index != kNone)
      slots_[slot_of(slot.tid, slot.birth)] = slot;
}

uint32_t ThreadTable::slot_of(uint32_t tid, uint64_t birth) const {
  uint32_t at = place(tid);
  while (slots_[at].index != kNone && (slots_[at].tid != tid || slots_[at].birth != birth))
    at = after(at);
  return at;
}

uint32_t ThreadTable::find_or_add(uint32_t tid, uint64_t birth, uint32_t next) {
  uint32_t at = slot_of(tid, birth);
  if (slots_[at].index != kNone)
    return slots_[at].index;
  if (count_ == room_) {
    reserve(2 * count_);
    at = slot_of(tid, birth);
  }
  count_++;
  slots_[at] = {birth, tid, next};
  return next;
}

uint32_t ThreadTable::latest(uint32_t tid, uint64_t time) const {
  const Slot *found = nullptr;
  for (uint32_t at = place(tid); slots_[at].index != kNone; at = after(at)) {
    const Slot &slot = slots_[at];
    if (slot.tid != tid)
      continue;
    const bool later = found && slot.birth > found->birth;
    // Of those born until then the last, else the first of all.
    if (!found || (slot.birth <= time ? later || found->birth > time : !later))
      found = &slot;
  }
  return found ? found->index : kNone;
}

} // namespace ovnitrace
