// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/core/channel.h"

#include <algorithm>

namespace ovnitrace {

ChannelFault ChannelStack::push(int64_t value) {
  if (depth() >= kMaxStackDepth) {
    overflow_++;
    return {ChannelFault::too_deep, value, top()};
  }
  values_.push_back(value);
  return {};
}

ChannelFault ChannelStack::pop(int64_t expected) {
  if (!depth())
    return {ChannelFault::empty_stack, expected, 0};
  if (overflow_) {
    overflow_--;
    return {};
  }
  const int64_t found = top();
  const auto pushed_begin = values_.rend() - 1; // values_[0] was never pushed
  const auto at = std::find(values_.rbegin(), pushed_begin, expected);
  if (at != pushed_begin)
    values_.erase(at.base() - 1, values_.end());
  return found == expected ? ChannelFault{}
                           : ChannelFault{ChannelFault::wrong_value, expected, found};
}

} // namespace ovnitrace
