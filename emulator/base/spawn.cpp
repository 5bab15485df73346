// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/spawn.h"

#include <spawn.h>
#include <unistd.h>

#include <csignal>
#include <utility>

namespace ovnitrace {

namespace {

/// Returns pointers to texts, and a null pointer behind them. exec does not change the texts.
std::vector<char *> pointers(const std::vector<std::string> &texts) {
  std::vector<char *> all;
  for (const std::string &text : texts)
    all.push_back(const_cast<char *>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

} // namespace

int spawn(const std::vector<std::string> &argv, const std::vector<std::string> &environment,
          const StandardFiles &files, pid_t &pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const auto &[from, to] :
       {std::pair(files.in, STDIN_FILENO), {files.out, STDOUT_FILENO}, {files.err, STDERR_FILENO}})
    if (from >= 0)
      posix_spawn_file_actions_adddup2(&actions, from, to);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals; // a signal that is ignored stays so in a new program
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  sigaddset(&signals, SIGXFSZ);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  sigemptyset(&signals); // the calling thread may block all
  posix_spawnattr_setsigmask(&attributes, &signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  const int error = posix_spawnp(&pid, argv[0].c_str(), &actions, &attributes,
                                 pointers(argv).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> all;
  for (char **variable = environ; *variable; variable++)
    all.emplace_back(*variable);
  return all;
}

} // namespace ovnitrace
