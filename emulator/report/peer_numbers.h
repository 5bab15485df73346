// SPDX-License-Identifier: BSD-2-Clause
// Numbers the threads that slices name, traced or not.
#pragma once

#include "emulator/input/source.h"
#include "emulator/slices/slice.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace ovnitrace {

/// Numbers threads: 0 is nobody, 1 + index in the Catalog a thread of the trace. Untraced threads
/// have the numbers after those, in the order in which they are first met.
class PeerNumbers {
public:
  struct Untraced {
    uint32_t tid;     ///< 0: the idle task
    std::string name; ///< empty: not known
  };

  explicit PeerNumbers(const Catalog &catalog) : catalog_(catalog) {}

  /// Returns the number of a peer. `time`: ns on the clock of the trace; a tid may have several
  /// names.
  uint32_t number(const Peer &peer, uint32_t host, uint64_t time);
  const std::vector<Untraced> &untraced() const { return untraced_; }

private:
  const Catalog &catalog_;
  std::vector<Untraced> untraced_;
  std::unordered_map<uint64_t, uint32_t> nameless_; ///< host << 32 | tid
  std::unordered_map<const PeerName *, uint32_t> named_;
};

} // namespace ovnitrace
