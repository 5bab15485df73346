// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/thread_table.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace ovnitrace {

namespace {

/// Multiplicative hashing: the high bits are the good ones.
uint32_t slot_of(uint32_t tid, uint32_t shift) {
  return (tid * 2654435769u) >> shift;
}

} // namespace

ThreadTable::ThreadTable(const Catalog &catalog, uint32_t node) {
  for (uint32_t i = 0; i < catalog.threads.size(); i++) {
    const ThreadInfo &thread = catalog.threads[i];
    if (thread.node == node)
      entries_.push_back({thread.birth, thread.tid, i});
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry &a, const Entry &b) {
    return std::tie(a.tid, a.birth) < std::tie(b.tid, b.birth);
  });
  const uint32_t bits = std::max(4, int(std::bit_width(entries_.size() * 2)));
  slots_.assign(size_t(1) << bits, kNone);
  shift_ = 32 - bits;
  for (uint32_t i = 0; i < entries_.size(); i++) {
    if (i && entries_[i].tid == entries_[i - 1].tid)
      continue;
    uint32_t slot = slot_of(entries_[i].tid, shift_);
    while (slots_[slot] != kNone)
      slot = (slot + 1) & uint32_t(slots_.size() - 1);
    slots_[slot] = i;
  }
  entries_.push_back({0, entries_.empty() ? 0 : entries_.back().tid + 1, kNone});
}

const ThreadTable::Entry *ThreadTable::first(uint32_t tid) const {
  for (uint32_t slot = slot_of(tid, shift_); slots_[slot] != kNone;
       slot = (slot + 1) & uint32_t(slots_.size() - 1))
    if (entries_[slots_[slot]].tid == tid)
      return &entries_[slots_[slot]];
  return nullptr;
}

uint32_t ThreadTable::find(uint32_t tid, uint64_t birth) const {
  const Entry *entry = first(tid);
  for (; entry && entry->tid == tid; entry++)
    if (entry->birth == birth)
      return entry->index;
  return kNone;
}

uint32_t ThreadTable::latest(uint32_t tid, uint64_t time) const {
  const Entry *entry = first(tid);
  if (!entry)
    return kNone;
  while (entry[1].tid == tid && entry[1].birth <= time)
    entry++;
  return entry->index;
}

} // namespace ovnitrace
