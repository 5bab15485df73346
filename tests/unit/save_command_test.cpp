// SPDX-License-Identifier: BSD-2-Clause
// The command that --on-save runs after each save: user/record/save_command.
#include "user/record/save_command.h"

#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <string>

namespace ovnitrace {
namespace {

using test::TempDir;
using test::text_of;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

/// Waits until the one child of this process has ended. It stays for waitpid().
void await_end() {
  siginfo_t child;
  ASSERT_EQ(waitid(P_ALL, 0, &child, WEXITED | WNOWAIT), 0);
}

bool has_children() {
  siginfo_t child;
  return waitid(P_ALL, 0, &child, WEXITED | WNOWAIT | WNOHANG) == 0 || errno != ECHILD;
}

/// Prints both variables and all that stdin has.
std::string report_to(const std::string &file) {
  return "echo \"$OVNITRACE_TRACE,$OVNITRACE_CAUSE,$(cat),$OVNITRACE_KEPT\" >>" + file;
}

TEST(SaveCommand, KnowsTheTraceAndTheCauseOfEachSave) {
  const TempDir dir;
  setenv("OVNITRACE_TRACE", "of another", 1);
  setenv("OVNITRACE_CAUSE", "of another", 1);
  setenv("OVNITRACE_KEPT", "kept", 1);
  CaptureStderr();
  {
    SaveCommand command(report_to(dir / "log"));
    command.start("run.1", "SIGUSR2");
    await_end();
    command.start("run.2", "latency:5ms");
    await_end();
  }
  EXPECT_EQ(GetCapturedStderr(), "");
  EXPECT_EQ(text_of(dir / "log"), "run.1,SIGUSR2,,kept\nrun.2,latency:5ms,,kept\n");
  EXPECT_FALSE(has_children()) << "the end of the object takes the last one";
  for (const char *name : {"OVNITRACE_TRACE", "OVNITRACE_CAUSE", "OVNITRACE_KEPT"})
    unsetenv(name);
}

TEST(SaveCommand, HasEachVariableOnce) {
  const TempDir dir;
  setenv("OVNITRACE_TRACE", "of another", 1);
  setenv("OVNITRACE_CAUSE", "of another", 1);
  {
    SaveCommand command("tr '\\0' '\\n' </proc/$$/environ | grep ^OVNITRACE_ >" + (dir / "log"));
    command.start("run.1", "exit");
    await_end();
  }
  unsetenv("OVNITRACE_TRACE");
  unsetenv("OVNITRACE_CAUSE");
  EXPECT_EQ(text_of(dir / "log"), "OVNITRACE_TRACE=run.1\nOVNITRACE_CAUSE=exit\n");
}

TEST(SaveCommand, IsNotStartedWhileItRuns) {
  const TempDir dir;
  int ends[2]; // the command runs until the pipe is closed
  ASSERT_EQ(pipe(ends), 0);
  CaptureStderr();
  {
    SaveCommand command("echo $OVNITRACE_TRACE >>" + (dir / "log") + "; read line <&" +
                        std::to_string(ends[0]) + "; exit 3");
    command.start("run.1", "exit");
    command.start("run.2", "exit");
    ASSERT_EQ(write(ends[1], "\n", 1), 1);
    await_end();
    command.start("run.3", "exit");
    ASSERT_EQ(write(ends[1], "\n", 1), 1);
    await_end();
  }
  close(ends[0]);
  close(ends[1]);
  EXPECT_EQ(GetCapturedStderr(),
            "ovnitrace: warning: --on-save: the command still runs, and is not started for run.2\n"
            "ovnitrace: warning: the --on-save command for run.1 failed: exit status 3\n"
            "ovnitrace: warning: the --on-save command for run.3 failed: exit status 3\n");
  EXPECT_EQ(text_of(dir / "log"), "run.1\nrun.3\n");
}

TEST(SaveCommand, SaysWhichSignalEndedIt) {
  CaptureStderr();
  {
    SaveCommand command("kill -KILL $$");
    command.start("run.7", "exit");
    await_end();
  }
  EXPECT_EQ(GetCapturedStderr(),
            "ovnitrace: warning: the --on-save command for run.7 failed: signal 9\n");
}

TEST(SaveCommand, IsNothingIfThereIsNone) {
  SaveCommand command("");
  command.start("run.1", "exit");
  EXPECT_FALSE(has_children());
}

} // namespace
} // namespace ovnitrace
