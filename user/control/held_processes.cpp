// SPDX-License-Identifier: BSD-2-Clause
#include "user/control/held_processes.h"

#include "emulator/base/clock.h"
#include "emulator/base/error.h"
#include "emulator/base/unique_fd.h"
#include "user/control/process_name.h"

#include <ovnitrace/control.h>

#include <bpf/bpf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace ovnitrace::control {

namespace {

/// Returns a pidfd, which never names a later process with the same pid.
UniqueFd open_process(uint32_t pid) {
  return UniqueFd(int(syscall(SYS_pidfd_open, pid, 0)));
}

void continue_process(const UniqueFd &process) {
  if (process)
    syscall(SYS_pidfd_send_signal, process.get(), SIGCONT, nullptr, 0);
}

struct ProcessState {
  char state = 0; ///< 'T': stopped
  uint32_t parent = 0;
};

ProcessState state_of(uint32_t pid) {
  std::string line;
  std::getline(std::ifstream(fmt::format("/proc/{}/stat", pid)), line);
  const size_t name_end = line.rfind(')'); // a name may have all characters
  ProcessState process;
  if (name_end != line.npos)
    std::istringstream(line.substr(name_end + 1)) >> process.state >> process.parent;
  return process;
}

/// Returns whether it was stopped while it sent a signal: no other process has stopped it.
bool has_stopped_itself(uint32_t pid) {
  if (state_of(pid).state != 'T')
    return false;
  long call = -1;
  std::ifstream(fmt::format("/proc/{}/syscall", pid)) >> call;
  return call == SYS_kill || call == SYS_tgkill || call == SYS_tkill;
}

/// Returns what connects our process group with its session: the ancestors in the group from
/// `parent` on, and the first one outside. Empty if that is in another session.
std::vector<pid_t> connections(pid_t parent) {
  std::vector<pid_t> processes;
  for (; parent > 0; parent = pid_t(state_of(uint32_t(parent)).parent)) {
    processes.push_back(parent);
    if (getpgid(parent) != getpgrp())
      return getsid(parent) == getsid(0) ? processes : std::vector<pid_t>();
  }
  return {};
}

/// Forks a process that only stays in our process group until one of the group's connections ends.
/// Returns -1 if the group has none. The caller then goes to another group of the session.
///
/// A group is orphaned when no member has a parent in another group of the session. When the kernel
/// sees the last such member end, it sends SIGHUP to members that are stopped. Without this process
/// that member is ovnitrace, or a sudo that waits for it, and the guard may be too late.
pid_t fork_group_member(pid_t parent) {
  const std::vector<pid_t> processes = connections(parent);
  if (processes.empty())
    return -1;
  const pid_t guard = getpid(), member = fork();
  if (member != 0)
    return member;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  closefrom(0);
  std::vector<pollfd> ends;
  for (const pid_t process : processes)
    ends.push_back({int(syscall(SYS_pidfd_open, process, 0)), POLLIN, 0});
  const bool connected =
      std::all_of(ends.begin(), ends.end(), [](pollfd end) { return end.fd >= 0; });
  if (connected && getppid() == guard)
    poll(ends.data(), ends.size(), -1);
  _exit(0);
}

/// Returns a locked mutex that a waiting process gets when the owner ends; null without memory. The
/// kernel hands it over before it closes the owner's files, which takes seconds if some are probes.
pthread_mutex_t *locked_mutex() {
  void *memory = mmap(nullptr, sizeof(pthread_mutex_t), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  auto *mutex = static_cast<pthread_mutex_t *>(memory);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  pthread_mutex_lock(mutex);
  return mutex;
}

} // namespace

/// Waits for the end of ovnitrace's main thread. The kernel detaches the BPF programs only later.
/// `parent` is that of ovnitrace.
void HeldProcesses::guard(pid_t parent, bool keeps_group) {
  constexpr int kMap = 3, kLooks = 20;
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  call_process("ovt-guard");
  const pid_t member = keeps_group ? fork_group_member(parent) : -1;
  // Who kills the group, or the terminal's processes, does not mean this one. If it has a member in
  // the group, it has to stay in the session.
  if (member < 0)
    setsid();
  else
    setpgid(0, 0);
  if (map_ != kMap && dup2(map_, kMap) < 0)
    _exit(1);
  map_ = kMap;
  for (int stream = 0; stream < kMap; stream++)
    close(stream);     // a pipe that somebody reads to its end
  closefrom(kMap + 1); // links among them, which must not outlive ovnitrace
  const bool killed = pthread_mutex_lock(alive_) == EOWNERDEAD;
  if (killed) {
    *holds_ = false;
    for (int look = 0; look < kLooks; look++) { // a BPF program that runs now may still stop one
      release_all();
      continue_parents();
      usleep(kParentsLook * 1000);
    }
  }
  if (member > 0) {
    kill(member, SIGKILL);
    waitpid(member, nullptr, 0);
  }
  _exit(0);
}

HeldProcesses::HeldProcesses(int map, volatile bool *holds, bool keeps_group)
    : map_(map), holds_(holds), alive_(locked_mutex()) {
  int ready[2];
  if (alive_ && pipe2(ready, O_CLOEXEC) == 0) {
    const pid_t parent = getppid();
    guard_ = fork();
    if (guard_ == 0)
      guard(parent, keeps_group);
    close(ready[1]);
    char byte;
    // Until the guard is ready: it has closed its files.
    TEMP_FAILURE_RETRY(read(ready[0], &byte, 1));
    close(ready[0]);
  }
  if (guard_ < 0)
    throw ovnitrace::Error(
        "--control: cannot start the process that continues stopped processes: {}",
        std::strerror(errno));
}

HeldProcesses::~HeldProcesses() {
  pthread_mutex_unlock(alive_); // the guard ends: it has privileges, and cannot be killed by a user
  TEMP_FAILURE_RETRY(waitpid(guard_, nullptr, 0));
  munmap(alive_, sizeof(*alive_));
}

/// Continues a process, even if the map lacks it: of two stops at one time, only one message
/// remains.
void HeldProcesses::release(uint32_t pid) {
  const UniqueFd process = open_process(pid);
  uint8_t how = 0;
  bpf_map_lookup_elem(map_, &pid, &how);
  bpf_map_delete_elem(map_, &pid);
  if (how == CONTROL_HELD_PROCESS)
    watch_parent(pid);
  continue_process(process);
}

void HeldProcesses::release_all() {
  for (uint32_t pid; bpf_map_get_next_key(map_, nullptr, &pid) == 0;)
    release(pid);
}

void HeldProcesses::watch_parent(uint32_t pid) {
  constexpr uint64_t kSecond = 1'000'000'000; // ns
  const uint32_t parent = state_of(pid).parent;
  if (parent > 1 && parent != uint32_t(getpid()))
    parents_[parent] = monotonic_ns() + kSecond;
}

bool HeldProcesses::continue_parents() {
  constexpr uint64_t kMillisecond = 1'000'000; // ns
  const uint64_t now = monotonic_ns();
  if (now < next_look_)
    return !parents_.empty();
  next_look_ = now + kParentsLook * kMillisecond;
  const std::map<uint32_t, uint64_t> parents = parents_;
  for (const auto &[pid, until] : parents) {
    const UniqueFd process = open_process(pid);
    if (has_stopped_itself(pid)) {
      watch_parent(pid); // which may have seen this one stop
      continue_process(process);
    }
    if (!process || until < now)
      parents_.erase(pid);
  }
  return !parents_.empty();
}

} // namespace ovnitrace::control
