// SPDX-License-Identifier: BSD-2-Clause
// Starts other programs.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace ovnitrace {

/// Descriptors that a new program has as its standard input, output and error. -1: ours.
struct StandardFiles {
  int in = -1, out = -1, err = -1;
};

/// Starts a program, which PATH finds, with SIGPIPE and SIGXFSZ as usual and no signal blocked.
/// `environment`: texts NAME=VALUE. The caller waits for the process. Returns 0 and sets `pid`, or
/// returns the error (errno).
int spawn(const std::vector<std::string> &argv, const std::vector<std::string> &environment,
          const StandardFiles &files, pid_t &pid);

/// Returns our environment.
std::vector<std::string> own_environment();

} // namespace ovnitrace
