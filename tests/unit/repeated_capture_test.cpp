// SPDX-License-Identifier: BSD-2-Clause
// The words of a command line that --against gives: user/cli/repeated_capture.
#include "user/cli/repeated_capture.h"

#include "emulator/base/error.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace ovnitrace {
namespace {

using Words = std::vector<std::string>;

TEST(AgainstWords, AreThoseOfAShell) {
  EXPECT_EQ(words_of("app"), Words{"app"});
  EXPECT_EQ(words_of("  ./app --new  'a b' \"c d\" e\\ f "),
            (Words{"./app", "--new", "a b", "c d", "e f"}));
  setenv("OVNITRACE_TEST_WORD", "one two", 1);
  EXPECT_EQ(words_of("a $OVNITRACE_TEST_WORD \"$OVNITRACE_TEST_WORD\""),
            (Words{"a", "one", "two", "one two"}));
  unsetenv("OVNITRACE_TEST_WORD");
}

TEST(AgainstWords, ArePatternsOfFiles) {
  const test::TempDir dir;
  for (const char *name : {"b.txt", "a.txt", "c.bin"})
    std::ofstream(dir / name).put('x');
  EXPECT_EQ(words_of("cat " + (dir / "*.txt")), (Words{"cat", dir / "a.txt", dir / "b.txt"}));
}

TEST(AgainstWords, NothingThatOnlyAShellCanRunIsTaken) {
  for (const std::string command : {"", "  ", "a | b", "a; b", "a > b", "a & b", "a $(b)", "a `b`",
                                    "a 'b", "a $OVNITRACE_TEST_NOT_SET"}) {
    try {
      words_of(command);
      ADD_FAILURE() << command;
    } catch (const Error &error) {
      EXPECT_EQ(error.status(), kExitUsage);
      EXPECT_EQ(error.what(), "--against '" + command +
                                  "' is no plain command line: for pipes and the like, write 'sh "
                                  "-c \"…\"'");
    }
  }
}

} // namespace
} // namespace ovnitrace
