#include "user/launch/process_watch.h"

#include "emulator/error.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ovnitrace {

ProcessWatch::ProcessWatch(uint32_t pid) : fd_(int(syscall(SYS_pidfd_open, pid, 0))) {
  if (fd_ < 0)
    throw Error(fmt::format("cannot trace process {}: {}; -p takes the id of a process, as ps shows it", pid,
                            std::strerror(errno)));
}

ProcessWatch::~ProcessWatch() { close(fd_); }

bool ProcessWatch::ended() const {
  pollfd process = {fd_, POLLIN, 0};
  return poll(&process, 1, 0) == 1;
}

} // namespace ovnitrace
