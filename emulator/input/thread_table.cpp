// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/thread_table.h"

#include <algorithm>
#include <bit>

namespace ovnitrace {

ThreadTable::ThreadTable(const Catalog &catalog, uint32_t node) {
  const auto is_of_node = [node](const ThreadInfo &thread) { return thread.node == node; };
  const size_t count =
      size_t(std::count_if(catalog.threads.begin(), catalog.threads.end(), is_of_node));
  const int bits = std::max(4, int(std::bit_width(count + count / 4)));
  slots_.resize(size_t(1) << bits);
  shift_ = uint32_t(32 - bits);
  for (uint32_t i = 0; i < catalog.threads.size(); i++) {
    const ThreadInfo &thread = catalog.threads[i];
    if (!is_of_node(thread))
      continue;
    uint32_t at = place(thread.tid);
    while (slots_[at].index != kNone)
      at = after(at);
    slots_[at] = {thread.birth, thread.tid, i};
  }
}

uint32_t ThreadTable::find(uint32_t tid, uint64_t birth) const {
  uint32_t at = place(tid);
  while (slots_[at].index != kNone && (slots_[at].tid != tid || slots_[at].birth != birth))
    at = after(at);
  return slots_[at].index;
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
