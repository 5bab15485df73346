// SPDX-License-Identifier: BSD-2-Clause
// What `ovnitrace stat` says if its trace is damaged: user/cli/stat_cli. It needs root.
#include "tests/unit/support/recorded_session.h"

#include <sys/stat.h>

namespace ovnitrace {
namespace {

using test::Session;

class StatRun : public test::SessionTest {
protected:
  /// Runs `ovnitrace stat` on a program. The trace is in the directory tmp.
  static int stat(std::vector<std::string> options, const std::vector<std::string> &program) {
    mkdir("tmp", 0700);
    setenv("TMPDIR", "tmp", 1);
    options.insert(options.begin(), "stat");
    return Session::command(options, program);
  }
};

TEST_F(StatRun, WhatIsMissingIsSaidAfterTheSummary) {
  Session session([] {
    return stat({"--filter", "+signal", "--ring-size", "64K"}, test::signalling_shell());
  });
  ASSERT_NO_FATAL_FAILURE(session.signal_unread());
  EXPECT_EQ(session.wait(), 3);
  const std::string &printed = session.printed();
  const size_t summary = printed.find("preempted"),
               missing = printed.find("\novnitrace: warning: the trace is not complete: ");
  EXPECT_LT(summary, missing) << printed;
  EXPECT_NE(missing, printed.npos) << printed;
}

// The program removes the trace, so that there is no summary.
TEST_F(StatRun, WhatIsMissingIsSaidWithoutASummaryToo) {
  Session session([] {
    return stat({}, {"/bin/sh", "-c", "rm -r tmp/ovnitrace-*/trace; exit 3"});
  });
  EXPECT_EQ(session.wait(), 3) << "the status of the program";
  EXPECT_EQ(session.count_printed("/trace: No such file or directory\n"), 1u) << session.printed();
  EXPECT_EQ(session.count_printed("ovnitrace: warning: the trace is not complete: "), 1u)
      << session.printed();
}

} // namespace
} // namespace ovnitrace
