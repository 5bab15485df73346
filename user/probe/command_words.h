// SPDX-License-Identifier: BSD-2-Clause
// What a command line names that could be a program.
#pragma once

#include <string>
#include <vector>

namespace ovnitrace {

struct CommandWords {
  std::vector<std::string>
      programs; ///< as they stand there: paths, or names to be looked for in PATH
  std::vector<std::string> library_paths; ///< values of LD_LIBRARY_PATH=… in it
  std::vector<std::string> preloads;      ///< of LD_PRELOAD=…, one library each
};

/// Each argument, and each word of an argument that is a command itself, as in `sh -c 'cd /tmp;
/// exec ./app'`. A word that is no program does not matter: there is no such file, or it has no
/// probes.
CommandWords command_words(const std::vector<std::string> &command);

/// The libraries of a value of LD_PRELOAD.
std::vector<std::string> preloads_of(const std::string &value);

} // namespace ovnitrace
