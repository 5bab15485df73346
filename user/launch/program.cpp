// SPDX-License-Identifier: BSD-2-Clause
#include "user/launch/program.h"

#include "emulator/base/error.h"
#include "emulator/base/messages.h"
#include "user/launch/call_filter.h"
#include "user/launch/file_limit.h"
#include "user/launch/signals.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace ovnitrace {

namespace {

/// Says why an execve failed: execvp() also reports ENOENT if the interpreter of a script or the
/// loader is missing.
std::string explain_exec(const std::string &command, int error) {
  std::string advice;
  struct stat status;
  if (error == EACCES && stat(command.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
    return fmt::format("cannot run {}: it is a directory", command);
  if (error == ENOENT && command.find('/') == std::string::npos)
    advice = std::getenv("SUDO_UID") ? "; it is not in the PATH that sudo sets. To keep yours: "
                                       "sudo env \"PATH=$PATH\" ovnitrace -- " +
                                           command + "; or give the path of the program"
                                     : "; it is not in PATH";
  else if (error == ENOENT)
    advice = "; is the path right, and the interpreter that its first line names there?";
  else if (error == EACCES)
    advice = "; is it executable by the user who runs it?";
  else if (error == ENOEXEC)
    advice = "; is it a program for this machine? A script needs a first line like #!/bin/sh";
  return fmt::format("cannot run {}: {}{}", command, std::strerror(error), advice);
}

std::vector<char *> removed_variables; ///< NAME=VALUE

/// Restores the variables that the loader removed. They may name files of the user, so call it
/// after all rights are dropped.
void restore_removed_variables() {
  for (char *variable : removed_variables)
    if (const std::string name(variable, std::strcspn(variable, "=")); !std::getenv(name.c_str()))
      putenv(variable);
}

} // namespace

/// Keeps the variables that the loader removed. Their strings are still on the stack, where the
/// kernel puts them between the arguments and the name of the file.
void keep_removed_variables(int argc, char **argv) {
  if (argc < 1 || !getauxval(AT_SECURE))
    return;
  char *const end = reinterpret_cast<char *>(getauxval(AT_EXECFN));
  for (char *at = argv[argc - 1]; (at += std::strlen(at) + 1) < end;)
    if (std::strchr(at, '='))
      removed_variables.push_back(at);
}

int ProgramEnd::exit_status() const {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

std::string ProgramEnd::text() const {
  if (!WIFSIGNALED(wait_status))
    return fmt::format("exited with status {}", WEXITSTATUS(wait_status));
  int signal = WTERMSIG(wait_status);
  return fmt::format("killed by signal {} ({}){}", signal, strsignal(signal),
                     WCOREDUMP(wait_status) ? ", core dumped" : "");
}

Program::Program(const std::vector<std::string> &argv, const Identity &identity)
    : command_(argv.at(0)) {
  int gate[2], failure[2];
  // A socket and no pipe, because writing to it when the child is gone can be asked not to signal.
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate) != 0)
    throw Error("cannot start {}: {}", command_, std::strerror(errno));
  const UniqueFd waits_at(gate[0]);
  gate_ = UniqueFd(gate[1]);
  if (pipe2(failure, O_CLOEXEC) != 0)
    throw Error("cannot start {}: {}", command_, std::strerror(errno));
  failure_ = UniqueFd(failure[0]);
  const UniqueFd tells(failure[1]);
  pid_ = fork();
  if (pid_ == 0) {
    gate_ = UniqueFd(), failure_ = UniqueFd();
    run_child(argv, identity, gate[0], failure[1]);
  }
  if (pid_ < 0)
    throw Error("cannot start {}: fork: {}", command_, std::strerror(errno));
}

Program::~Program() {
  gate_ = UniqueFd(); // the child ends by itself, also one that we may not kill: it is root still
  if (!opened_) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
}

void Program::run_child(const std::vector<std::string> &argv, const Identity &identity, int gate,
                        int failure) {
  int error = 0;
  try {
    restore_signals();
    restore_file_limit();
    if (identity.change)
      protect_terminal();
    become(identity);
    set_environment(identity);
    restore_removed_variables();
    char go;
    if (TEMP_FAILURE_RETRY(read(gate, &go, 1)) != 1)
      _exit(kExitFailure); // ovnitrace is gone
    std::vector<char *> arguments;
    for (const std::string &argument : argv)
      arguments.push_back(const_cast<char *>(argument.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    error = errno;
  } catch (const Error &why) {
    print_text(why.what());
    error = EPERM;
  }
  if (write(failure, &error, sizeof(error)) != sizeof(error))
    _exit(kExitFailure);
  _exit(127);
}

void Program::open_gate() {
  forwarder_.emplace(pid_);
  end_if_signalled();
  char go = 1;
  int error = TEMP_FAILURE_RETRY(send(gate_.get(), &go, 1, MSG_NOSIGNAL)) < 0 ? errno : 0;
  if (error == EPIPE) // a child that was killed at the gate is no error of ours: wait() says how
    error = 0;
  gate_ = UniqueFd();
  if (!error)
    TEMP_FAILURE_RETRY(read(failure_.get(), &error, sizeof(error)));
  if (error)
    throw Error(explain_exec(command_, error), Error::Status{error == ENOENT ? 127 : 126});
  opened_ = true;
}

ProgramEnd Program::wait() {
  ProgramEnd end;
  siginfo_t info;
  while (waitid(P_PID, id_t(pid_), &info, WEXITED | WNOWAIT) < 0)
    if (errno != EINTR)
      throw Error("cannot wait for {}: {}", command_, std::strerror(errno));
  forwarder_.reset(); // before its pid can be another's
  waitpid(pid_, &end.wait_status, 0);
  return end;
}

} // namespace ovnitrace
