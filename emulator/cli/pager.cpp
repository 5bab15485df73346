// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/pager.h"

#include "emulator/base/messages.h"
#include "emulator/base/spawn.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <vector>

namespace ovnitrace {

namespace {

bool wanted = true;
std::string &configured_command() {
  static std::string command;
  return command;
}

/// Returns the arguments. A shell runs a command that has characters of the shell.
std::vector<std::string> arguments_of(const std::string &command) {
  if (command.find_first_of("|&;<>()$`\\\"'*?[#~=") != command.npos)
    return {"sh", "-c", command};
  std::istringstream in(command);
  std::vector<std::string> words;
  for (std::string word; in >> word;)
    words.push_back(word);
  return words;
}

} // namespace

std::string pager_command(const std::string &configured) {
  const char *own = std::getenv("OVNITRACE_PAGER"), *common = std::getenv("PAGER");
  const std::string command = !configured.empty() ? configured
                              : own               ? own
                              : common            ? common
                                                  : "less";
  return command == "cat" || command.find_first_not_of(' ') == command.npos ? "" : command;
}

void use_pager(bool yes) {
  wanted = yes;
}

void configure_pager(const std::string &command) {
  configured_command() = command;
}

Pager::Pager() {
  const char *terminal = std::getenv("TERM");
  const bool dumb = !terminal || std::strcmp(terminal, "dumb") == 0;
  const std::string command = pager_command(configured_command());
  if (!wanted || command.empty() || dumb || !isatty(STDOUT_FILENO))
    return;
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0)
    return;
  const UniqueFd output(pipe[0]);
  input_ = UniqueFd(pipe[1]);
  // As git: less leaves at once if all fits, shows colours, and leaves the text on the screen.
  setenv("LESS", "FRX", 0);
  setenv("LV", "-c", 0);
  if (const int error =
          spawn(arguments_of(command), own_environment(), {.in = output.get()}, pid_)) {
    print("cannot start the pager {}: {}; the output follows without one", command,
          std::strerror(error));
    input_ = UniqueFd();
    pid_ = -1;
    return;
  }
  std::signal(SIGINT, SIG_IGN); // Ctrl-C is for the pager: it ends a search there
}

Pager::~Pager() {
  finish();
}

int Pager::fd() const {
  return pid_ < 0 ? STDOUT_FILENO : input_.get();
}

void Pager::finish() {
  if (pid_ < 0)
    return;
  input_ = UniqueFd();
  TEMP_FAILURE_RETRY(waitpid(pid_, nullptr, 0));
  pid_ = -1;
  std::signal(SIGINT, SIG_DFL);
}

} // namespace ovnitrace
