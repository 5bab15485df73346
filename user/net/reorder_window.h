// SPDX-License-Identifier: BSD-2-Clause
// Puts datagrams into the order in which they were sent.
#pragma once

#include "user/net/datagram.h"

#include <cstdint>
#include <functional>
#include <map>

namespace ovnitrace {

/// Passes datagrams on in the order of their numbers, each once. It waits for a missing datagram
/// until `depth` later ones have come, or flush(). Memory: depth + 1 datagrams. The cost of a
/// datagram does not depend on the size of a gap, as anybody can send any number.
class ReorderWindow {
public:
  enum class Verdict {
    taken,
    reordered, ///< taken, and a later one came before it
    repeated,  ///< it had come already, or had been given up
  };
  using Deliver = std::function<void(const Datagram &)>;

  explicit ReorderWindow(Deliver deliver, size_t depth = 128)
      : deliver_(std::move(deliver)), depth_(depth) {}

  Verdict put(const Datagram &datagram) {
    const uint32_t number = datagram.number;
    const bool overtaken = !waiting_.empty() && number < waiting_.rbegin()->first;
    if (number < next_ || !waiting_.emplace(number, datagram).second)
      return Verdict::repeated;
    while (!waiting_.empty() && (waiting_.begin()->first == next_ || waiting_.size() > depth_))
      deliver_first();
    return overtaken ? Verdict::reordered : Verdict::taken;
  }

  /// Gives up the missing datagrams, and passes on those that wait.
  void flush() {
    while (!waiting_.empty())
      deliver_first();
  }

  uint64_t lost() const { return lost_; } ///< that were given up

private:
  void deliver_first() {
    const auto first = waiting_.extract(waiting_.begin());
    lost_ += first.key() - next_;
    next_ = uint64_t(first.key()) + 1; // after the last number comes none
    deliver_(first.mapped());
  }

  const Deliver deliver_;
  const size_t depth_;
  uint64_t next_ = 1;
  uint64_t lost_ = 0;
  std::map<uint32_t, Datagram> waiting_;
};

} // namespace ovnitrace
