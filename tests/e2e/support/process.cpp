// SPDX-License-Identifier: BSD-2-Clause
#include "tests/e2e/support/process.h"

#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/strays.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace ovnitrace::test {

namespace {

/// Returns how long something may take: four minutes, or the seconds in TEST_PATIENCE. In
/// QEMU, two captures that start together keep the kernel's verifier busy for over a minute.
std::chrono::milliseconds patience() {
  const char *seconds = std::getenv("TEST_PATIENCE");
  return std::chrono::seconds(seconds ? std::atoi(seconds) : 240);
}

/// Makes a file in memory. A program that outlives its parent can go on writing to it.
int memory_file(const char *name, const std::string &content) {
  const int fd = memfd_create(name, MFD_CLOEXEC);
  if (fd < 0 || write(fd, content.data(), content.size()) != ssize_t(content.size()) ||
      lseek(fd, 0, SEEK_SET) != 0)
    throw std::runtime_error("cannot make a file in memory");
  return fd;
}

/// Threads that write at once each find the end: a file in memory has no lock on its position.
int output_file(const char *name) {
  const int fd = memory_file(name, "");
  fcntl(fd, F_SETFL, O_APPEND);
  return fd;
}

std::string content_of(int fd) {
  std::string text;
  char part[1 << 16];
  for (ssize_t got; (got = pread(fd, part, sizeof part, off_t(text.size()))) > 0;)
    text.append(part, size_t(got));
  return text;
}

[[noreturn]] void become_command(const Command &command, int in, int out, int err) {
  dup2(in, STDIN_FILENO), dup2(out, STDOUT_FILENO), dup2(err, STDERR_FILENO);
  for (const auto &[name, value] : command.env)
    setenv(name.c_str(), value.c_str(), 1);
  if (!command.cwd.empty() && chdir(command.cwd.c_str()) != 0)
    _exit(200);
  if (command.in_child)
    command.in_child();
  std::vector<char *> arguments;
  for (const std::string &argument : command.argv)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  dprintf(STDERR_FILENO, "the test cannot run %s\n", arguments[0]);
  _exit(201);
}

} // namespace

void forget_who_runs_the_tests() {
  for (int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE})
    ::signal(number, SIG_DFL); // a shell that starts us in the background ignores some
  setpriority(PRIO_PROCESS, 0, 0);
  for (const char *name : {"SUDO_UID", "SUDO_GID", "SUDO_USER", "SUDO_COMMAND"})
    unsetenv(name);
}

int Outcome::status() const {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

Process::Process(const Command &command)
    : out_(output_file("stdout")), err_(output_file("stderr")) {
  const int in = memory_file("stdin", command.input);
  fflush(nullptr);
  mark_as_ours();
  forget_who_runs_the_tests(); // here: a signal may reach the child before its first instruction
  pid_ = fork();
  if (pid_ == 0)
    become_command(command, in, out_, err_);
  close(in);
  if (pid_ < 0)
    throw std::runtime_error("cannot fork");
}

Process::~Process() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(out_);
  close(err_);
}

bool Process::running() const {
  siginfo_t info = {};
  return pid_ > 0 && waitid(P_PID, id_t(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0;
}

void Process::signal(int number) const {
  kill(pid_, number);
}
std::string Process::out() const {
  return content_of(out_);
}
std::string Process::err() const {
  return content_of(err_);
}

Outcome Process::wait() {
  const int watched = int(syscall(SYS_pidfd_open, pid_, 0));
  pollfd end = {watched, POLLIN, 0};
  if (poll(&end, 1, int(patience().count())) != 1) {
    ADD_FAILURE() << "process " << pid_ << " does not end; it is killed. It said:\n" << err();
    kill(pid_, SIGKILL);
  }
  close(watched);
  Outcome outcome;
  waitpid(pid_, &outcome.wait_status, 0);
  pid_ = -1;
  outcome.out = out();
  outcome.err = err();
  return outcome;
}

Outcome run(const Command &command) {
  return Process(command).wait();
}

bool eventually(const std::function<bool()> &condition, const std::string &what) {
  const auto limit = std::chrono::steady_clock::now() + patience();
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) {
      ADD_FAILURE() << "not within " << patience().count() / 1000 << " s: " << what;
      return false;
    }
    usleep(5'000);
  }
  return true;
}

uint64_t blocks_of(pid_t tid) {
  return number_after(read_text("/proc/" + std::to_string(tid) + "/status"),
                      "\nvoluntary_ctxt_switches:");
}

bool blocked(pid_t tid, uint64_t count) {
  return eventually([&] { return blocks_of(tid) >= count; },
                    "thread " + std::to_string(tid) + " blocks");
}

uint64_t number_after(const std::string &text, const std::string &key) {
  const size_t at = text.find(key);
  if (at == std::string::npos) {
    ADD_FAILURE() << "no '" << key << "' in:\n" << text;
    return 0;
  }
  static const std::regex kNumber("^\\s*(\\d+(,\\d{3})*)"); // "1,234,567" is one number
  std::smatch found;
  const std::string rest = text.substr(at + key.size(), 64);
  if (!std::regex_search(rest, found, kNumber))
    return 0;
  std::string digits = found[1];
  std::erase(digits, ',');
  return std::stoull(digits);
}

std::vector<std::string> lines_of(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

} // namespace ovnitrace::test
