// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/summary/pair_table.h"

#include <algorithm>
#include <tuple>

namespace ovnitrace {

namespace {

constexpr uint64_t key(uint32_t thread, uint32_t peer) {
  return uint64_t(thread) << 32 | peer;
}

} // namespace

void PairTable::add(uint32_t thread, Peer peer, uint32_t name) {
  if (peer.thread != kNone)
    count(thread, peer.thread);
  else if (name != kNone)
    count(thread, kByName | name);
  else if (peer.tid != kNone)
    count(thread, kByTid | peer.tid);
}

void PairTable::settle(uint32_t thread) {
  if (last_[thread].count)
    pairs_[key(thread, last_[thread].peer)] += last_[thread].count;
}

std::vector<PairCount> PairTable::sorted(const Catalog &catalog) const {
  PairTable whole = *this;
  for (uint32_t thread = 0; thread < last_.size(); thread++)
    whole.settle(thread);
  std::vector<PairCount> all;
  for (const auto &[pair, count] : whole.pairs_) {
    const uint32_t peer = uint32_t(pair);
    PairCount one{.thread = uint32_t(pair >> 32), .peer = peer, .tid = kNone, .count = count};
    if (peer & kByTid) {
      one.peer = kNone;
      one.tid = peer == kInterrupt ? kNone : peer & ~kByTid;
    } else if (peer & kByName) {
      one.peer = kNone;
      one.name = peer & ~kByName;
      one.tid = catalog.hosts[catalog.threads[one.thread].host].peers[one.name].tid;
    }
    all.push_back(one);
  }
  std::sort(all.begin(), all.end(), [](const PairCount &a, const PairCount &b) {
    return std::tuple(~a.count, a.thread, a.peer, a.tid, a.name) <
           std::tuple(~b.count, b.thread, b.peer, b.tid, b.name);
  });
  return all;
}

} // namespace ovnitrace
