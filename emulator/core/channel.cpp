// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/core/channel.h"

#include <algorithm>

namespace ovnitrace {

ChannelFault Channel::push(int64_t value) {
  if (!stack_) {
    stack_ = std::make_unique<Stack>();
    stack_->values.push_back(value_);
  }
  if (stack_->depth() >= kMaxStackDepth) {
    stack_->overflow++;
    return {ChannelFault::too_deep, value, value_};
  }
  stack_->values.push_back(value);
  value_ = value;
  return {};
}

ChannelFault Channel::pop(int64_t expected) {
  if (!depth())
    return {ChannelFault::empty_stack, expected, 0};
  if (stack_->overflow) {
    stack_->overflow--;
    return {};
  }
  std::vector<int64_t> &values = stack_->values;
  int64_t found = values.back();
  auto pushed_begin = values.rend() - 1; // values[0] was never pushed
  auto at = std::find(values.rbegin(), pushed_begin, expected);
  if (at != pushed_begin) {
    values.erase(at.base() - 1, values.end());
    value_ = values.back();
  }
  return found == expected ? ChannelFault{}
                           : ChannelFault{ChannelFault::wrong_value, expected, found};
}

void Channel::forget_stack() {
  if (!depth())
    return;
  value_ = stack_->values.front();
  stack_.reset();
}

std::vector<int64_t> Channel::stack() const {
  if (!depth())
    return {};
  return {stack_->values.begin() + 1, stack_->values.end()};
}

} // namespace ovnitrace
