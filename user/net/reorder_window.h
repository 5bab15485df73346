// SPDX-License-Identifier: BSD-2-Clause
// Puts datagrams into the order in which they were sent.
#pragma once

#include "user/net/datagram.h"

#include <cstdint>
#include <functional>
#include <map>

namespace ovnitrace {

/// Passes datagrams on in the order of their numbers, each once. It waits for a missing datagram
/// until `depth` later ones have come, or flush(). Memory: depth + 1 datagrams and the last 1024
/// gaps that were given up. The cost of a datagram does not depend on the size of a gap, as anybody
/// can send any number.
class ReorderWindow {
public:
  enum class Verdict {
    taken,
    reordered, ///< taken, and a later one came before it
    repeated,  ///< it had come already
    late,      ///< it had been given up: what it holds counts as lost
  };
  using Deliver = std::function<void(const Datagram &)>;

  explicit ReorderWindow(Deliver deliver, size_t depth = 128)
      : deliver_(std::move(deliver)), depth_(depth) {}

  Verdict put(const Datagram &datagram) {
    const uint32_t number = datagram.number;
    if (number < next_)
      return take_back(number) ? Verdict::late : Verdict::repeated;
    const bool overtaken = !waiting_.empty() && number < waiting_.rbegin()->first;
    if (!waiting_.emplace(number, datagram).second)
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

  bool empty() const { return waiting_.empty(); } ///< nothing waits
  uint64_t lost() const { return lost_; }         ///< that were given up, late ones too

private:
  static constexpr size_t kMostGaps = 1024;

  void deliver_first() {
    const auto first = waiting_.extract(waiting_.begin());
    const uint32_t number = first.key();
    lost_ += number - next_;
    if (number != next_)
      give_up(next_, number);
    next_ = uint64_t(number) + 1; // after the last number comes none
    deliver_(first.mapped());
  }

  void give_up(uint64_t begin, uint64_t end) {
    given_up_.emplace(begin, end);
    if (given_up_.size() > kMostGaps)
      given_up_.erase(given_up_.begin());
  }

  /// Whether it was given up. What is left of its gap is one gap or two.
  bool take_back(uint64_t number) {
    auto at = given_up_.upper_bound(number);
    if (at == given_up_.begin() || number >= (--at)->second)
      return false;
    const auto [begin, end] = *at;
    given_up_.erase(at);
    if (begin != number)
      give_up(begin, number);
    if (number + 1 != end)
      give_up(number + 1, end);
    return true;
  }

  const Deliver deliver_;
  const size_t depth_;
  uint64_t next_ = 1;
  uint64_t lost_ = 0;
  std::map<uint32_t, Datagram> waiting_;
  std::map<uint64_t, uint64_t> given_up_; ///< numbers from, and up to but without
};

} // namespace ovnitrace
