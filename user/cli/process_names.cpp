// SPDX-License-Identifier: BSD-2-Clause
#include "user/cli/process_names.h"

#include "emulator/base/to_number.h"

#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace ovnitrace {

namespace {

/// Returns the text of a file up to `end`, empty if it cannot be read: a process may end at any
/// time.
std::string line_of(const std::filesystem::path &file, char end) {
  std::string line;
  std::ifstream in(file);
  std::getline(in, line, end);
  return line;
}

bool matches(const std::string &pattern, const std::string &name) {
  return !name.empty() && fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

} // namespace

std::vector<NamedProcess> processes_named(const std::string &name, const std::string &proc) {
  std::vector<NamedProcess> found;
  std::error_code ignored;
  for (const auto &entry : std::filesystem::directory_iterator(proc, ignored)) {
    const auto pid = to_number<uint32_t>(entry.path().filename().native());
    if (!pid)
      continue;
    const std::string comm = line_of(entry.path() / "comm", '\n');
    const std::string program = line_of(entry.path() / "cmdline", '\0'); // the kernel cuts comm off
    const bool is_it = matches(name, comm) || matches(name, program.substr(program.rfind('/') + 1));
    if (is_it && *pid != uint32_t(getpid()))
      found.push_back({*pid, comm});
  }
  std::sort(found.begin(), found.end(),
            [](const NamedProcess &a, const NamedProcess &b) { return a.pid < b.pid; });
  return found;
}

} // namespace ovnitrace
