// SPDX-License-Identifier: BSD-2-Clause
// Counts how often one thread did something to another.
#pragma once

#include "emulator/slices/slice.h"
#include "emulator/summary/summary.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ovnitrace {

/// Counts pairs of threads. Memory grows with the different pairs. Repeated pairs, which are
/// common, cost one comparison.
class PairTable {
public:
  explicit PairTable(size_t threads) : last_(threads) {}

  /// Counts a peer; ignores an unknown one. `name`: of a peer that is not traced, index in
  /// HostInfo::peers, kNone: not known.
  void add(uint32_t thread, Peer peer, uint32_t name);
  /// Counts an interrupt in place of a peer.
  void add_interrupt(uint32_t thread) { count(thread, kInterrupt); }

  /// Returns all pairs, most frequent first, then by thread and peer.
  std::vector<PairCount> sorted(const Catalog &catalog) const;

private:
  /// A peer is an index in the Catalog, or a tid or the index of a name with such a bit. Tids are
  /// below 2^22.
  static constexpr uint32_t kByTid = 1u << 31, kByName = 1u << 30;
  static constexpr uint32_t kInterrupt = kByTid | (kByTid - 1);
  struct Last {
    uint32_t peer = 0;
    uint64_t count = 0;
  };

  void count(uint32_t thread, uint32_t peer) {
    Last &last = last_[thread];
    if (last.peer != peer) {
      settle(thread);
      last = {peer, 0};
    }
    last.count++;
  }
  void settle(uint32_t thread);

  std::vector<Last> last_;                       ///< by thread: not yet in `pairs_`
  std::unordered_map<uint64_t, uint64_t> pairs_; ///< thread << 32 | peer
};

} // namespace ovnitrace
