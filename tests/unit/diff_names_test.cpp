// SPDX-License-Identifier: BSD-2-Clause
// Which names of threads mean the same in two runs of `ovnitrace diff`.
#include "emulator/base/error.h"
#include "emulator/diff/names.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

TEST(DiffNames, EachRowOfDigitsIsOneStar) {
  EXPECT_EQ(fold_digits("worker-12:3"), "worker-*:*");
  EXPECT_EQ(fold_digits("90a09b"), "*a*b");
  EXPECT_EQ(fold_digits("7"), "*");
  EXPECT_EQ(fold_digits("a/:"), "a/:") << "the neighbours of 0 and 9";
  EXPECT_EQ(fold_digits("a*1"), "a*");
  EXPECT_EQ(fold_digits("a1*"), "a**");
  EXPECT_EQ(fold_digits("a\x1b"
                        "1"),
            "a?*");
  EXPECT_EQ(fold_digits(""), "");
}

TEST(DiffNames, ARenameIsTwoNames) {
  EXPECT_EQ(parse_rename("job-1=worker-2"),
            std::pair(std::string("job-*"), std::string("worker-*")));
  EXPECT_EQ(parse_rename("a=b=c").second, "b=c");
  for (const char *wrong : {"a", "=b", "a=", "=", ""})
    try {
      parse_rename(wrong);
      ADD_FAILURE() << wrong;
    } catch (const UsageError &error) {
      EXPECT_EQ(std::string(error.what()),
                std::string("--match takes OLD=NEW, two names of threads or processes, not '") +
                    wrong + "'");
    }
}

TEST(DiffNames, ANameIsWholeUntilAnotherOneFoldsToIt) {
  Names names;
  EXPECT_EQ(names.fold("worker-1", {}), "worker-*");
  EXPECT_EQ(names.fold("worker-1", {}), "worker-*");
  EXPECT_EQ(names.text("worker-*"), "worker-1");
  names.fold("worker-2", {});
  names.fold("worker-1", {});
  EXPECT_EQ(names.text("worker-*"), "worker-*");
  EXPECT_EQ(names.text("never seen"), "never seen");
  EXPECT_EQ(names.text(names.fold("", {})), "threads without a name");
}

TEST(DiffNames, ARenamedThreadHasItsNewName) {
  Names names;
  const Renames renames = {{"x", "y"}, {"job-*", "worker-*"}, {"job-*", "never"}};
  EXPECT_EQ(names.fold("job-7", renames), "worker-*");
  EXPECT_EQ(names.text("worker-*"), "worker-*");
  EXPECT_EQ(names.text("job-*"), "job-*") << "nobody has it";
  EXPECT_EQ(names.fold("job-x", renames), "job-x");
  names.fold("worker-1", {});
  EXPECT_EQ(names.text("worker-*"), "worker-*") << "the other one was job-7";
}

TEST(DiffNames, AGroupNamesItsProcessOnlyIfSeveralHaveSuchThreads) {
  Names names;
  const std::string io = names.group("app", "io", {});
  EXPECT_EQ(names.group_text(io), "io");
  const std::string main = names.group("io", "io", {}), of_tool = names.group("tool", "io", {});
  EXPECT_EQ(names.group_text(io), "io of app");
  EXPECT_EQ(names.group_text(of_tool), "io of tool");
  EXPECT_EQ(names.group_text(main), "io") << "the process has that name";
  EXPECT_EQ(names.group_text("none\nsuch"), "such");
  EXPECT_EQ(Names::parts(of_tool), std::pair(std::string("tool"), std::string("io")));
}

} // namespace
} // namespace ovnitrace
