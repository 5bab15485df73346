// SPDX-License-Identifier: BSD-2-Clause
#include "user/launch/scratch_directory.h"

#include "emulator/base/error.h"
#include "emulator/base/identity.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace ovnitrace {

namespace {

constexpr int kAlive = STDERR_FILENO + 1; ///< in the child

std::string make_directory() {
  const EffectiveIdentity as_owner(calling_user());
  const char *place = std::getenv("TMPDIR");
  std::string path = std::string(place && *place ? place : "/var/tmp") + "/ovnitrace-XXXXXX";
  if (!mkdtemp(path.data()))
    throw Error("cannot make a directory for the trace as " + path + ": " + std::strerror(errno) +
                "; name another place with TMPDIR");
  return path;
}

/// The child: in a session of its own, where no key of the terminal reaches it, and with none of
/// our files, so that nobody waits for it to close them.
[[noreturn]] void remove_when_alone(const std::string &path, int alive) {
  setsid();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    dup2(nothing, standard);
  dup2(alive, kAlive);
  close_range(kAlive + 1, ~0u, 0);
  try {
    drop_privileges();
    char byte;
    while (read(kAlive, &byte, 1) < 0 && errno == EINTR) {
    }
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  } catch (...) { // there is nobody to report it to
  }
  _exit(0);
}

} // namespace

ScratchDirectory::ScratchDirectory() : path_(make_directory()) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) == 0) {
    UniqueFd waits(ends[0]);
    alive_ = UniqueFd(ends[1]);
    remover_ = fork();
    if (remover_ == 0) {
      alive_ = UniqueFd();
      remove_when_alone(path_, waits.get());
    }
  }
  if (remover_ > 0)
    return;
  const int error = errno;
  rmdir(path_.c_str());
  throw Error(std::string("cannot start a process that removes the trace: ") +
              std::strerror(error));
}

ScratchDirectory::~ScratchDirectory() {
  alive_ = UniqueFd();
  while (waitpid(remover_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

} // namespace ovnitrace
