// SPDX-License-Identifier: BSD-2-Clause
// What `ovnitrace top --batch` prints of each interval, and when it ends: user/top/batch.
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"
#include "user/top/batch.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/eventfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <ctime>
#include <sstream>

namespace ovnitrace {
namespace {

constexpr uint64_t kMs = 1'000'000; // ns

/// A capture of 10 ms in which `one`, `two` and `three` run.
class Batch : public ::testing::Test {
protected:
  Batch() {
    test::TraceBuilder trace(dir_.path());
    auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "one").id(2, 20, 20, "two");
    cpu.id(3, 30, 30, "three").dispatch(1).at(5 * kMs).sleep(1, 20).dispatch(2).at(8 * kMs);
    cpu.sleep(2, 30).dispatch(3).at(10 * kMs).stop();
    trace.write();
  }
  /// What it prints of the interval.
  std::string printed(TopBatch &batch) {
    testing::internal::CaptureStdout();
    batch.take(dir_.path(), 0, 10 * kMs);
    return testing::internal::GetCapturedStdout();
  }
  static std::vector<std::string> firsts(const std::string &text) {
    std::vector<std::string> words;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      words.push_back(line.substr(0, line.find(' ')));
    return words;
  }

  test::TempDir dir_;
};

using Words = std::vector<std::string>;

TEST_F(Batch, AnIntervalEndsWithAnEmptyLine) {
  for (const size_t lines : {0, 3, 4}) {
    TopBatch batch({.columns = 80}, 1, lines, false);
    EXPECT_EQ(firsts(printed(batch)),
              (Words{"top", "3", "waited", "THREAD", "one", "two", "three", ""}))
        << lines;
  }
}

TEST_F(Batch, ATableMayBeCut) {
  TopBatch batch({.columns = 80}, 1, 2, false);
  const std::string text = printed(batch);
  EXPECT_EQ(firsts(text), (Words{"top", "3", "waited", "THREAD", "one", "two", "(1", ""}));
  EXPECT_TRUE(text.ends_with("\n(1 more: --top 0 prints all)\n\n")) << text;
}

TEST_F(Batch, JsonIsALineOfTheThreadsThatAreChosen) {
  TopBatch batch({.sort = "tid", .filter = "o", .columns = 80}, 1, 1, true);
  const std::string text = printed(batch);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const nlohmann::json json = nlohmann::json::parse(text);
  std::vector<uint32_t> tids;
  for (const nlohmann::json &thread : json["threads"])
    tids.push_back(thread["tid"]);
  std::sort(tids.begin(), tids.end());
  EXPECT_EQ(tids, (std::vector<uint32_t>{10, 20})) << "names with an o";
}

TEST_F(Batch, TheTitleHasTheTimeOfTheInterval) {
  test::TempDir dir;
  test::TraceBuilder trace(dir.path());
  tm clock{};
  clock.tm_hour = 14, clock.tm_min = 3, clock.tm_sec = 6, clock.tm_mday = 1, clock.tm_year = 100;
  const auto wall = uint64_t(mktime(&clock)) * 1'000'000'000;
  trace.json(R"({"version": 1, "clock": {"id": "CLOCK_MONOTONIC", "to_wall_ns": )" +
             std::to_string(wall) + "}}");
  trace.cpu(0).at(0).start().id(1, 10, 10, "one").dispatch(1).at(1000 * kMs).stop();
  trace.write();
  TopBatch text({.columns = 80}, 1, 0, false), json({.columns = 80}, 1, 0, true);
  testing::internal::CaptureStdout();
  text.take(dir.path(), 0, 1000 * kMs);
  json.take(dir.path(), 500 * kMs, 1000 * kMs);
  const std::string out = testing::internal::GetCapturedStdout();
  EXPECT_EQ(out.find("top  14:03:07  every 1.000 s  by thread  sorted by run\n"), 0u) << out;
  EXPECT_EQ(nlohmann::json::parse(out.substr(out.find('{')))["begin_wall_ns"], wall + 500 * kMs);
}

TEST_F(Batch, ItSaysWhatIsLeftUndone) {
  TopBatch batch({.columns = 80}, 2, 0, false);
  printed(batch);
  EXPECT_EQ(batch.unfinished(), "1 of 2 intervals were printed");
  printed(batch);
  EXPECT_EQ(batch.unfinished(), "");
}

TEST_F(Batch, ItEndsAfterItsIntervals) {
  const int never = eventfd(0, EFD_CLOEXEC);
  TopBatch batch({.columns = 80}, 2, 0, false);
  EXPECT_TRUE(batch.wait(0, never));
  printed(batch);
  EXPECT_TRUE(batch.wait(0, never));
  printed(batch);
  EXPECT_FALSE(batch.wait(UINT64_MAX, never)) << "at once";
  close(never);
}

TEST_F(Batch, ItWaitsUntilTheCaptureEnds) {
  const int ended = eventfd(1, EFD_CLOEXEC);
  TopBatch batch({.columns = 80}, 1, 0, false);
  EXPECT_TRUE(batch.wait(UINT64_MAX / 2, ended)) << "the rest is an interval, too";
  close(ended);
}

TEST_F(Batch, ItEndsWhenNobodyReads) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  std::fflush(stdout);
  const int before = dup(STDOUT_FILENO);
  dup2(ends[1], STDOUT_FILENO);
  close(ends[1]);
  const auto old = signal(SIGPIPE, SIG_IGN);
  TopBatch batch({.columns = 80}, 2, 0, false);
  batch.take(dir_.path(), 0, 10 * kMs);
  dup2(before, STDOUT_FILENO);
  close(before);
  signal(SIGPIPE, old);
  EXPECT_FALSE(batch.wait(UINT64_MAX / 2, -1));
  EXPECT_EQ(batch.unfinished(), "") << "nobody reads that either";
}

TEST_F(Batch, ManyIntervalsAreCountedInGroupsOfDigits) {
  TopBatch batch({.columns = 80}, 12'000, 0, false);
  EXPECT_EQ(batch.unfinished(), "0 of 12,000 intervals were printed");
}

} // namespace
} // namespace ovnitrace
