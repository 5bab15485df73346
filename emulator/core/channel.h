// SPDX-License-Identifier: BSD-2-Clause
// Defines a channel: an integer that stands for a state and is shown in a Paraver timeline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ovnitrace {

inline constexpr int64_t kStateBad = 666; ///< ST_BAD: the tracked channel is disabled
inline constexpr int64_t kStateTooManyThreads =
    777; ///< ST_TOO_MANY_TH: several threads, so it is not known which one
inline constexpr size_t kMaxStackDepth = 512; ///< deeper pushes are counted, but not kept

/// What is wrong with a push or a pop. The caller, who knows thread, channel and time, reports it.
struct ChannelFault {
  enum Kind { none, empty_stack, wrong_value, too_deep } kind = none;
  int64_t expected = 0; ///< the value that pop() was given
  int64_t found = 0;    ///< wrong_value: the top of the stack
  explicit operator bool() const { return kind != none; }
};

/// One channel of one thread or CPU: the value that was set or is on the top of its stack, and the
/// value that was last emitted. 0 means nothing. Small, as there are millions; the ChannelBank
/// keeps stacks, `bad` values and what is enabled.
struct Channel {
  int64_t value = 0;
  int64_t shown = 0;
};

/// The stack of a channel: pushed states, above the state from before the first push.
class ChannelStack {
public:
  explicit ChannelStack(int64_t below) : values_{below} {}

  /// Pushes a state. Beyond kMaxStackDepth the push is only counted, so that its pop is recognized.
  ChannelFault push(int64_t value);
  /// Pops the top, which must be `expected`. If `expected` is deeper in the stack, everything above
  /// it is popped too, as those pops are missing. If it is not in the stack, nothing is popped.
  ChannelFault pop(int64_t expected);
  /// Replaces the top, or the state from before the first push if the stack is empty.
  void set(int64_t value) { values_.back() = value; }
  /// Drops all pushed states, because what was pushed is not known any more.
  void forget() {
    values_.resize(1);
    overflow_ = 0;
  }

  int64_t top() const { return values_.back(); }
  size_t depth() const { return values_.size() - 1; } ///< pushed states that are kept
  std::vector<int64_t> pushed() const { return {values_.begin() + 1, values_.end()}; }

private:
  /// Bottom first; values_[0] is the state from before the first push.
  std::vector<int64_t> values_;
  size_t overflow_ = 0; ///< pushes beyond kMaxStackDepth
};

} // namespace ovnitrace
