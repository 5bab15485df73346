// SPDX-License-Identifier: BSD-2-Clause
// Continues processes that the BPF side has stopped, when their new code is armed.
#pragma once

#include <cstdint>
#include <map>
#include <pthread.h>
#include <sys/types.h>

namespace ovnitrace::control {

/// Continues stopped processes. If ovnitrace is killed, a process of its own, `ovt-guard`,
/// continues them instead. `pkill ovnitrace` does not match the guard.
class HeldProcesses {
public:
  /// `map`: the processes that are stopped, by tgid; borrowed. `holds`: whether the BPF side stops
  /// processes, in memory that is shared with it; the guard clears it. Forks: to be called by the
  /// main thread, while we may signal the processes. Throws Error.
  HeldProcesses(int map, volatile bool *holds);
  ~HeldProcesses();
  HeldProcesses(const HeldProcesses &) = delete;
  HeldProcesses &operator=(const HeldProcesses &) = delete;

  /// Continues a process that was stopped, according to a message.
  void release(uint32_t pid);
  /// Continues all stopped processes. After this call none is stopped, if the BPF side no longer
  /// stops processes.
  void release_all();
  /// Continues parents that have stopped themselves because we stopped their child, as `su` does:
  /// they wait with WUNTRACED. Call it again while it returns true, because a parent stops some
  /// time after its child. It looks once in kParentsLook.
  bool continue_parents();
  static constexpr int kParentsLook = 50; ///< ms

private:
  [[noreturn]] void guard();
  void watch_parent(uint32_t pid);

  int map_;
  volatile bool *const holds_;
  pthread_mutex_t *alive_; ///< our main thread has it, until it ends
  pid_t guard_ = -1;
  std::map<uint32_t, uint64_t> parents_; ///< that may stop themselves, each until a time, ns
  uint64_t next_look_ = 0;               ///< at them, ns
};

} // namespace ovnitrace::control
