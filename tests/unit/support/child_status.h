// SPDX-License-Identifier: BSD-2-Clause
// Runs a part of a test in a child, whose signals, limits and filters are its own.
#pragma once

#include "user/launch/program.h"

#include <functional>
#include <sys/wait.h>
#include <unistd.h>

namespace ovnitrace::test {

/// The exit status of a child that runs this; 128 + the signal that killed it.
inline int status_of(const std::function<int()> &run) {
  const pid_t child = fork();
  if (child == 0)
    _exit(run());
  ProgramEnd end;
  waitpid(child, &end.wait_status, 0);
  return end.exit_status();
}

} // namespace ovnitrace::test
