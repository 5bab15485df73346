// SPDX-License-Identifier: BSD-2-Clause
// Finds processes by name, for -p NAME.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace {

struct NamedProcess {
  uint32_t pid = 0;
  std::string name; ///< the kernel's: 15 bytes at most
};

/// Returns the living processes whose name, or whose program's file name, matches `name`; * and ?
/// as in a shell. By pid; without this process. `proc`: the directory that lists processes.
std::vector<NamedProcess> processes_named(const std::string &name,
                                          const std::string &proc = "/proc");

} // namespace ovnitrace
