// SPDX-License-Identifier: BSD-2-Clause
// Forks with a chosen tid.
#pragma once

#include <csignal>
#include <cstdint>
#include <linux/sched.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Forks, with the tid `wanted` unless that is 0; as fork() returns.
inline pid_t fork_as(pid_t wanted) {
  clone_args arguments = {};
  arguments.exit_signal = SIGCHLD;
  if (wanted) {
    arguments.set_tid = reinterpret_cast<uintptr_t>(&wanted);
    arguments.set_tid_size = 1;
  }
  return pid_t(syscall(SYS_clone3, &arguments, sizeof arguments));
}
