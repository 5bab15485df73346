// SPDX-License-Identifier: BSD-2-Clause
// A command on a terminal of its own, as a person starts it.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace ovnitrace::test {

/// The command leads a session whose controlling terminal it has.
class Terminal {
public:
  explicit Terminal(const std::vector<std::string> &argv);
  ~Terminal();
  Terminal(const Terminal &) = delete;
  Terminal &operator=(const Terminal &) = delete;

  /// Reads until the command has printed `text`; fails the test if the command ends before.
  void await(const std::string &text);
  /// Waits for the end of the command then. Returns its wait status.
  int hang_up();
  void type(char key);
  /// Reads what is printed until the command ends. Returns its wait status.
  int wait();
  const std::string &printed() const { return printed_; }

private:
  pid_t pid_ = -1;
  int master_ = -1;
  std::string printed_;
};

} // namespace ovnitrace::test
