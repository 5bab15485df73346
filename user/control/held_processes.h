// SPDX-License-Identifier: BSD-2-Clause
// Keeps processes that the BPF side has stopped until their new code has its probes.
#pragma once

#include <cstdint>
#include <map>
#include <pthread.h>
#include <sys/types.h>

namespace ovnitrace::control {

/// Continues stopped processes. If ovnitrace is killed, nobody would: then a process of its own,
/// `ovt-guard`, does. `pkill ovnitrace` does not mean the guard.
class HeldProcesses {
public:
  /// `map`: the processes that are stopped, by tgid; borrowed. `holds`: whether the BPF side stops
  /// processes, in memory that is shared with it; the guard clears it. `keeps_group`: the program
  /// is in our process group, which the end of ovnitrace shall not orphan. Forks: to be called by
  /// the main thread, while we may signal the processes. Throws Error.
  HeldProcesses(int map, volatile bool *holds, bool keeps_group);
  ~HeldProcesses();
  HeldProcesses(const HeldProcesses &) = delete;
  HeldProcesses &operator=(const HeldProcesses &) = delete;

  /// Continues a process, of which a message says that it was stopped.
  void release(uint32_t pid);
  /// Continues all processes that are stopped. If the BPF side no longer stops processes, none is
  /// left.
  void release_all();
  /// Continues those that have stopped themselves because a child of theirs was stopped by us, as
  /// `su` does: they wait with WUNTRACED. To be called again while it returns true: a parent stops
  /// some time after its child. It looks once in kParentsLook.
  bool continue_parents();
  static constexpr int kParentsLook = 50; ///< ms

private:
  [[noreturn]] void guard(pid_t parent, bool keeps_group);
  void watch_parent(uint32_t pid);

  int map_;
  volatile bool *const holds_;
  pthread_mutex_t *alive_; ///< our main thread has it, until it ends
  pid_t guard_ = -1;
  std::map<uint32_t, uint64_t> parents_; ///< that may stop themselves, each until a time, ns
  uint64_t next_look_ = 0;               ///< at them, ns
};

} // namespace ovnitrace::control
