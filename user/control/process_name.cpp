// SPDX-License-Identifier: BSD-2-Clause
#include "user/control/process_name.h"

#include <sys/prctl.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace ovnitrace::control {

void call_process(const std::string &name) {
  prctl(PR_SET_NAME, name.c_str());
  char *const title = program_invocation_name; // where the arguments begin in memory
  std::ifstream file("/proc/self/cmdline");
  std::ostringstream text;
  text << file.rdbuf(); // does not throw, as our callers are children of fork()
  const std::string line = text.str();
  if (line.size() <= name.size() || std::strcmp(line.c_str(), title) != 0)
    return;
  std::memset(title, 0, line.size());
  name.copy(title, name.size());
}

} // namespace ovnitrace::control
