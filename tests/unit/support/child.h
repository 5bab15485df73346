// SPDX-License-Identifier: BSD-2-Clause
// A process that lives until a test ends it.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>

namespace ovnitrace::test {

/// A child that waits, with this name.
class Child {
public:
  explicit Child(const char *name) {
    int ends[2];
    if (pipe(ends) != 0 || (pid_ = fork()) < 0)
      throw std::runtime_error("no child");
    if (pid_ == 0) {
      prctl(PR_SET_NAME, name);
      close(ends[0]);
      close(ends[1]);
      for (;;)
        pause();
    }
    close(ends[1]);
    char end;
    while (read(ends[0], &end, 1) > 0)
      ;
    close(ends[0]);
  }
  ~Child() { kill(); }
  void kill() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    pid_ = 0;
  }
  uint32_t pid() const { return uint32_t(pid_); }

private:
  pid_t pid_ = 0;
};

} // namespace ovnitrace::test
