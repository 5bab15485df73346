// SPDX-License-Identifier: BSD-2-Clause
// Words, numbers and errors that many commands share: emulator/base.
#include "emulator/base/bounded_json.h"
#include "emulator/base/edit_distance.h"
#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "emulator/base/identity.h"
#include "emulator/base/living_processes.h"
#include "emulator/base/messages.h"
#include "emulator/base/palette.h"
#include "emulator/base/printable.h"
#include "emulator/base/short_line.h"
#include "emulator/base/small_file.h"
#include "emulator/base/to_number.h"
#include "emulator/base/trace_lock.h"
#include "emulator/base/unique_fd.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace {
namespace {

using test::TempDir;

TEST(ShellWord, IsQuotedUnlessItIsPlain) {
  const std::string plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+,-=";
  EXPECT_EQ(shell_word(plain), plain);
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("two words"), "'two words'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("=word"), "'=word'") << "a path to zsh";
  EXPECT_EQ(shell_word("word="), "word=");
  EXPECT_EQ(shell_word("a\nb\x1b\x1f c"), "'a?b?? c'");
  for (const char c : std::string("!\"#$&()*;<>?[\\]^`{|}~ "))
    EXPECT_EQ(shell_word(std::string(1, c)), "'" + std::string(1, c) + "'");
}

TEST(ToNumber, IsTheWholeTextInItsRange) {
  EXPECT_EQ(to_number<uint16_t>("65535"), 65535);
  EXPECT_EQ(to_number<uint16_t>("010"), 10);
  EXPECT_EQ(to_number<uint32_t>("ff", 16), 255u);
  EXPECT_EQ(to_number<int32_t>("-12"), -12);
  for (const char *wrong : {"65536", "", " 1", "1 ", "1x", "-1", "+1", "0x1"})
    EXPECT_EQ(to_number<uint16_t>(wrong), std::nullopt) << wrong;
}

TEST(HumanNames, AreANameOrANumber) {
  EXPECT_EQ(name_and_number("app", "thread", 12), "app (12)");
  EXPECT_EQ(name_and_number("", "thread", 12), "thread 12");
}

TEST(HumanCounts, HaveACommaBeforeEachThreeDigits) {
  EXPECT_EQ(human_count(999'999), "999,999");
  EXPECT_EQ(human_count(1'000'000), "1,000,000");
  EXPECT_EQ(human_count(UINT64_MAX), "18,446,744,073,709,551,615");
  EXPECT_EQ(human_duration(999'999), "1000.0 us");
  EXPECT_EQ(human_duration(1'000'000), "1.000 ms");
  EXPECT_EQ(human_duration(1'000'000'000), "1.000 s");
  EXPECT_EQ(human_duration(1), "1 ns");
  EXPECT_EQ(human_percent(1, 3), "33.3 %");
  EXPECT_EQ(human_percent(3, 1), "300.0 %");
  EXPECT_EQ(human_percent(0, 7), "0.0 %");
}

TEST(Css, ColoursHaveTwoDigitsEach) {
  EXPECT_EQ(css({1, 16, 255}), "#0110ff");
  EXPECT_EQ(css({}), "#000000");
}

TEST(Errors, HaveAStatus) {
  EXPECT_EQ(Error("text").status(), 1);
  EXPECT_EQ(Error("text", Error::Status{7}).status(), 7);
  EXPECT_STREQ(Error("{} of {}", 1, "two").what(), "1 of two");
  EXPECT_EQ(Error("{}", 1).status(), 1);
  EXPECT_EQ(UsageError("text").status(), 2);
  EXPECT_EQ(UsageError("{}", 1).status(), 2);
  EXPECT_STREQ(UsageError("{} {}", "a", 2).what(), "a 2");
  EXPECT_EQ(kExitIncomplete, 3);
  EXPECT_EQ(kExitEarlyOut, 124) << "timeout(1)'s";
}

// Another try could succeed.
TEST(Errors, OfTheMachineAreThoseForWantOfSomething) {
  for (const int error : {EIO, ENOMEM, EMFILE, ENFILE, ENOSPC, EINTR, EAGAIN})
    EXPECT_TRUE(is_machine_failure(error)) << error;
  for (const int error : {0, ENOENT, EACCES, EPERM, ELOOP, ENOTDIR, EISDIR, ENXIO, EROFS})
    EXPECT_FALSE(is_machine_failure(error)) << error;
}

TEST(Messages, EachLineIsPrintable) {
  const auto printed = [](auto print) {
    testing::internal::CaptureStderr();
    print();
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(printed([] { print_text("one\x1b\n\ntwo\t."); }), "ovnitrace: one?\n\ntwo .\n");
  EXPECT_EQ(printed([] { print_text(""); }), "ovnitrace: \n");
  EXPECT_EQ(printed([] { print("{} {}", 1, "two"); }), "ovnitrace: 1 two\n");
  set_program_name("other");
  EXPECT_EQ(printed([] { print_text("text"); }), "other: text\n");
  set_program_name("ovnitrace");
}

TEST(Messages, TheDebugLogIsOffAtFirst) {
  EXPECT_FALSE(has_debug_log());
  testing::internal::CaptureStderr();
  log_debug("{}", 1);
  set_debug_log(true);
  log_debug("{} of {}", 2, 3);
  set_debug_log(false);
  log_debug("{}", 4);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "ovnitrace: debug: 2 of 3\n");
}

TEST(SmallFiles, SayWhyTheyCannotBeOpened) {
  const TempDir dir;
  std::ofstream(dir / "file") << "12345";
  ASSERT_EQ(symlink("file", (dir / "link").c_str()), 0);
  ASSERT_EQ(mkfifo((dir / "fifo").c_str(), 0600), 0);
  std::string why;
  EXPECT_FALSE(open_small_file(dir / "none", 5, why));
  EXPECT_EQ(why, "cannot be opened: No such file or directory");
  EXPECT_FALSE(open_small_file(dir / "link", 5, why, Links::refuse));
  EXPECT_EQ(why, "cannot be opened: it is a symbolic link, which is not followed");
  EXPECT_TRUE(open_small_file(dir / "link", 5, why));
  EXPECT_FALSE(open_small_file(dir / "fifo", 5, why));
  EXPECT_EQ(why, "is no regular file of at most 5 bytes");
  EXPECT_FALSE(open_small_file(dir.path(), 1 << 20, why));
  EXPECT_EQ(why, "is no regular file of at most 1048576 bytes");
  const UniqueFd file = open_small_file(dir / "file", 5, why);
  ASSERT_TRUE(file);
  EXPECT_EQ(fcntl(file.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  char bytes[8] = "-------";
  EXPECT_EQ(read_whole(file.get(), 1, bytes, 3, "file"), 3u);
  EXPECT_STREQ(bytes, "234----");
  EXPECT_EQ(read_whole(file.get(), 3, bytes, 7, "file"), 2u) << "the file ends";
  try {
    read_whole(-1, 0, bytes, 1, "the path");
    ADD_FAILURE();
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "cannot read the path: Bad file descriptor");
  }
}

TEST(JsonMembers, HaveADefaultIfTheyAreOfAnotherKind) {
  const nlohmann::json json = nlohmann::json::parse(
      R"({"number": 5, "negative": -5, "text": "a\tb\u001b", "yes": true, "no": false,
          "array": [1, 2], "none": null})");
  EXPECT_EQ(number_of(json, "number"), 5u);
  for (const char *key : {"negative", "text", "yes", "none", "missing"})
    EXPECT_EQ(number_of(json, key), 0u) << key;
  EXPECT_EQ(text_of(json, "text"), "a b?");
  for (const char *key : {"number", "array", "none", "missing"})
    EXPECT_EQ(text_of(json, key), "") << key;
  for (const bool otherwise : {false, true}) {
    EXPECT_TRUE(flag_of(json, "yes", otherwise));
    EXPECT_FALSE(flag_of(json, "no", otherwise));
    for (const char *key : {"number", "text", "none", "missing"})
      EXPECT_EQ(flag_of(json, key, otherwise), otherwise) << key;
  }
  EXPECT_EQ(array_of(json, "array").size(), 2u);
  for (const char *key : {"number", "text", "none", "missing"}) {
    EXPECT_TRUE(array_of(json, key).is_array()) << key;
    EXPECT_EQ(array_of(json, key).size(), 0u) << key;
  }
}

TEST(JsonText, MayHaveCommentsAndItsErrorsAreOfOneLine) {
  nlohmann::json json;
  std::string why;
  EXPECT_TRUE(parse_json("/* none */ [1] // one", 10, json, why)) << why;
  EXPECT_EQ(json, nlohmann::json::parse("[1]"));
  EXPECT_FALSE(parse_json("{\"a\": 1, \"a\": 2}", 10, json, why));
  EXPECT_EQ(why, "has the member \"a\" twice");
  EXPECT_TRUE(parse_json("[{\"a\": 1}, {\"a\": {\"a\": 2}}]", 10, json, why)) << why;
  EXPECT_FALSE(parse_json("[1] 2", 10, json, why)) << "something follows";
  EXPECT_FALSE(parse_json("[\n\x1b", 10, json, why));
  EXPECT_EQ(why.find("is no JSON: "), 0u);
  EXPECT_EQ(why.find_first_of("\n\x1b"), why.npos) << why;
  EXPECT_TRUE(parse_json("-1.5e3", 1, json, why)) << why;
  EXPECT_EQ(json, -1500.0);
  EXPECT_TRUE(parse_json("[null, true, -7, 7, \"x\"]", 6, json, why)) << why;
  EXPECT_EQ(json, nlohmann::json::parse("[null, true, -7, 7, \"x\"]"));
}

TEST(LivingProcesses, AreNumbersAndHaveThisOne) {
  std::error_code error;
  const std::vector<uint32_t> pids = living_processes(error);
  EXPECT_FALSE(error);
  EXPECT_EQ(std::count(pids.begin(), pids.end(), uint32_t(getpid())), 1);
  EXPECT_EQ(std::count(pids.begin(), pids.end(), 0), 0);
}

TEST(TraceLock, IsForOne) {
  const TempDir dir;
  const auto opened = [&] { return UniqueFd(open(dir.path().c_str(), O_RDONLY | O_CLOEXEC)); };
  UniqueFd one = opened();
  EXPECT_TRUE(lock_trace(one.get()));
  EXPECT_TRUE(lock_trace(one.get())) << "it is ours";
  EXPECT_FALSE(lock_trace(opened().get()));
  one = UniqueFd();
  EXPECT_TRUE(lock_trace(opened().get()));
  EXPECT_TRUE(lock_trace(-1)) << "what cannot be locked is not held by others";
}

TEST(UniqueFds, CloseWhatTheyOwnOnce) {
  const auto is_open = [](int fd) { return fcntl(fd, F_GETFD) >= 0; };
  int first = -1, second = -1;
  {
    UniqueFd a(open("/dev/null", O_RDONLY | O_CLOEXEC)), b(open("/dev/null", O_RDONLY | O_CLOEXEC));
    first = a.get();
    second = b.get();
    UniqueFd moved(std::move(a));
    EXPECT_EQ(moved.get(), first);
    EXPECT_FALSE(a); // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(b.release(), second);
    EXPECT_FALSE(b);
    EXPECT_TRUE(is_open(first));
  }
  EXPECT_FALSE(is_open(first));
  EXPECT_TRUE(is_open(second)) << "it was released";
  close(second);
  EXPECT_FALSE(UniqueFd());
  EXPECT_TRUE(UniqueFd(0).release() == 0) << "0 is a file";
}

TEST(Wrapped, LinesAreFilledAndTheirStartsAreIndented) {
  EXPECT_EQ(wrapped("aa bb cc", 5, 0, 2), "aa bb\n  cc");
  EXPECT_EQ(wrapped("aa bb cc", 5, 1, 2), "aa\n  bb\n  cc") << "something is before it";
  EXPECT_EQ(wrapped("aa bb cc", 5, 0, 0), "aa bb\ncc");
  EXPECT_EQ(wrapped("toolong b", 5, 0, 1), "toolong\n b") << "a word is never cut";
  EXPECT_EQ(wrapped("日本 b", 6, 0, 0), "日本 b");
  EXPECT_EQ(wrapped("日本 b", 5, 0, 0), "日本\nb");
  EXPECT_EQ(wrapped("", 5, 0, 2), "");
}

TEST(EditDistance, CountsSwapsOfNeighboursOnceAndNoCase) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("ba", "AB"), 1u);
  EXPECT_EQ(edit_distance("abcd", "badc"), 2u);
  EXPECT_EQ(edit_distance("ca", "abc"), 3u) << "nothing goes between what was swapped";
  EXPECT_EQ(edit_distance("xab", "xba"), 1u);
}

TEST(Identity, AnIdentityThatChangesNothingIsNobodyElse) {
  const uid_t uid = geteuid();
  const gid_t gid = getegid();
  {
    const EffectiveIdentity same(calling_user());
    EXPECT_EQ(geteuid(), uid);
  }
  EXPECT_EQ(getegid(), gid);
  const char *home = getenv("HOME");
  const std::string before = home ? home : "";
  Identity other;
  other.name = "other";
  other.home = "/home/other";
  set_environment(other); // it is not to change
  EXPECT_EQ(getenv("HOME") ? getenv("HOME") : std::string(), before);
}

// A part of it is done as another user, whose variables a program gets.
TEST(Identity, RootActsAsAUserForATime) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root may";
  const auto test = [] {
    Identity user;
    user.uid = 12345;
    user.gid = 2345;
    user.groups = {2345, 77};
    user.name = "user";
    user.home = "/home/user";
    user.change = true;
    {
      const EffectiveIdentity as_user(user);
      gid_t groups[8] = {};
      const int count = getgroups(8, groups);
      if (geteuid() != 12345 || getegid() != 2345 || getuid() != 0 || count != 2 ||
          std::count(groups, groups + 2, gid_t(77)) != 1)
        _exit(1);
    }
    if (geteuid() != 0 || getegid() != 0)
      _exit(2);
    set_environment(user);
    for (const auto &[variable, value] :
         {std::pair("HOME", "/home/user"), {"USER", "user"}, {"LOGNAME", "user"}})
      if (std::string(getenv(variable)) != value)
        _exit(3);
    become(user);
    uid_t real, effective, saved;
    gid_t group;
    if (getresuid(&real, &effective, &saved) != 0 || real != 12345 || effective != 12345 ||
        saved != 12345)
      _exit(4);
    group = getegid();
    _exit(group == 2345 && getgid() == 2345 && !has_capability(0) && setuid(0) != 0 ? 0 : 5);
  };
  EXPECT_EXIT(test(), testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace ovnitrace
