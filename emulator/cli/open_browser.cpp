// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/open_browser.h"

#include "emulator/base/messages.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace ovnitrace {

namespace {

/// Restores variables that sudo removed and that a browser needs to find the user's session.
void set_session_environment() {
  if (const passwd *user = getpwuid(getuid())) {
    setenv("HOME", user->pw_dir, 1);
    setenv("USER", user->pw_name, 1);
    setenv("LOGNAME", user->pw_name, 1);
  }
  const std::string runtime = fmt::format("/run/user/{}", getuid());
  if (access(runtime.c_str(), W_OK) != 0)
    return;
  setenv("XDG_RUNTIME_DIR", runtime.c_str(), 1);
  setenv("DBUS_SESSION_BUS_ADDRESS", ("unix:path=" + runtime + "/bus").c_str(), 0);
}

/// Starts xdg-open. Its output is discarded, because it outlives us.
int spawn_xdg_open(std::string path) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int fd = 0; fd <= 2; fd++)
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", fd == 0 ? O_RDONLY : O_WRONLY, 0);
  char program[] = "xdg-open";
  char *arguments[] = {program, path.data(), nullptr};
  pid_t child;
  const int error = posix_spawnp(&child, program, &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

} // namespace

void open_browser(const std::string &path) {
  if (geteuid() == 0) {
    print("--open: no browser is started as root; open {} yourself", path);
    return;
  }
  set_session_environment();
  if (const int error = spawn_xdg_open(std::filesystem::absolute(path)))
    print("--open: cannot run xdg-open: {}; open {} yourself", std::strerror(error), path);
}

} // namespace ovnitrace
