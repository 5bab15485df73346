// Datagrams in the order in which they were sent.
#pragma once

#include "user/net/datagram.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>

namespace ovnitrace {

/// Passes datagrams on in the order of their numbers, each once. One that is missing is waited for until `depth` later
/// ones have come, or flush(). Memory: depth + 1 datagrams and the last 4096 numbers that were given up.
class ReorderWindow {
public:
  enum class Verdict {
    taken,
    reordered, ///< taken, and a later one came before it
    repeated,  ///< it had come already
    late,      ///< it had been given up: what it holds counts as lost
  };
  using Deliver = std::function<void(const Datagram &)>;

  explicit ReorderWindow(Deliver deliver, size_t depth = 128) : deliver_(std::move(deliver)), depth_(depth) {}

  Verdict put(const Datagram &datagram) {
    const uint32_t number = datagram.number;
    if (number < next_)
      return given_up_.erase(number) ? Verdict::late : Verdict::repeated;
    const bool overtaken = !waiting_.empty() && number < waiting_.rbegin()->first;
    if (!waiting_.emplace(number, datagram).second)
      return Verdict::repeated;
    while (!waiting_.empty() && (waiting_.begin()->first == next_ || waiting_.size() > depth_))
      deliver_first();
    return overtaken ? Verdict::reordered : Verdict::taken;
  }

  /// Gives up what is missing before those that wait, and passes them on.
  void flush() {
    while (!waiting_.empty())
      deliver_first();
  }

  bool empty() const { return waiting_.empty(); } ///< nothing waits
  uint64_t lost() const { return lost_; } ///< that were given up, late ones too
  uint32_t next() const { return next_; }         ///< number of the one that should come

private:
  static constexpr size_t kMostGivenUp = 4096;

  void deliver_first() {
    const auto first = waiting_.extract(waiting_.begin());
    const uint32_t number = first.key();
    lost_ += number - next_;
    for (uint32_t missing = number - next_ > kMostGivenUp ? number - uint32_t(kMostGivenUp) : next_; missing != number;
         missing++)
      given_up_.insert(missing);
    while (given_up_.size() > kMostGivenUp)
      given_up_.erase(given_up_.begin());
    next_ = number + 1;
    deliver_(first.mapped());
  }

  const Deliver deliver_;
  const size_t depth_;
  uint32_t next_ = 1;
  uint64_t lost_ = 0;
  std::map<uint32_t, Datagram> waiting_;
  std::set<uint32_t> given_up_;
};

} // namespace ovnitrace
