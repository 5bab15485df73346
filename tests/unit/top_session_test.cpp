// SPDX-License-Identifier: BSD-2-Clause
// How whole sessions of `ovnitrace top` end: user/cli/top_cli. They need root.
#include "tests/unit/support/recorded_session.h"
#include "tests/unit/support/waiting_program.h"

#include <filesystem>
#include <regex>

namespace ovnitrace {
namespace {

using test::Session;

/// Shows a process a thousand times. The scratch directory is in that of the session.
int show(uint32_t pid) {
  setenv("TMPDIR", ".", 1);
  return Session::command({"top", "--batch", "1000", "-i", "100ms", "-p", std::to_string(pid)}, {});
}

class TopSession : public test::SessionTest {
protected:
  test::WaitingProgram cat_{"/bin/cat"};
};

TEST_F(TopSession, SaysHowManyIntervalsItHasPrintedWhenTheProcessEnds) {
  Session session([&] { return show(cat_.pid()); });
  ASSERT_TRUE(session.await_printed("THREAD ")) << session.printed();
  cat_.end(SIGTERM);
  EXPECT_EQ(session.wait(), 0);
  EXPECT_TRUE(std::regex_search(
      session.printed(),
      std::regex("\novnitrace: the process ended: [0-9]+ of 1,000 intervals were printed\n$")))
      << session.printed();
}

TEST_F(TopSession, FailsIfItsScratchDirectoryIsRemoved) {
  namespace fs = std::filesystem;
  Session session([&] { return show(cat_.pid()); });
  ASSERT_TRUE(session.await_printed("THREAD ")) << session.printed();
  EXPECT_TRUE(session.await([&] {
    std::error_code gone;
    for (const auto &entry : fs::directory_iterator(session.path("."), gone))
      if (entry.path().filename().string().starts_with("ovnitrace-"))
        fs::remove_all(entry.path(), gone);
    return session.ended();
  }));
  EXPECT_EQ(session.wait(), 1);
  EXPECT_EQ(session.count_printed("ovnitrace: cannot "), 1u) << session.printed();
}

} // namespace
} // namespace ovnitrace
