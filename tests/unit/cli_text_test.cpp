// SPDX-License-Identifier: BSD-2-Clause
// What options take, and what is printed on stderr: emulator/cli and user/cli.
#include "emulator/base/error.h"
#include "emulator/base/unique_fd.h"
#include "emulator/cli/progress_bar.h"
#include "emulator/cli/run.h"
#include "emulator/cli/time_option.h"
#include "emulator/cli/warnings.h"
#include "user/cli/number_option.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <new>
#include <regex>
#include <stdexcept>
#include <string>
#include <system_error>

namespace ovnitrace {
namespace {

TEST(TimeOption, IsANumberAndAUnit) {
  const std::pair<const char *, uint64_t> times[] = {
      {"0", 0},
      {"0ns", 0},
      {"1", 1'000'000'000},
      {"1.5s", 1'500'000'000},
      {"2ms", 2'000'000},
      {"0.001us", 1},
      {"3us", 3'000},
      {"7ns", 7},
      {"1m", 60'000'000'000},
      {"2min", 120'000'000'000},
      {"1h", 3'600'000'000'000},
  };
  for (const auto &[text, expected] : times) {
    uint64_t ns = 99;
    EXPECT_TRUE(parse_time(text, ns)) << text;
    EXPECT_EQ(ns, expected) << text;
  }
  for (const char *text : {"", "-1", "1d", "1 s", "s", "nan", "1e10", "9000000000"}) {
    uint64_t ns;
    EXPECT_FALSE(parse_time(text, ns)) << text;
  }
}

TEST(NumberOption, TakesItsLeastAndItsMost) {
  EXPECT_EQ(parse_number("--top", "3", 3, 5), 3u);
  EXPECT_EQ(parse_number("--top", "5", 3, 5), 5u);
  for (const char *text : {"2", "6", "", "4x", "-4", " 4"})
    EXPECT_THROW(parse_number("--top", text, 3, 5), Error) << text;
  EXPECT_EQ(long_name("-t,--top"), "--top");
}

/// What they print, of so many.
std::string printed(uint64_t limit, int count) {
  testing::internal::CaptureStderr();
  Warnings warnings(limit);
  for (int i = 0; i < count; i++)
    warnings.report({.file = "f", .offset = 16, .time = {}, .what = std::to_string(i)});
  warnings.finish();
  EXPECT_EQ(warnings.damage(), uint64_t(count));
  return testing::internal::GetCapturedStderr();
}

TEST(Warnings, ArePrintedUpToALimitAndCounted) {
  const std::string two = "ovnitrace: warning: f, byte 16: 0\novnitrace: warning: f, byte 16: 1\n";
  EXPECT_EQ(printed(2, 2), two);
  EXPECT_EQ(printed(2, 3), two + "ovnitrace: warning: and 1 more like these\n");
}

TEST(Warnings, OffsetsInACompressedFileSayWhichBytesTheyCount) {
  testing::internal::CaptureStderr();
  Warnings().report({.file = "cpu0000.ftr.zst", .offset = 16, .time = 5, .what = "why"});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "ovnitrace: warning: cpu0000.ftr.zst, byte 16 uncompressed, at 0.000000005s: why\n");
}

/// What a command is answered that throws.
std::string answer_to(const std::function<int()> &command) {
  const RootApp app("", "ovnitrace");
  app.callback(command);
  char name[] = "ovnitrace";
  char *argv[] = {name, nullptr};
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_cli(app, 1, argv), kExitFailure);
  return testing::internal::GetCapturedStderr();
}
std::string answer_to(std::errc error) {
  return answer_to([error]() -> int { throw std::system_error(std::make_error_code(error)); });
}

TEST(RunCli, SaysWhatToDoWhereAThreadCannotStart) {
  EXPECT_EQ(answer_to(std::errc::resource_unavailable_try_again),
            "ovnitrace: cannot start a thread: Resource temporarily unavailable; the user or the "
            "cgroup has reached its limit of processes and threads: raise it (`ulimit -u`, "
            "pids.max of the cgroup), or end some of them\n");
  EXPECT_EQ(answer_to(std::errc::io_error), "ovnitrace: Input/output error\n");
}

TEST(RunCli, SaysWhatElseACommandThrew) {
  EXPECT_EQ(answer_to([]() -> int { throw std::bad_alloc(); }), "ovnitrace: out of memory\n");
  EXPECT_EQ(answer_to([]() -> int { throw std::runtime_error("why"); }), "ovnitrace: why\n");
}

TEST(ProgressBar, IsFullWhenReadingEnds) {
  Catalog catalog;
  catalog.begin = 1000;
  catalog.end = 5000;
  EXPECT_EQ(part_read(catalog, UINT64_MAX, 500), 0);
  EXPECT_EQ(part_read(catalog, UINT64_MAX, 3000), 0.5);
  EXPECT_EQ(part_read(catalog, UINT64_MAX, 5000), 1);
  EXPECT_EQ(part_read(catalog, 2000, 3000), 1);
  EXPECT_EQ(part_read(catalog, 2000, 3001), 1);
  EXPECT_EQ(part_read(catalog, 0, 1000), 1);
  EXPECT_EQ(part_read(catalog, 9000, 3000), 0.5);
}

/// Standard error is a terminal.
class ProgressBarOnTerminal : public testing::Test {
protected:
  ProgressBarOnTerminal() {
    catalog.begin = 1000;
    catalog.end = 5000;
    grantpt(leader_.get());
    unlockpt(leader_.get());
    const UniqueFd terminal(open(ptsname(leader_.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    standard_error_ = UniqueFd(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
    dup2(terminal.get(), STDERR_FILENO);
  }
  ~ProgressBarOnTerminal() override { dup2(standard_error_.get(), STDERR_FILENO); }

  /// Returns what was written since the last call.
  std::string written() const {
    std::string text;
    EXPECT_EQ(write(STDERR_FILENO, "#", 1), 1);
    for (char one; read(leader_.get(), &one, 1) == 1 && one != '#';)
      text += one;
    return text;
  }
  /// Goes on with work until the bar is drawn. Returns the first line.
  template <class Work> std::string line_of(const Work &work) const {
    std::string text;
    while (text.empty()) {
      work();
      text = written();
    }
    return text.substr(0, text.find("\033[K"));
  }
  static bool matches(const std::string &line, const char *pattern) {
    return std::regex_match(line, std::regex(pattern));
  }
  Catalog catalog;

private:
  const UniqueFd leader_{posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
  UniqueFd standard_error_;
};

TEST_F(ProgressBarOnTerminal, IsForOneWhoWantsToSeeIt) {
  {
    const ProgressBar unseen(false);
    EXPECT_EQ(ReadWatcher::current, nullptr);
  }
  {
    const ProgressBar seen, second(false);
    EXPECT_EQ(ReadWatcher::current, &seen);
  }
  EXPECT_EQ(ReadWatcher::current, nullptr);
}

TEST_F(ProgressBarOnTerminal, IsNotDrawnForShortWork) {
  ProgressBar bar;
  for (int pass = 0; pass < 2; pass++) {
    bar.reads(catalog, 3000, 5);
    bar.ends();
    bar.walks(0.5);
    bar.ends();
  }
  EXPECT_EQ(written(), "");
}

/// The first line is drawn after 0.3 s.
TEST_F(ProgressBarOnTerminal, ShowsThePartAndTheEventsOfItsPass) {
  {
    ProgressBar bar(true, 2000); // ns from the start
    bar.reads(catalog, 1500, 1'500'000);
    EXPECT_PRED2(matches, line_of([&] { bar.reads(catalog, 2000, 0); }),
                 "\r\\[={15} {15}\\]  50 %  1\\.5 M events  [0-9.]+ M/s");
    bar.ends();
    EXPECT_TRUE(written().ends_with("\r\033[K"));
    bar.reads(catalog, 3000, 200'000);
    EXPECT_PRED2(matches, line_of([&] { bar.reads(catalog, 3000, 0); }),
                 "\r\\[={30}\\] 100 %  0\\.2 M events  [0-9.]+ M/s");
    bar.ends();
    written();
    EXPECT_EQ(line_of([&] { bar.walks(0.1); }),
              "\r[===                           ]  10 %  critical path");
  }
  EXPECT_TRUE(written().ends_with("\r\033[K")) << "it is removed";
}

} // namespace
} // namespace ovnitrace
