// SPDX-License-Identifier: BSD-2-Clause
#include "user/probe/needed_libraries.h"

#include "emulator/base/clock.h"
#include "emulator/base/error.h"
#include "emulator/base/regular_file.h"
#include "emulator/base/unique_fd.h"
#include "user/launch/signals.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

namespace ovnitrace {

namespace {

constexpr size_t kMostBytes = 1 << 20;         // of the list
constexpr uint64_t kPatience = 10'000'000'000; // ns

/// Runs in the child. It has a session of its own, so it cannot reach our terminal.
[[noreturn]] void run_loader(int loader, const std::string &interpreter, const std::string &program,
                             const Identity &identity, int list) {
  constexpr int kFailed = 127;
  try {
    setsid();
    restore_signals();
    if (seteuid(getuid()) != 0)
      _exit(kFailed);
    become(identity);
    set_environment(identity);
  } catch (const Error &) {
    _exit(kFailed);
  }
  const char *const argv[] = {interpreter.c_str(), "--list", program.c_str(), nullptr};
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  fcntl(loader, F_SETFD, 0); // a script is read by its interpreter
  if (dup2(null, STDIN_FILENO) >= 0 && dup2(list, STDOUT_FILENO) >= 0 &&
      dup2(null, STDERR_FILENO) >= 0)
    fexecve(loader, const_cast<char *const *>(argv), environ);
  _exit(kFailed);
}

/// Opens the loader if only root can change it: any program can name any file as its loader, and
/// may only be examined.
UniqueFd open_loader(const std::string &interpreter) {
  UniqueFd loader = open_regular(interpreter);
  struct stat status = {};
  if (!loader || fstat(loader.get(), &status) != 0 || status.st_uid != 0 ||
      status.st_mode & (S_IWGRP | S_IWOTH))
    return UniqueFd();
  return loader;
}

/// Reads up to the end of the file, or until it is too much or takes too long.
std::string read_list(int fd) {
  std::string list;
  const uint64_t limit = monotonic_ns() + kPatience;
  for (uint64_t now; list.size() < kMostBytes && (now = monotonic_ns()) < limit;) {
    pollfd file = {fd, POLLIN, 0};
    char bytes[4096];
    if (poll(&file, 1, int((limit - now) / 1'000'000) + 1) <= 0)
      continue;
    const ssize_t got = read(fd, bytes, sizeof(bytes));
    if (got == 0 || (got < 0 && errno != EINTR))
      break;
    if (got > 0)
      list.append(bytes, size_t(got));
  }
  return list;
}

} // namespace

std::vector<std::string> listed_libraries(const std::string &list) {
  std::vector<std::string> paths;
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find('\n', at), list.size());
    std::string_view line(list.data() + at, end - at);
    at = end + 1;
    const size_t arrow = line.find(" => ");
    line.remove_prefix(arrow == line.npos ? std::min(line.find_first_not_of('\t'), line.size())
                                          : arrow + 4);
    const size_t address = line.rfind(" (0x");
    if (line.starts_with('/') && address != line.npos)
      paths.emplace_back(line.substr(0, address));
  }
  return paths;
}

std::vector<std::string> needed_libraries(const std::string &interpreter,
                                          const std::string &program, const Identity &identity) {
  const UniqueFd loader = open_loader(interpreter);
  int ends[2];
  if (!loader || pipe2(ends, O_CLOEXEC) != 0)
    return {};
  const UniqueFd list(ends[0]);
  UniqueFd writer(ends[1]);
  const pid_t child = fork();
  if (child == 0)
    run_loader(loader.get(), interpreter, program, identity, writer.get());
  writer = UniqueFd();
  if (child < 0)
    return {};
  const std::string text = read_list(list.get());
  kill(-child, SIGKILL); // and what it has started
  kill(child, SIGKILL);
  TEMP_FAILURE_RETRY(waitpid(child, nullptr, 0));
  return listed_libraries(text);
}

} // namespace ovnitrace
