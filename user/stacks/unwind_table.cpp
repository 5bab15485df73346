// SPDX-License-Identifier: BSD-2-Clause
#include "user/stacks/unwind_table.h"

namespace ovnitrace {

namespace {

uint32_t place_of(uint64_t key, uint32_t step) {
  return uint32_t((key >> 32) + step) & (UNWIND_RULES - 1);
}

// Stores become visible in order: the kernel side reads a key, the rule, and the key again.
void set_key(unwind_slot &slot, uint64_t key) {
  __atomic_store_n(&slot.key, key, __ATOMIC_RELEASE);
}

} // namespace

uint64_t UnwindTable::find(uint64_t image, uint64_t address) const {
  const uint64_t key = unwind_key(image, address);
  for (uint32_t step = 0; step < UNWIND_PROBES; step++) {
    const unwind_slot &slot = slots_[place_of(key, step)];
    if (slot.key == key)
      return slot.rule;
    if (slot.key == 0)
      break;
  }
  return UNWIND_UNKNOWN;
}

void UnwindTable::add(uint64_t image, uint64_t address, uint64_t rule) {
  if (find(image, address) != UNWIND_UNKNOWN)
    return;
  if (used_ >= UNWIND_RULES / 2)
    clear();
  const uint64_t key = unwind_key(image, address);
  for (uint32_t step = 0; step < UNWIND_PROBES; step++) {
    const uint32_t place = place_of(key, step);
    unwind_slot &slot = slots_[place];
    if (slot.key != 0 && slot.key != UNWIND_REMOVED)
      continue;
    used_ += slot.key == 0;
    __atomic_store_n(&slot.rule, rule, __ATOMIC_RELEASE);
    set_key(slot, key);
    entries_[image].push_back({place, address});
    return;
  }
}

void UnwindTable::forget(uint64_t image, uint64_t start, uint64_t end) {
  const auto found = entries_.find(image);
  if (found == entries_.end())
    return;
  std::erase_if(found->second, [&](const Entry &entry) {
    const bool goes = entry.address >= start && entry.address < end;
    if (goes)
      set_key(slots_[entry.place], UNWIND_REMOVED);
    return goes;
  });
  reset_asks();
}

void UnwindTable::reset_asks() {
  for (uint32_t n = 0; n < UNWIND_ASKS; n++)
    __atomic_store_n(&asks_[n].count, 0, __ATOMIC_RELAXED);
}

void UnwindTable::clear() {
  for (uint32_t n = 0; n < UNWIND_RULES; n++)
    set_key(slots_[n], 0);
  reset_asks();
  entries_.clear();
  used_ = 0;
}

} // namespace ovnitrace
