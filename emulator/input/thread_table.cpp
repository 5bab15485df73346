// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/thread_table.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace ovnitrace {

namespace {

/// Returns until when no untraced thread is known to have the tid of a thread that has ended.
uint64_t reused_after(const Catalog &catalog, const ThreadInfo &thread) {
  if (thread.end == UINT64_MAX || thread.host >= catalog.hosts.size())
    return UINT64_MAX;
  const std::vector<PeerName> &peers = catalog.hosts[thread.host].peers;
  const auto next = std::upper_bound(
      peers.begin(), peers.end(), std::pair(thread.tid, thread.end),
      [](const auto &at, const PeerName &peer) { return at < std::pair(peer.tid, peer.since_ns); });
  return next != peers.end() && next->tid == thread.tid ? next->since_ns - 1 : UINT64_MAX;
}

} // namespace

ThreadTable::ThreadTable(const Catalog &catalog, uint32_t host) : ThreadTable() {
  for (uint32_t i = 0; i < catalog.threads.size(); i++) {
    const ThreadInfo &thread = catalog.threads[i];
    if (thread.host != host)
      continue;
    if (ends_.empty())
      first_ = i;
    ends_.resize(i - first_ + 1);
    ends_.back() = {thread.end, reused_after(catalog, thread)};
    find_or_add(thread.tid, thread.birth, i);
  }
}

void ThreadTable::resize(size_t slots) {
  shift_ = uint32_t(32 - std::countr_zero(slots));
  used_ = 0;
  for (const Slot &slot : std::exchange(slots_, std::vector<Slot>(slots)))
    if (slot.number < kOthers)
      find_or_add(slot.tid, slot.birth, slot.number);
  for (const auto &[thread, number] : others_)
    if (Slot *slot = find_slot(thread.first)) {
      used_ += slot->number == kNone;
      *slot = {0, thread.first, kOthers};
    }
}

uint32_t ThreadTable::find_or_add(uint32_t tid, uint64_t birth, uint32_t next) {
  Slot *slot = find_slot(tid);
  if (slot && slot->number == kNone) {
    *slot = {birth, tid, next};
    if (++used_ * 5 > slots_.size() * 4)
      resize(2 * slots_.size());
    return next;
  }
  if (slot && slot->number != kOthers) {
    if (slot->birth == birth)
      return slot->number;
    others_[{tid, slot->birth}] = slot->number;
    slot->number = kOthers;
  }
  return others_.try_emplace({tid, birth}, next).first->second;
}

uint32_t ThreadTable::find(uint32_t tid, uint64_t birth) const {
  const Slot *slot = find_slot(tid);
  if (slot && slot->number != kOthers) [[likely]]
    return slot->birth == birth ? slot->number : kNone; // that of a free one is kNone
  const auto at = others_.find({tid, birth});
  return at == others_.end() ? kNone : at->second;
}

uint32_t ThreadTable::latest(uint32_t tid, uint64_t time, bool late) const {
  const Slot *slot = find_slot(tid);
  if (slot && slot->number != kOthers) [[likely]]
    return slot->birth <= time ? unless_ended(slot->number, time, late) : kNone;
  const auto first = others_.lower_bound({tid, 0}), later = others_.upper_bound({tid, time});
  return first == later ? kNone : unless_ended(std::prev(later)->second, time, late);
}

} // namespace ovnitrace
