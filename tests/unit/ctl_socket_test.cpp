// SPDX-License-Identifier: BSD-2-Clause
// Who may reach the socket of --control: user/control/ctl_socket.
#include "emulator/base/unique_fd.h"
#include "tests/unit/support/temp_dir.h"
#include "user/control/ctl_socket.h"

#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ovnitrace::control {
namespace {

// A change by path could be of a file that somebody has put there meanwhile.
TEST(CtlSocket, IsPrivateFromTheStart) {
  test::TempDir dir;
  const UniqueFd watch(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  ASSERT_GE(inotify_add_watch(watch.get(), dir.path().c_str(), IN_ATTRIB), 0);
  const mode_t before = umask(0);
  const CtlSocket socket(dir.path(), {}, getuid());
  umask(before);
  struct stat status;
  ASSERT_EQ(stat((dir / "control.sock").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  char events[4096];
  EXPECT_LT(read(watch.get(), events, sizeof events), 0) << "its mode was changed";
}

} // namespace
} // namespace ovnitrace::control
