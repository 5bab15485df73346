// SPDX-License-Identifier: BSD-2-Clause
// A channel: an integer that stands for a state, and is what Paraver's timeline shows.
#pragma once

#include <cstdint>
#include <memory>
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

/// The value of one channel of one thread or CPU: set, or the top of a stack of pushed values.
/// While it is disabled it shows its `bad` value (docs/models.md, "Channels"). Punctual events need
/// the clock and are the ChannelBank's.
class Channel {
public:
  explicit Channel(int64_t bad = 0) : bad_(bad) {}

  /// Overrides the state; with a stack, its top.
  void set(int64_t value) {
    if (stack_ && stack_->depth())
      stack_->values.back() = value;
    value_ = value;
  }
  /// Stacks a state above those before. Beyond kMaxStackDepth it is not shown, only counted, so
  /// that its pop is known.
  ChannelFault push(int64_t value);
  /// Takes the top off, which must be `expected`. If it is not but lies deeper, all above it goes
  /// too (their pops are missing); if it is nowhere, nothing is taken.
  ChannelFault pop(int64_t expected);
  /// Back to the state below the first push, as what was pushed is not known any more.
  void forget_stack();

  void enable() { enabled_ = true; }
  void disable() { enabled_ = false; } ///< the value is kept
  void enable(bool on) { enabled_ = on; }
  bool enabled() const { return enabled_; }

  int64_t value() const { return value_; }                      ///< whether enabled or not
  int64_t visible() const { return enabled_ ? value_ : bad_; }  ///< what is to be seen
  size_t depth() const { return stack_ ? stack_->depth() : 0; } ///< states left on the stack
  std::vector<int64_t> stack() const;                           ///< bottom first

  /// The value that was emitted last; nothing emitted is 0.
  int64_t shown() const { return shown_; }
  /// "A channel emits only if it changed": true if what is to be seen differs from what was shown,
  /// which is then taken as shown.
  bool emit(int64_t &value) {
    value = visible();
    if (value == shown_)
      return false;
    shown_ = value;
    return true;
  }
  /// Something else than the state was shown: a punctual event.
  void showed(int64_t value) { shown_ = value; }

private:
  struct Stack {
    std::vector<int64_t> values; ///< values[0] is the state below the first push
    size_t overflow = 0;         ///< pushes beyond the greatest depth
    size_t depth() const { return values.size() ? values.size() - 1 : 0; }
  };
  int64_t value_ = 0;
  int64_t shown_ = 0;
  int64_t bad_;
  std::unique_ptr<Stack> stack_; ///< made by the first push
  bool enabled_ = true;
};

} // namespace ovnitrace
