// SPDX-License-Identifier: BSD-2-Clause
#include "user/launch/process_watch.h"

#include "emulator/base/error.h"
#include "emulator/base/printable.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace ovnitrace {

namespace {

std::string file_name_of(uint32_t pid) {
  std::ifstream file(fmt::format("/proc/{}/comm", pid));
  std::string name;
  std::getline(file, name);
  name = printable_line(name);
  for (const char unfit : {'/', '?', ' '})
    std::replace(name.begin(), name.end(), unfit, '_');
  return name.empty() || name.front() == '.' || name.front() == '-' ? fmt::format("pid{}", pid)
                                                                    : name;
}

} // namespace

ProcessWatch::ProcessWatch(uint32_t pid) : pid_(pid), fd_(int(syscall(SYS_pidfd_open, pid, 0))) {
  if (!fd_)
    throw Error("cannot trace process {}: {}; -p takes the id of a process, as ps shows it", pid,
                std::strerror(errno));
  name_ = file_name_of(pid);
}

bool ProcessWatch::ended() const {
  pollfd process = {fd_.get(), POLLIN, 0};
  return poll(&process, 1, 0) == 1;
}

} // namespace ovnitrace
