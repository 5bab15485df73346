// SPDX-License-Identifier: BSD-2-Clause
// Where debug data of a file is searched for.
#include "emulator/symbols/debug_places.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using Places = std::vector<std::string>;

TEST(DebugPlaces, AreThoseOfTheBuildIdThenOfTheLink) {
  EXPECT_EQ(debug_places("/opt/app/bin/app", "0a1b2c", "app.debug"),
            (Places{"/usr/lib/debug/.build-id/0a/1b2c.debug", "/opt/app/bin/app.debug",
                    "/opt/app/bin/.debug/app.debug", "/usr/lib/debug/opt/app/bin/app.debug"}));
  EXPECT_EQ(debug_places("/app", "", "app.debug"),
            (Places{"/app.debug", "/.debug/app.debug", "/usr/lib/debug/app.debug"}));
}

TEST(DebugPlaces, AreOnlyThoseOfTheBuildIdWithoutALink) {
  EXPECT_EQ(debug_places("/bin/app", "0a1b2c", ""),
            (Places{"/usr/lib/debug/.build-id/0a/1b2c.debug"}));
}

TEST(DebugPlaces, AreNotWhereATextThatIsNoNamePoints) {
  EXPECT_EQ(debug_places("/bin/app", "../../../etc/shadow", "../x"), Places());
  EXPECT_EQ(debug_file_of("0a"), "");
  EXPECT_EQ(debug_file_of("0A1"), "");
  EXPECT_EQ(debug_file_of("0a1"), "/usr/lib/debug/.build-id/0a/1.debug");
  EXPECT_EQ(debug_file_of("0123456789abcdef"), "/usr/lib/debug/.build-id/01/23456789abcdef.debug");
  for (const char *none : {"0ag", "0a/", "0a:", "0a`", "a 1"})
    EXPECT_EQ(debug_file_of(none), "") << none;
  EXPECT_NE(debug_file_of(std::string(128, 'f')), "");
  EXPECT_EQ(debug_file_of(std::string(129, 'f')), "");
}

} // namespace
} // namespace ovnitrace
