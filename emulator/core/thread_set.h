// SPDX-License-Identifier: BSD-2-Clause
// A set of threads of which only the size matters and, while it has one, which one.
#pragma once

#include <cstdint>

namespace ovnitrace {

/// The running or the active threads of a CPU. The exclusive or of all members is the member when
/// there is one: no list, no search, whatever the number of threads.
class ThreadSet {
public:
  void add(uint32_t thread) {
    count_++;
    mix_ ^= thread;
  }
  void remove(uint32_t thread) {
    count_--;
    mix_ ^= thread;
  }
  uint32_t count() const { return count_; }
  /// The only member; call it only while count() is 1.
  uint32_t only() const { return mix_; }
  bool is_only(uint32_t thread) const { return count_ == 1 && mix_ == thread; }

private:
  uint32_t count_ = 0;
  uint32_t mix_ = 0;
};

} // namespace ovnitrace
