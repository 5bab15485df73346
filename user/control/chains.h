// SPDX-License-Identifier: BSD-2-Clause
// The chains of the traced threads, for those who make alarms hit.
#pragma once

#include <ovnitrace/control.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace ovnitrace::control {

class Chains {
public:
  virtual ~Chains() = default;
  /// Hits on behalf of a thread; process 0: of whichever process the thread is. Throws Error.
  virtual control_hit hit(uint32_t pid, uint32_t tid, uint64_t alarms) const = 0;
  /// Returns the threads that have chains, of a process or, 0, of all: tid and process.
  virtual std::vector<std::pair<uint32_t, uint32_t>> threads(uint32_t pid) const = 0;
  /// Sets whether a SIGSTOP from the kernel stops a thread when its instructions are to be counted
  /// and when it has loaded code. Its tracer must be there.
  virtual void stop_for_tracer(bool on) = 0;
};

} // namespace ovnitrace::control
