// SPDX-License-Identifier: BSD-2-Clause
// A shell command, what it printed and what it used.
#pragma once

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

struct ShellRun {
  std::string printed;
  uint64_t peak_bytes = 0; ///< of its largest process
};

/// Its standard error goes nowhere.
inline ShellRun run_shell(const std::string &command) {
  ShellRun run;
  int ends[2];
  if (pipe(ends) != 0)
    return run;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  const std::string line = "exec 2>/dev/null; " + command;
  char shell[] = "/bin/sh", option[] = "-c";
  char *arguments[] = {shell, option, const_cast<char *>(line.c_str()), nullptr};
  pid_t pid = 0;
  const bool started = posix_spawn(&pid, shell, &actions, nullptr, arguments, environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  char block[4096];
  for (ssize_t got; started && (got = read(ends[0], block, sizeof(block))) > 0;)
    run.printed.append(block, size_t(got));
  close(ends[0]);
  rusage used{};
  int status;
  if (started && wait4(pid, &status, 0, &used) == pid)
    run.peak_bytes = uint64_t(used.ru_maxrss) * 1024;
  return run;
}

/// What the host took from this machine's CPUs so far, in seconds; 0 where it does not say.
inline double stolen_seconds() {
  std::ifstream stat("/proc/stat");
  std::string cpu;
  double user, nice, system, idle, iowait, irq, softirq, steal = 0;
  stat >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
  return steal / double(sysconf(_SC_CLK_TCK));
}
