// SPDX-License-Identifier: BSD-2-Clause
// Tells whether the kernel has PREEMPT_RT.
#pragma once

#include <cstring>
#include <string>
#include <sys/utsname.h>

namespace ovnitrace::test {

inline bool has_preempt_rt() {
  utsname system = {};
  uname(&system);
  return strstr(system.version, "PREEMPT_RT") != nullptr;
}

/// Returns whether this is what ends a sleep in the outputs. With PREEMPT_RT, timers expire in soft
/// interrupts, as signals are sent.
inline bool ends_sleeps(const std::string &waker) {
  return waker.ends_with("timer") || (has_preempt_rt() && waker.ends_with("interrupt"));
}

} // namespace ovnitrace::test
