// SPDX-License-Identifier: BSD-2-Clause
// A channel: an integer that stands for a state, and is what Paraver's timeline shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ovnitrace {

inline constexpr int64_t kStateBad = 666;            ///< ST_BAD: the tracked channel is disabled
inline constexpr int64_t kStateTooManyThreads = 777; ///< ST_TOO_MANY_TH: which thread is not known
inline constexpr size_t kMaxStackDepth = 512;        ///< deeper pushes are counted, not kept

/// What is wrong with a pop or a push; whoever knows the thread, channel and time reports them.
struct ChannelFault {
  enum Kind { none, empty_stack, wrong_value, too_deep } kind = none;
  int64_t expected = 0; ///< what pop() was given
  int64_t found = 0;    ///< what was on the top, for wrong_value
  explicit operator bool() const { return kind != none; }
};

/// One channel of one thread or CPU: what was set, or the top of what was pushed, and the value
/// that was emitted last; nothing emitted is 0. Small, as there are millions; whether it is
/// enabled, its stack and its `bad` value are kept by the ChannelBank.
struct Channel {
  int64_t value = 0;
  int64_t shown = 0;
};

/// The states that were pushed to one channel, above the one that it had before.
class ChannelStack {
public:
  explicit ChannelStack(int64_t below) : values_{below} {}

  /// Stacks a state above those before. Beyond kMaxStackDepth it is not shown, only counted, so
  /// that its pop is known.
  ChannelFault push(int64_t value);
  /// Takes the top off, which must be `expected`. If it is not but lies deeper, all above it goes
  /// too (their pops are missing); if it is nowhere, nothing is taken.
  ChannelFault pop(int64_t expected);
  /// Overrides the top, or the state below the first push where nothing is pushed.
  void set(int64_t value) { values_.back() = value; }
  /// Back to the state below the first push, as what was pushed is not known any more.
  void forget() {
    values_.resize(1);
    overflow_ = 0;
  }

  int64_t top() const { return values_.back(); }
  size_t depth() const { return values_.size() - 1; } ///< states left on the stack
  std::vector<int64_t> pushed() const { return {values_.begin() + 1, values_.end()}; }

private:
  std::vector<int64_t> values_; ///< bottom first; values_[0] was never pushed
  size_t overflow_ = 0;         ///< pushes beyond the greatest depth
};

} // namespace ovnitrace
