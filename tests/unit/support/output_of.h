// SPDX-License-Identifier: BSD-2-Clause
// What another program prints.
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>

namespace ovnitrace::test {

/// Returns what a command of the shell writes to standard output.
inline std::string output_of(const std::string &command) {
  std::FILE *const pipe = popen(command.c_str(), "r");
  if (!pipe)
    throw std::runtime_error("cannot run " + command);
  std::string text;
  char part[4096];
  while (const size_t n = std::fread(part, 1, sizeof part, pipe))
    text.append(part, n);
  pclose(pipe);
  return text;
}

} // namespace ovnitrace::test
