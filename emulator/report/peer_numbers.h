// SPDX-License-Identifier: BSD-2-Clause
// The numbers by which slices name other threads, traced or not.
#pragma once

#include "emulator/input/source.h"
#include "emulator/slices/slice.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace ovnitrace {

/// 0 is nobody, 1 + an index in the Catalog a thread of the trace; those that are not traced have
/// the numbers after these, in the order in which they were first met.
class PeerNumbers {
public:
  struct Untraced {
    uint32_t tid;     ///< 0: the idle task
    std::string name; ///< empty: not known
  };

  explicit PeerNumbers(const Catalog &catalog) : catalog_(catalog) {}

  /// `time`: ns on the clock of the trace, as a tid may have had several names.
  uint32_t number(const Peer &peer, uint32_t host, uint64_t time);
  const std::vector<Untraced> &untraced() const { return untraced_; }

private:
  const Catalog &catalog_;
  std::vector<Untraced> untraced_;
  std::unordered_map<uint64_t, uint32_t> nameless_; ///< host << 32 | tid
  std::unordered_map<const PeerName *, uint32_t> named_;
};

} // namespace ovnitrace
