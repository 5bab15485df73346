// SPDX-License-Identifier: BSD-2-Clause
// A helper process has a name of its own, in the lists of processes, too.
#include "tests/unit/support/child_status.h"
#include "tests/unit/support/files.h"
#include "user/control/process_name.h"

#include <gtest/gtest.h>

#include <string>

namespace ovnitrace::control {
namespace {

// The arguments of a process have a room in memory that stays as large as it was.
TEST(CallProcess, AProcessHasItsNameAsItsArgumentsIfThereIsRoom) {
  const std::string before = test::text_of("/proc/self/cmdline");
  ASSERT_GT(before.size(), 8u);
  const auto named = [&](const std::string &name, const std::string &expected) {
    return test::status_of([&] {
      call_process(name);
      if (test::text_of("/proc/self/comm") != name.substr(0, 15) + "\n")
        return 1;
      return test::text_of("/proc/self/cmdline") == expected ? 0 : 2;
    });
  };
  EXPECT_EQ(named("ovt-one", "ovt-one" + std::string(before.size() - 7, '\0')), 0);
  const std::string longest(before.size() - 1, 'n');
  EXPECT_EQ(named(longest, longest + '\0'), 0);
  EXPECT_EQ(named(longest + 'n', before), 0) << "there is no room";
  EXPECT_EQ(test::text_of("/proc/self/cmdline"), before);
}

} // namespace
} // namespace ovnitrace::control
