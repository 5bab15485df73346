// SPDX-License-Identifier: BSD-2-Clause
// Checks a promise of these tests: no program outlives its test.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/strays.h"

namespace ovnitrace::test {

TEST(Strays, AreKilledWithWhateverTheyStarted) {
  std::string pid;
  {
    Process parent({.argv = {"sh", "-c", "sleep 1000 & echo $!; wait"}});
    ASSERT_TRUE(eventually([&] { return parent.out().ends_with("\n"); }, "the program runs"));
    pid = lines_of(parent.out()).at(0);
  } // killed, and its child is not
  ASSERT_TRUE(exists("/proc/" + pid));
  kill_strays();
  // The process is gone, or dead and not yet reaped by its new parent.
  const std::string environ = "/proc/" + pid + "/environ";
  EXPECT_TRUE(!exists(environ) ||
              read_text("/proc/" + pid + "/stat").find(") Z ") != std::string::npos);
}

} // namespace ovnitrace::test
