// SPDX-License-Identifier: BSD-2-Clause
// A process that runs a program, which answers each byte with one.
#pragma once

#include "emulator/base/unique_fd.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ovnitrace::test {

class WaitingProgram {
public:
  /// Returns when the program has answered the first byte.
  explicit WaitingProgram(const std::string &program) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
      throw std::runtime_error("no pipe");
    input_ = UniqueFd(in[1]);
    output_ = UniqueFd(out[0]);
    const UniqueFd reads(in[0]), writes(out[1]);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(in[0], 0);
      dup2(out[1], 1);
      execl(program.c_str(), program.c_str(), nullptr);
      _exit(1);
    }
    EXPECT_TRUE(turn()) << program;
  }
  ~WaitingProgram() { end(SIGKILL); }
  WaitingProgram(const WaitingProgram &) = delete;
  WaitingProgram &operator=(const WaitingProgram &) = delete;

  uint32_t pid() const { return uint32_t(pid_); }
  bool turn() const {
    char byte = 'x';
    return write(input_.get(), &byte, 1) == 1 && read(output_.get(), &byte, 1) == 1;
  }
  /// Returns whether it is blocked, as it is when it waits for the next byte.
  bool is_blocked() const {
    std::ifstream stat("/proc/" + std::to_string(pid_) + "/stat");
    std::string pid, name, state; // the name has no blank
    return bool(stat >> pid >> name >> state) && state == "S";
  }
  /// Returns the signal that ends it; 0: none has.
  int end_within_a_minute() {
    const UniqueFd process(int(syscall(SYS_pidfd_open, pid_, 0)));
    pollfd file = {process.get(), POLLIN, 0};
    return poll(&file, 1, 60'000) == 1 ? end(0) : 0;
  }
  /// Sends a signal, unless that is 0, and waits. Returns the signal that ended it.
  int end(int signal) {
    int status = 0;
    if (pid_ > 0) {
      if (signal)
        kill(pid_, signal);
      waitpid(pid_, &status, 0);
    }
    pid_ = -1;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

private:
  UniqueFd input_, output_;
  pid_t pid_ = -1;
};

} // namespace ovnitrace::test
