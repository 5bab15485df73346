// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/prv/row.h"

#include <gtest/gtest.h>
#include <map>
#include <sstream>

namespace ovnitrace {
namespace {

TEST(Row, HasEachLevelWithItsNames) {
  EXPECT_EQ(row_text({{"CPU 0", "CPU 1"}, {"host"}, {"app"}, {"app (10)", "app (11)"}}),
            "LEVEL CPU SIZE 2\nCPU 0\nCPU 1\n\n"
            "LEVEL NODE SIZE 1\nhost\n\n"
            "LEVEL THREAD SIZE 2\napp (10)\napp (11)\n\n"
            "LEVEL TASK SIZE 1\napp\n\n");
}

TEST(Row, LeavesEmptyLevelsOut) {
  EXPECT_EQ(row_text({{}, {}, {}, {"CPU 0"}}), "LEVEL THREAD SIZE 1\nCPU 0\n\n");
  EXPECT_EQ(row_text({}), "");
}

// exactly n lines, as a wrong n eats the next header (docs/format.md), whatever threads are
// called.
TEST(Row, CountsAreExactForHostileNames) {
  RowNames names;
  names.tasks = {"", "\n", "LEVEL THREAD SIZE 5"};
  names.threads = {"a\nb", "\r\n\r\n", "  ", "# no comment"};
  std::istringstream in(row_text(names));
  std::map<std::string, std::vector<std::string>> levels;
  for (std::string word, level, line; in >> word >> level >> word;) {
    size_t count;
    in >> count;
    std::getline(in, line);
    for (size_t i = 0; i < count; i++) {
      std::getline(in, line);
      levels[level].push_back(line);
    }
    std::getline(in, line);
    EXPECT_EQ(line, "") << "after level " << level;
  }
  EXPECT_EQ(levels["TASK"], (std::vector<std::string>{"TASK 1", "?", "LEVEL THREAD SIZE 5"}));
  EXPECT_EQ(levels["THREAD"],
            (std::vector<std::string>{"a?b", "????", "THREAD 3", "# no comment"}));
}

} // namespace
} // namespace ovnitrace
