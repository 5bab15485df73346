// SPDX-License-Identifier: BSD-2-Clause
// A child process that carries out orders, one at a time.
#pragma once

#include "emulator/base/unique_fd.h"

#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <functional>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ovnitrace::test {

class OrderedChild {
public:
  /// Calls `work` in the child, with each order.
  explicit OrderedChild(const std::function<void(char)> &work) {
    int orders[2], answers[2];
    if (pipe2(orders, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0)
      throw std::runtime_error("no pipe");
    orders_ = UniqueFd(orders[1]);
    answers_ = UniqueFd(answers[0]);
    const UniqueFd reads(orders[0]), writes(answers[1]);
    pid_ = fork();
    if (pid_ != 0)
      return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    orders_ = UniqueFd(), answers_ = UniqueFd();
    char order;
    while (read(reads.get(), &order, 1) == 1) {
      work(order);
      if (write(writes.get(), &order, 1) != 1)
        break;
    }
    _exit(0);
  }
  ~OrderedChild() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  OrderedChild(const OrderedChild &) = delete;
  OrderedChild &operator=(const OrderedChild &) = delete;

  uint32_t pid() const { return uint32_t(pid_); }
  /// Gives an order and waits until it is carried out.
  void order(char what) const {
    if (write(orders_.get(), &what, 1) != 1 || read(answers_.get(), &what, 1) != 1)
      throw std::runtime_error("the child has ended");
  }

private:
  UniqueFd orders_, answers_;
  pid_t pid_ = -1;
};

} // namespace ovnitrace::test
