// SPDX-License-Identifier: BSD-2-Clause
// Runs commands as a person in a terminal would, and sees what they print and how they end.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace ovnitrace::test {

/// A command and what it is started with.
struct Command {
  std::vector<std::string> argv = {};
  std::map<std::string, std::string> env = {}; ///< beside ours, which has no SUDO_* variables
  std::string cwd = {};                        ///< empty: ours
  std::string input = {};                      ///< on its standard input
  std::function<void()> in_child = {};         ///< called in the child before execvp()
};

/// Gives this process and its children default signals, nice 0 and no SUDO_*, as if root had logged
/// in and started the tests.
void forget_who_runs_the_tests();

/// How a command ended and what it printed.
struct Outcome {
  int wait_status = 0;
  std::string out, err;
  int status() const; ///< its exit status, or 128 + the signal that killed it, as shells have it
};

/// A command that is running. Killed by the destructor if it was not waited for.
class Process {
public:
  explicit Process(const Command &command);
  ~Process();
  Process(const Process &) = delete;
  Process &operator=(const Process &) = delete;

  pid_t pid() const { return pid_; }
  bool running() const; ///< has not ended
  void signal(int number) const;
  std::string out() const; ///< printed so far
  std::string err() const;
  /// Waits for the end. After four minutes it kills the command and fails the test.
  Outcome wait();

private:
  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;
};

Outcome run(const Command &command);

/// Waits until `condition` holds. After four minutes it fails the test with `what` and returns
/// false.
bool eventually(const std::function<bool()> &condition, const std::string &what);

/// Returns how often a thread has blocked so far.
uint64_t blocks_of(pid_t tid);
/// Waits until a thread has blocked `count` times. After four minutes it fails the test and returns
/// false.
bool blocked(pid_t tid, uint64_t count);

/// Returns the first number that follows `key` in `text`. Fails the test if no number follows.
uint64_t number_after(const std::string &text, const std::string &key);

std::vector<std::string> lines_of(const std::string &text);

} // namespace ovnitrace::test
