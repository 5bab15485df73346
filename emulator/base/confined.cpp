// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/confined.h"

#include "emulator/base/unique_fd.h"
#include "emulator/base/whole_io.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

namespace ovnitrace {

namespace {

constexpr unsigned kMostFailed = 4;
constexpr int kPipe = 3; ///< the only file of a child beside its standard streams

/// Lowers a limit of this process. A limit that is lower already stays, as only root may raise it.
bool limit(__rlimit_resource what, uint64_t most) {
  rlimit both = {};
  if (getrlimit(what, &both) != 0)
    return false;
  both.rlim_cur = both.rlim_max = std::min<uint64_t>(most, both.rlim_max);
  return setrlimit(what, &both) == 0;
}

/// Returns the bytes of addresses that this process uses.
uint64_t address_space() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * uint64_t(sysconf(_SC_PAGESIZE));
}

/// Drops all capabilities. Root keeps reading the files of all users, as without a child.
bool drop_all_capabilities() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {}, had[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capget, &header, had) != 0)
    return false;
  if (geteuid() == 0)
    data[0].permitted = data[0].effective = had[0].permitted & 1u << CAP_DAC_READ_SEARCH;
  return syscall(SYS_capset, &header, data) == 0;
}

void close_all_but(std::span<const int> files) {
  const int last = files.empty() ? kPipe : *std::max_element(files.begin(), files.end());
  std::vector<bool> stays(size_t(last) + 1);
  for (const int file : files)
    stays[size_t(file)] = true;
  for (int file = kPipe + 1; file < last; file++)
    if (!stays[size_t(file)])
      close(file);
  closefrom(last + 1);
}

/// Restricts this process. Signals are blocked: those of a terminal are for the parent, with which
/// this process ends.
bool confine(int pipe, pid_t parent, const ConfinedLimits &limits) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  const sched_param none = {};
  sched_setscheduler(0, SCHED_OTHER, &none);
  prctl(PR_SET_NAME, "ovnitrace-read");
  unsetenv("DEBUGINFOD_URLS"); // elfutils would ask these servers
  if (pipe != kPipe && dup2(pipe, kPipe) < 0)
    return false;
  const int null = open("/dev/null", O_RDWR);
  for (int stream = 0; stream < kPipe; stream++)
    if (dup2(null, stream) < 0)
      return false;
  close_all_but(limits.files);
  return limit(RLIMIT_CORE, 0) && limit(RLIMIT_FSIZE, 0) && limit(RLIMIT_CPU, limits.seconds) &&
         limit(RLIMIT_AS, address_space() + limits.memory) && drop_all_capabilities() &&
         prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 &&
         getppid() == parent;
}

} // namespace

void ConfinedOutput::number(uint64_t value) {
  waiting_.append(reinterpret_cast<const char *>(&value), sizeof value);
}

void ConfinedOutput::text(std::string_view text) {
  constexpr size_t kMostWaiting = 64 << 10;
  number(text.size());
  waiting_ += text;
  if (waiting_.size() > kMostWaiting)
    flush();
}

void ConfinedOutput::flush() {
  if (write_all(pipe_, waiting_) != waiting_.size())
    _exit(1);
  waiting_.clear();
}

bool ConfinedInput::read(char *to, size_t size) {
  while (good_ && size > 0) {
    if (at_ == read_.size()) {
      pollfd waiting = {pipe_, POLLIN, 0};
      const int ready = poll(&waiting, 1, int(patience_ * 1000));
      good_ = ready > 0 || (ready < 0 && errno == EINTR);
      if (ready <= 0)
        continue;
      read_.resize(64 << 10);
      const ssize_t got = ::read(pipe_, read_.data(), read_.size());
      read_.resize(got > 0 ? size_t(got) : 0);
      at_ = 0;
      good_ = got > 0 || (got < 0 && errno == EINTR);
    }
    const size_t part = std::min(size, read_.size() - at_);
    std::memcpy(to, read_.data() + at_, part);
    at_ += part;
    to += part;
    size -= part;
  }
  return good_;
}

uint64_t ConfinedInput::number(uint64_t most) {
  uint64_t value = 0;
  good_ = read(reinterpret_cast<char *>(&value), sizeof value) && value <= most;
  return good_ ? value : 0;
}

std::string ConfinedInput::text(size_t most) {
  std::string text(number(most), '\0');
  return read(text.data(), text.size()) ? text : "";
}

size_t ask_confined(size_t count, const ConfinedLimits &limits,
                    const std::function<void(size_t, ConfinedOutput &)> &answer,
                    const std::function<void(size_t, ConfinedInput &)> &take,
                    const std::function<void(size_t)> &failed) {
  size_t next = 0;
  for (unsigned failures = 0; next < count && failures < kMostFailed; failures++) {
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0)
      break;
    UniqueFd ours(ends[0]), theirs(ends[1]);
    const pid_t parent = getpid(), child = fork();
    if (child < 0)
      break;
    if (child == 0) {
      try {
        if (!confine(theirs.get(), parent, limits))
          _exit(1);
        ConfinedOutput out(kPipe);
        for (; next < count; next++) {
          answer(next, out);
          out.flush();
        }
        _exit(0);
      } catch (...) {
        _exit(1); // no memory
      }
    }
    theirs = UniqueFd();
    ConfinedInput in(ours.get(), limits.patience);
    while (next < count && in.good()) {
      take(next, in);
      next += in.good();
    }
    kill(child, SIGKILL); // it has nothing more to say
    TEMP_FAILURE_RETRY(waitpid(child, nullptr, 0));
    if (next < count)
      failed(next++);
  }
  return next;
}

} // namespace ovnitrace
