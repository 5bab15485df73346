// SPDX-License-Identifier: BSD-2-Clause
// Times of a trace on the command line: from its start, and by the clock.
#include "emulator/base/error.h"
#include "emulator/cli/cut_options.h"
#include "emulator/cli/trace_time.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace ovnitrace {
namespace {

constexpr int64_t kNs = 1'000'000'000;
/// 2025-03-30 12:00:00 UTC, a day on which summer starts in Madrid.
constexpr int64_t kNoon = 1'743'336'000 * kNs;

class TraceTimes : public ::testing::Test {
protected:
  void SetUp() override { zone("UTC0"); }
  void TearDown() override {
    unsetenv("TZ");
    tzset();
  }
  static void zone(const char *name) {
    setenv("TZ", name, 1);
    tzset();
  }
  /// ns from the start of a trace of a minute; the message where it is refused.
  static std::string of(const std::string &text, int64_t begin, const char *option = "--to",
                        int64_t length = 60) {
    TraceTime time;
    EXPECT_TRUE(parse_trace_time(text, time)) << text;
    try {
      return std::to_string(since_start(time, option, {begin, begin + length * kNs}));
    } catch (const Error &error) {
      EXPECT_EQ(error.status(), kExitFailure);
      return error.what();
    }
  }
};

TEST_F(TraceTimes, TimesFromTheStart) {
  EXPECT_EQ(of("1.5s", kNoon), "1500000000");
  EXPECT_EQ(of("2m", kNoon), "120000000000");
  EXPECT_EQ(of("0", kNoon), "0");
}

TEST_F(TraceTimes, SinceTheEpoch) {
  EXPECT_EQ(of("@1743336001", kNoon), "1000000000");
  EXPECT_EQ(of("@1743336000.5", kNoon), "500000000");
  EXPECT_EQ(of("@1743336000.000000001", kNoon), "1");
}

TEST_F(TraceTimes, TimesOfDayAreInTheLocalZone) {
  EXPECT_EQ(of("12:00:07.5", kNoon), "7500000000");
  EXPECT_EQ(of("12:01", kNoon), "60000000000");
  zone("CET-1CEST,M3.5.0,M10.5.0/3");
  EXPECT_EQ(of("14:00:07.5", kNoon), "7500000000");
}

TEST_F(TraceTimes, AfterMidnightIsTheNextDay) {
  const int64_t late = kNoon + 43'170 * kNs; // 23:59:30
  EXPECT_EQ(of("23:59:40", late), "10000000000");
  EXPECT_EQ(of("00:00:10", late), "40000000000");
}

TEST_F(TraceTimes, BeforeTheTraceIsItsStartOrAnError) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(of("11:59", kNoon, "--from"), "0");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "ovnitrace: warning: --from 11:59 is before the trace, which is from 2025-03-30 "
            "12:00:00.000 to 2025-03-30 12:01:00.000\n");
  EXPECT_EQ(of("@1", kNoon, "--from"), "0");
  EXPECT_EQ(of("11:59", kNoon), "--to 11:59 is before the trace, which is from 2025-03-30 "
                                "12:00:00.000 to 2025-03-30 12:01:00.000");
}

TEST_F(TraceTimes, AreNothingElse) {
  for (const char *text :
       {"", "x", "24:00", "12:60", "12:00:60", "12", "12:", ":12", "12:00:", "1.5:00", "@", "@x",
        "@1.", "12:00:00.x", "-12:00", "12:00:00:00", "mark", "mark:"}) {
    TraceTime time;
    const bool is_time = parse_trace_time(text, time);
    EXPECT_EQ(is_time, std::string(text) == "12") << text; // seconds from the start
  }
}

TEST_F(TraceTimes, AMarkIsNamedByItsText) {
  test::TempDir dir;
  test::TraceBuilder trace(dir.path());
  trace.json(R"({"version": 1, "marks": [{"time_ns": 1200, "text": "go"},
                                         {"time_ns": 1300, "text": "at 5: end"},
                                         {"time_ns": 1400, "text": "go"},
                                         {"time_ns": 1500, "text": "a \"b\" \\ c"},
                                         {"time_ns": 1600, "text": "go-1"}]})");
  trace.cpu(0).at(1000).start().at(2000).stop();
  trace.write();
  CutArguments arguments;
  ASSERT_TRUE(parse_trace_time("mark:go", arguments.from));
  ASSERT_TRUE(parse_trace_time("mark:at 5: end", arguments.to));
  const Cut cut = cut_of(arguments, dir.path());
  EXPECT_EQ(cut.from, 200u) << "the first one";
  EXPECT_EQ(cut.to, 300u);
  ASSERT_TRUE(parse_trace_time(R"(mark:a "b" \ c)", arguments.to));
  EXPECT_EQ(cut_of(arguments, dir.path()).to, 500u) << "as it was typed";
  ASSERT_TRUE(parse_trace_time("mark:go-150ns", arguments.from));
  ASSERT_TRUE(parse_trace_time("mark:go-1+5ns", arguments.to));
  EXPECT_EQ(cut_of(arguments, dir.path()).from, 50u) << "before the mark";
  EXPECT_EQ(cut_of(arguments, dir.path()).to, 605u) << "after the mark with a sign in its text";
  ASSERT_TRUE(parse_trace_time("mark:go-1", arguments.to));
  EXPECT_EQ(cut_of(arguments, dir.path()).to, 600u) << "the text of a mark comes first";
  ASSERT_TRUE(parse_trace_time("mark:gone", arguments.to));
  try {
    cut_of(arguments, dir.path());
    ADD_FAILURE() << "there is no such mark";
  } catch (const Error &error) {
    EXPECT_EQ(error.what(), dir.path() + " has no mark 'gone': `ovnitrace info` lists its marks");
  }
}

TEST_F(TraceTimes, OfTheLastSecondOfTheTraceAndOfTheFarFuture) {
  const int64_t late = kNoon + 43'170 * kNs; // 23:59:30, for a minute
  EXPECT_EQ(of("00:00:30", late), "60000000000") << "the next day";
  EXPECT_EQ(of("00:00:31", late), "--to 00:00:31 is before the trace, which is from 2025-03-30 "
                                  "23:59:30.000 to 2025-03-31 00:00:30.000");
  EXPECT_EQ(of("23:59:30", late), "0");
  EXPECT_EQ(of("23:59:59.999999999", late), "29999999999");
  EXPECT_EQ(of("@9000000000", 9'000'000'000 * kNs), "0");
  TraceTime time;
  EXPECT_FALSE(parse_trace_time("@9000000001", time));
  EXPECT_FALSE(parse_trace_time("1.5:00:00", time));
}

TEST_F(TraceTimes, OfAMarkAreNotBeforeTheClockStarted) {
  Catalog catalog;
  catalog.hosts.resize(2);
  catalog.hosts[0].marks = {{1200, "go"}};
  catalog.hosts[1].marks = {{1300, "stop"}, {1400, "go"}};
  EXPECT_EQ(mark_time(catalog, "stop", "run1"), 1300u);
  EXPECT_EQ(mark_time(catalog, "go", "run1"), 1200u);
  EXPECT_EQ(mark_time(catalog, "go-1200ns", "run1"), 0u);
  EXPECT_EQ(mark_time(catalog, "go-1201ns", "run1"), 0u);
  EXPECT_EQ(mark_time(catalog, "go+1us", "run1"), 2200u);
}

} // namespace
} // namespace ovnitrace
