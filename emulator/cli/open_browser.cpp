// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/open_browser.h"

#include "emulator/base/messages.h"
#include "emulator/base/spawn.h"
#include "emulator/base/unique_fd.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
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

} // namespace

void open_browser(const std::string &path) {
  if (geteuid() == 0) {
    print("--open: no browser is started as root; open {} yourself", path);
    return;
  }
  set_session_environment();
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC)); // xdg-open may outlive us
  pid_t child;
  if (const int error = spawn({"xdg-open", std::filesystem::absolute(path)}, own_environment(),
                              {null.get(), null.get(), null.get()}, child))
    print("--open: cannot run xdg-open: {}; open {} yourself", std::strerror(error), path);
}

} // namespace ovnitrace
