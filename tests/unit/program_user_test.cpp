// SPDX-License-Identifier: BSD-2-Clause
// The traced program runs as its user, who cannot type into our terminal: user/launch/program.
#include "emulator/base/error.h"
#include "tests/unit/support/child_status.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "user/launch/program.h"
#include "user/launch/signals.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <unistd.h>

namespace ovnitrace {
namespace {

/// What a shell writes that is started as this user.
std::string said_by(const Identity &identity, const std::string &command) {
  const test::TempDir dir;
  std::filesystem::permissions(dir.path(), std::filesystem::perms(0777));
  const std::string made = dir / "made";
  EXPECT_EQ(test::status_of([&] {
              hold_signals();
              Program program({"/bin/sh", "-c", command + " >" + made}, identity);
              program.open_gate();
              return program.wait().exit_status();
            }),
            0);
  return test::text_of(made);
}

Identity someone() {
  Identity identity;
  identity.uid = 65534;
  identity.gid = 65533;
  identity.name = "someone";
  identity.home = "/nowhere";
  identity.change = true;
  return identity;
}

TEST(ProgramUser, IsTheOneThatIsGiven) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can become another user";
  EXPECT_EQ(said_by(someone(), "echo $(id -u) $(id -g) $HOME $USER $LOGNAME"),
            "65534 65533 /nowhere someone someone\n");
}

TEST(ProgramUser, CannotTypeIntoTheTerminalOfRoot) {
  const std::string filters = "grep ^Seccomp: /proc/self/status";
  const std::string ours = said_by(Identity(), filters);
  if (geteuid() == 0) {
    EXPECT_EQ(said_by(someone(), filters), "Seccomp:\t2\n");
  }
  std::string before;
  for (const std::string &line : test::lines_of("/proc/self/status"))
    if (line.starts_with("Seccomp:"))
      before = line + "\n";
  EXPECT_EQ(ours, before) << "no filter of ours";
}

TEST(ProgramUser, AProgramDoesNotRunAsAnotherThanThatUser) {
  testing::internal::CaptureStderr();
  const int status = test::status_of([] {
    if (geteuid() == 0 && setuid(65534) != 0)
      return 1;
    Identity root;
    root.change = true;
    Program program({"/bin/true"}, root);
    try {
      program.open_gate();
    } catch (const Error &error) {
      return std::string(error.what()) == "cannot run /bin/true: Operation not permitted"
                 ? error.status()
                 : 2;
    }
    return 3;
  });
  EXPECT_EQ(status, 126);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "ovnitrace: cannot keep the program from typing into this terminal: seccomp: "
            "Permission denied\n");
}

} // namespace
} // namespace ovnitrace
