// SPDX-License-Identifier: BSD-2-Clause
#include "tests/e2e/support/terminal.h"

#include "tests/e2e/support/process.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace ovnitrace::test {

Terminal::Terminal(const std::vector<std::string> &argv) {
  pid_ = forkpty(&master_, nullptr, nullptr, nullptr);
  if (pid_ == 0) {
    forget_who_runs_the_tests();
    std::vector<char *> arguments;
    for (const std::string &argument : argv)
      arguments.push_back(const_cast<char *>(argument.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(201);
  }
}

Terminal::~Terminal() {
  if (master_ >= 0)
    close(master_);
}

int Terminal::hang_up() {
  close(master_);
  master_ = -1;
  int status = 0;
  if (!eventually([&] { return waitpid(pid_, &status, WNOHANG) == pid_; }, "the command ends")) {
    kill(pid_, SIGKILL);
    waitpid(pid_, &status, 0);
  }
  return status;
}

void Terminal::type(char key) {
  EXPECT_EQ(write(master_, &key, 1), 1);
}

void Terminal::await(const std::string &text) {
  char part[4096];
  while (printed_.find(text) == std::string::npos) {
    const ssize_t got = read(master_, part, sizeof part);
    ASSERT_GT(got, 0) << "it ended without " << text;
    printed_.append(part, size_t(got));
  }
}

int Terminal::wait() {
  char part[4096];
  for (ssize_t got; (got = read(master_, part, sizeof part)) > 0;)
    printed_.append(part, size_t(got));
  int status = 0;
  waitpid(pid_, &status, 0);
  return status;
}

} // namespace ovnitrace::test
