// SPDX-License-Identifier: BSD-2-Clause
#include "user/control/held_processes.h"

#include "emulator/base/error.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace ovnitrace::control {

namespace {

UniqueFd open_process(pid_t pid) {
  return UniqueFd(int(syscall(SYS_pidfd_open, pid, 0)));
}

/// Continues it if it is in the map, or `always`.
void continue_process(int map, uint32_t pid, bool always) {
  const UniqueFd process = open_process(pid_t(pid)); // not one that has the pid later
  const bool held = bpf_map_delete_elem(map, &pid) == 0;
  if (process && (held || always))
    syscall(SYS_pidfd_send_signal, process.get(), SIGCONT, nullptr, 0);
}

void continue_all(int map) {
  for (uint32_t pid; bpf_map_get_next_key(map, nullptr, &pid) == 0;)
    continue_process(map, pid, false);
}

/// Waits for the end of ovnitrace, which detaches the programs too, so that nothing is stopped any
/// more. One that was running then may still do it.
[[noreturn]] void guard(int parent, int map) {
  constexpr int kMap = 4, kParent = 3, kLooks = 5, kPause = 100'000; // us
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  setsid(); // who kills the terminal's processes does not mean this one
  prctl(PR_SET_NAME, "ovnitrace-guard");
  // Both away from where they go to.
  const int map_copy = fcntl(map, F_DUPFD_CLOEXEC, kMap + 1),
            parent_copy = fcntl(parent, F_DUPFD_CLOEXEC, kMap + 1);
  if (dup2(parent_copy, kParent) < 0 || dup2(map_copy, kMap) < 0)
    _exit(1);
  closefrom(kMap + 1); // links among them, which must not outlive ovnitrace
  for (int stream = 0; stream < kParent; stream++)
    close(stream); // a pipe that somebody reads to its end
  pollfd end = {kParent, POLLIN, 0};
  while (poll(&end, 1, -1) != 1)
    ;
  for (int look = 0; look < kLooks; look++) {
    continue_all(kMap);
    usleep(kPause);
  }
  _exit(0);
}

} // namespace

HeldProcesses::HeldProcesses(int map) : map_(map) {
  const UniqueFd self = open_process(getpid());
  if (self)
    guard_ = fork();
  if (guard_ == 0)
    guard(self.get(), map);
  if (guard_ < 0)
    throw ovnitrace::Error(fmt::format("--control: cannot start the process that continues what is "
                                       "stopped: {}",
                                       std::strerror(errno)));
}

HeldProcesses::~HeldProcesses() {
  kill(guard_, SIGKILL);
  while (waitpid(guard_, nullptr, 0) < 0 && errno == EINTR)
    ;
}

/// Also where the map does not have it: of two stops that came together one message is left.
void HeldProcesses::release(uint32_t pid) const {
  continue_process(map_, pid, true);
}

void HeldProcesses::release_all() const {
  continue_all(map_);
}

} // namespace ovnitrace::control
