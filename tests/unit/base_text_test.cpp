// SPDX-License-Identifier: BSD-2-Clause
// Texts, files and users at their limits: emulator/base.
#include "emulator/base/human.h"
#include "emulator/base/identity.h"
#include "emulator/base/json_text.h"
#include "emulator/base/printable.h"
#include "emulator/base/small_file.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace ovnitrace {
namespace {

using test::TempDir;

TEST(JsonText, IsRefusedAboveTheLimitOnValues) {
  nlohmann::json json;
  std::string why;
  EXPECT_TRUE(parse_json("[1,2,3]", 4, json, why)) << why;
  EXPECT_FALSE(parse_json("[1,2,3]", 3, json, why));
  EXPECT_EQ(why, "holds more than 3 values");
}

TEST(JsonText, IsRefusedAboveTheLimitOnNesting) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  nlohmann::json json;
  std::string why;
  EXPECT_TRUE(parse_json(nested(kJsonDepthMax), 1000, json, why)) << why;
  EXPECT_FALSE(parse_json(nested(kJsonDepthMax + 1), 1000, json, why));
  EXPECT_EQ(why, "is nested deeper than " + std::to_string(kJsonDepthMax) + " levels");
}

TEST(SmallFile, IsReadUpToItsLimit) {
  TempDir dir;
  std::ofstream(dir / "file") << "12345";
  std::string error;
  EXPECT_EQ(read_small_file(dir / "file", 5, error), "12345");
  EXPECT_EQ(read_small_file(dir / "file", 4, error), std::nullopt);
  EXPECT_EQ(error, "is no regular file of at most 4 bytes");
}

// What a terminal may take for a command: the two blocks of control characters and DEL.
TEST(Printable, LeavesOutEveryControlCharacterAndNoOther) {
  for (unsigned c = 0; c < 0x100; c++) {
    std::string text;
    if (c < 0x80)
      text = std::string(1, char(c));
    else
      text = {char(0xc0 | c >> 6), char(0x80 | (c & 0x3f))};
    const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
    if (c == 0xad)
      EXPECT_EQ(printable_line(text), "?") << "a soft hyphen";
    else if (c == '\t')
      EXPECT_EQ(printable_line(text), " ");
    else if (control)
      EXPECT_EQ(printable_line(text), std::string(text.size(), '?')) << c;
    else
      EXPECT_EQ(printable_line(text), text) << c;
  }
}

// A name could show another name than it has, or a line that nobody wrote.
TEST(Printable, LeavesOutWhatIsNotSeenAndTurnsOrBreaksText) {
  for (const char *text : {"\u061c", "\u200b", "\u200f", "\u2028", "\u202a", "\u202e", "\u2060",
                           "\u2069", "\ufeff", "\ufffb", "\U000e0001", "\U000e007f"})
    EXPECT_EQ(printable_line(text), "?") << printable_line(text).size();
  for (const char *text : {"\u061b", "\u200a", "\u2010", "\u2027", "\u202f", "\u205f", "\u2070",
                           "\ufffc", "\U000e0100", "Überlauf…", "スレッド", "🧵"})
    EXPECT_EQ(printable_line(text), text);
}

TEST(Human, WritesDurationsCountsAndParts) {
  EXPECT_EQ(human_duration(0), "0");
  EXPECT_EQ(human_duration(999), "999 ns");
  EXPECT_EQ(human_duration(1000), "1.000 us");
  EXPECT_EQ(human_duration(9999), "9.999 us");
  EXPECT_EQ(human_duration(10000), "10.00 us"); // four digits from here on, too
  EXPECT_EQ(human_duration(100000), "100.0 us");
  EXPECT_EQ(human_duration(56789), "56.79 us");
  EXPECT_EQ(human_duration(123456789), "123.5 ms");
  EXPECT_EQ(human_duration(1234000000), "1.234 s");
  EXPECT_EQ(human_duration(98765000000000), "98765.0 s");
  EXPECT_EQ(human_count(0), "0");
  EXPECT_EQ(human_count(999), "999");
  EXPECT_EQ(human_count(1000), "1,000");
  EXPECT_EQ(human_count(1234567), "1,234,567");
  EXPECT_EQ(human_percent(1, 8), "12.5 %");
  EXPECT_EQ(human_percent(0, 0), "-");
}

// sudo says as which group, too, which need not be the user's first.
TEST(Identity, UnderSudoIsTheUserAndGroupThatCalledSudo) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root is under sudo";
  const passwd *user = getpwnam("nobody");
  if (!user)
    GTEST_SKIP() << "there is no user nobody";
  const uid_t uid = user->pw_uid;
  const gid_t other = user->pw_gid + 1;
  setenv("SUDO_UID", std::to_string(uid).c_str(), 1);
  setenv("SUDO_GID", std::to_string(other).c_str(), 1);
  const Identity identity = calling_user();
  unsetenv("SUDO_UID");
  unsetenv("SUDO_GID");
  EXPECT_EQ(identity.uid, uid);
  EXPECT_EQ(identity.gid, other);
  EXPECT_EQ(identity.name, "nobody");
  EXPECT_TRUE(identity.change);
}

} // namespace
} // namespace ovnitrace
