// SPDX-License-Identifier: BSD-2-Clause
// Texts, files and users at their limits: emulator/base.
#include "emulator/base/bounded_json.h"
#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "emulator/base/identity.h"
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
  EXPECT_EQ(why, "has more than 3 values");
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

// RFC 3629: the first and the last character of each length, and what is next to them.
TEST(Printable, EveryByteThatIsNoUtf8IsAQuestionMark) {
  for (const char *text : {"\xc2\xa0", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
                           "\xef\xbf\xbd", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_EQ(printable_line(text), text);
  for (const std::string text :
       {"\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\x80", "\xbf", "\xff", "\xc2", "\xe1\x80", "\xf1\x80\x80"})
    EXPECT_EQ(printable_line(text), std::string(text.size(), '?'));
  EXPECT_EQ(printable_line("\xe1\x80z"), "??z") << "a cut character takes nothing with it";
  EXPECT_EQ(printable_line("\xf1\x80\x80\xc3\xa4"), "???\xc3\xa4");
  EXPECT_EQ(printable_line("\xc3z"), "?z");
}

TEST(Human, WritesSizes) {
  EXPECT_EQ(human_bytes(0), "0 kB");
  EXPECT_EQ(human_bytes(499), "0 kB");
  EXPECT_EQ(human_bytes(500), "1 kB");
  EXPECT_EQ(human_bytes(99'999), "100 kB");
  EXPECT_EQ(human_bytes(100'000), "0.1 MB");
  EXPECT_EQ(human_bytes(149'999), "0.1 MB");
  EXPECT_EQ(human_bytes(150'000), "0.2 MB");
  EXPECT_EQ(human_bytes(9'949'999), "9.9 MB");
  EXPECT_EQ(human_bytes(9'950'000), "10 MB");
  EXPECT_EQ(human_bytes(12'490'000'000), "12,490 MB");
  EXPECT_EQ(human_count(1, "event", "events"), "1 event");
  EXPECT_EQ(human_count(2000, "event", "events"), "2,000 events");
  EXPECT_EQ(human_count(0, "event", "events"), "0 events");
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
TEST(Identity, SudosCallerIsTheUserAndGroup) {
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

// As in a container, where the user database lacks the user of the machine.
TEST(Identity, SudosCallerMayBeInNoUserDatabase) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root is under sudo";
  setenv("SUDO_UID", "4294967290", 1);
  setenv("SUDO_GID", "4294967289", 1);
  const Identity identity = calling_user();
  unsetenv("SUDO_UID");
  unsetenv("SUDO_GID");
  EXPECT_EQ(identity.uid, 4294967290);
  EXPECT_EQ(identity.gid, 4294967289);
  EXPECT_EQ(identity.groups, std::vector<gid_t>{4294967289});
  EXPECT_EQ(identity.name + identity.home, "");
  EXPECT_TRUE(identity.change);
}

// A wrong variable must not make anybody root.
TEST(Identity, SudoMustSetBothIds) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root is under sudo";
  const auto error = [](const char *uid, const char *gid) {
    setenv("SUDO_UID", uid, 1);
    setenv("SUDO_GID", gid, 1);
    std::string what;
    try {
      calling_user();
    } catch (const Error &error) {
      what = error.what();
    }
    unsetenv("SUDO_UID");
    unsetenv("SUDO_GID");
    return what.substr(0, what.find(" is not a user or group id: "));
  };
  EXPECT_EQ(error("1000", "1000"), "");
  EXPECT_EQ(error("4294967294", "0"), "");
  for (const std::string bad : {"", "x", "1x", "-1", " 1", "4294967295", "4294967296"}) {
    EXPECT_EQ(error(bad.c_str(), "1000"), "SUDO_UID=" + bad);
    EXPECT_EQ(error("1000", bad.c_str()), "SUDO_GID=" + bad);
  }
}

TEST(Identity, TheProcessIsTheUserWithoutSudo) {
  const Identity identity = calling_user();
  EXPECT_EQ(identity.uid, geteuid());
  EXPECT_EQ(identity.gid, getegid());
  EXPECT_FALSE(identity.change);
}

TEST(Identity, AUserIsNamedByNameOrNumber) {
  const passwd *user = getpwuid(geteuid());
  if (!user)
    GTEST_SKIP() << "this user is in no database";
  const std::string name = user->pw_name;
  for (const std::string &text : {name, std::to_string(geteuid())}) {
    const Identity identity = user_named(text);
    EXPECT_EQ(identity.uid, geteuid());
    EXPECT_EQ(identity.name, name);
    EXPECT_FALSE(identity.change);
  }
  EXPECT_THROW(user_named("no such user"), Error);
  EXPECT_THROW(user_named("4294967290"), Error);
}

} // namespace
} // namespace ovnitrace
