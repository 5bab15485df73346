// SPDX-License-Identifier: BSD-2-Clause
// What these tests stand on: no program outlives its test.
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
  // Gone, or dead and not yet reaped by who adopted it.
  const std::string environ = "/proc/" + pid + "/environ";
  EXPECT_TRUE(!exists(environ) ||
              read_text("/proc/" + pid + "/stat").find(") Z ") != std::string::npos);
}

} // namespace ovnitrace::test
