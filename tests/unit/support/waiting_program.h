// SPDX-License-Identifier: BSD-2-Clause
// A process that runs a program, which answers each byte with one.
#pragma once

#include "emulator/base/unique_fd.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fcntl.h>
#include <stdexcept>
#include <string>
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
  ~WaitingProgram() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  WaitingProgram(const WaitingProgram &) = delete;
  WaitingProgram &operator=(const WaitingProgram &) = delete;

  uint32_t pid() const { return uint32_t(pid_); }
  bool turn() const {
    char byte = 'x';
    return write(input_.get(), &byte, 1) == 1 && read(output_.get(), &byte, 1) == 1;
  }

private:
  UniqueFd input_, output_;
  pid_t pid_ = -1;
};

} // namespace ovnitrace::test
