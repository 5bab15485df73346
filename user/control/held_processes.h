// SPDX-License-Identifier: BSD-2-Clause
// Processes that the BPF side has stopped, until their new code is armed.
#pragma once

#include "emulator/base/unique_fd.h"

#include <cstdint>
#include <sys/types.h>

namespace ovnitrace::control {

/// Continues stopped processes. A process of its own, `ovnitrace-guard`, continues those that are
/// stopped when this one is killed: nobody else would.
class HeldProcesses {
public:
  /// `map`: the processes that are stopped, by tgid; borrowed. Forks: to be called while we may
  /// signal the processes. Throws Error.
  explicit HeldProcesses(int map);
  ~HeldProcesses();
  HeldProcesses(const HeldProcesses &) = delete;
  HeldProcesses &operator=(const HeldProcesses &) = delete;

  /// Continues a process, of which a message says that it was stopped. Any thread may call it.
  void release(uint32_t pid) const;
  /// Continues those that are stopped. After the programs are detached: then no more are.
  void release_all() const;

private:
  int map_;
  pid_t guard_ = -1;
};

} // namespace ovnitrace::control
