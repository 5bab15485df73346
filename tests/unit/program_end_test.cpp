// SPDX-License-Identifier: BSD-2-Clause
// How a program ended, as shells report it.
#include "user/launch/program.h"

#include <gtest/gtest.h>

#include <csignal>

namespace ovnitrace::test {

namespace {

// Wait statuses as wait(2) makes them.
int exited(int status) {
  return status << 8;
}
int killed(int signal) {
  return signal;
}
constexpr int kDumped = 0x80;

} // namespace

TEST(ProgramEnd, HasTheStatusOfTheProgram) {
  for (int status : {0, 1, 2, 126, 127, 128, 255}) {
    EXPECT_EQ(ProgramEnd{exited(status)}.exit_status(), status);
    EXPECT_EQ(ProgramEnd{exited(status)}.text(), "exited with status " + std::to_string(status));
  }
}

TEST(ProgramEnd, Has128AndTheSignal) {
  EXPECT_EQ(ProgramEnd{killed(SIGTERM)}.exit_status(), 143);
  EXPECT_EQ(ProgramEnd{killed(SIGTERM)}.text(), "killed by signal 15 (Terminated)");
  EXPECT_EQ(ProgramEnd{killed(SIGSEGV) | kDumped}.exit_status(), 139);
  EXPECT_EQ(ProgramEnd{killed(SIGSEGV) | kDumped}.text(),
            "killed by signal 11 (Segmentation fault), core dumped");
}

} // namespace ovnitrace::test
