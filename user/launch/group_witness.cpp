// SPDX-License-Identifier: BSD-2-Clause
#include "user/launch/group_witness.h"

#include "emulator/base/error.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <ctime>

namespace ovnitrace {

namespace {

constexpr timespec kAtOnce = {};
constexpr int kLongestAnswerMs = 10'000; // it may be stopped

/// After a fork() among threads: only what a signal handler may do.
[[noreturn]] void be_witness(int socket) {
  dup2(socket, STDIN_FILENO);
  close_range(STDIN_FILENO + 1, UINT_MAX, 0); // nobody shall wait for us to close a pipe
  int signal;
  while (read(STDIN_FILENO, &signal, sizeof signal) == sizeof signal) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    const char got = sigtimedwait(&set, nullptr, &kAtOnce) == signal;
    if (write(STDIN_FILENO, &got, 1) != 1)
      break;
  }
  _exit(0);
}

} // namespace

GroupWitness::GroupWitness() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw Error(fmt::format("cannot make a pair of sockets: {}", std::strerror(errno)));
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_ = fork();
  if (pid_ == 0)
    be_witness(ends[1]);
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(ends[1]);
  socket_ = ends[0];
  if (pid_ < 0) {
    close(socket_);
    throw Error(fmt::format("cannot fork: {}", std::strerror(error)));
  }
}

GroupWitness::~GroupWitness() {
  close(socket_);
  kill(pid_, SIGKILL); // it may be stopped
  waitpid(pid_, nullptr, 0);
}

bool GroupWitness::got(int signal) const {
  if (send(socket_, &signal, sizeof signal, MSG_NOSIGNAL) != sizeof signal)
    return false;
  pollfd answer = {socket_, POLLIN, 0};
  char got = 0;
  if (poll(&answer, 1, kLongestAnswerMs) != 1) {
    shutdown(socket_, SHUT_RDWR); // a later answer would be taken for that to another question
    return false;
  }
  return read(socket_, &got, 1) == 1 && got;
}

} // namespace ovnitrace
