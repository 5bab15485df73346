// SPDX-License-Identifier: BSD-2-Clause
// A trace that is read several times: what is reported once, and where a time of day is in it.
#include "emulator/cli/cut_options.h"
#include "emulator/cli/trace_inputs.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace ovnitrace {
namespace {

using Texts = std::vector<std::string>;

TEST(Reopener, ReportsInALaterPassOnlyWhatIsMore) {
  std::vector<Diagnostic> found;
  test::CollectingSink sink;
  const auto open = reopener(
      [&](DiagnosticSink &faults) -> std::unique_ptr<EventSource> {
        for (const Diagnostic &one : found)
          faults.report(one);
        return nullptr;
      },
      sink);
  const auto reported = [&] {
    sink.reported.clear();
    open();
    Texts texts;
    for (const Diagnostic &one : sink.reported)
      texts.push_back(one.what);
    return texts;
  };
  const Diagnostic harmless = {.file = "f", .what = "harmless", .harmless = true},
                   first = {.file = "f", .what = "first"},
                   three = {.file = "f", .what = "three", .more = 2},
                   last = {.file = "f", .what = "last"};
  found = {harmless, first, three};
  EXPECT_EQ(reported(), (Texts{"harmless", "first", "three"}));
  EXPECT_EQ(reported(), Texts());
  found = {first};
  EXPECT_EQ(reported(), Texts()) << "a pass can end early";
  found = {harmless, first, three, last};
  EXPECT_EQ(reported(), Texts{"last"});
}

/// The trace begins 5 s after its machine was booted.
TEST(CutOf, ATimeOfTheClockIsFromTheStartOfTheTrace) {
  constexpr uint64_t kSecond = 1'000'000'000;
  const test::TempDir dir;
  test::TraceBuilder trace(dir.path());
  trace.cpu(0).at(5 * kSecond).start().id(1, 11, 11, "a").dispatch(1).at(9 * kSecond).stop();
  trace.json(R"({"version": 1, "clock": {"to_wall_ns": 1700000000000000000}})").write();
  CutArguments arguments;
  ASSERT_TRUE(parse_trace_time("@1700000006.5", arguments.from));
  ASSERT_TRUE(parse_trace_time("@1700000008", arguments.to));
  const Cut cut = cut_of(arguments, dir.path());
  EXPECT_EQ(cut.from, 1'500'000'000u);
  EXPECT_EQ(cut.to, 3 * kSecond);
}

/// Two traces of hosts "node1.cluster" and "node2", and a table of clock offsets.
class ClockOffsetTables : public testing::Test {
protected:
  ClockOffsetTables() {
    for (const char *host : {"node1.cluster", "node2"}) {
      std::filesystem::create_directory(dir / host);
      test::TraceBuilder trace(dir / host);
      trace.json(R"({"version": 1, "host": ")" + std::string(host) + "\"}");
      trace.cpu(0).at(100).start().at(200).stop();
      trace.write();
    }
  }
  std::string table(const std::string &lines) const {
    const std::string file = dir / "clock-offsets.txt";
    std::ofstream(file)
        << "rank       hostname             offset_median        offset_mean         "
           " offset_std\n"
        << lines;
    return file;
  }
  const test::TempDir dir;
};

TEST_F(ClockOffsetTables, HaveAHostByItsWholeOrItsShortName) {
  const std::vector<TraceInput> inputs =
      trace_inputs({dir / "node1.cluster", dir / "node2"},
                   table("0 node1 -50.0 -50.0 0.0\n1 node2 70.0 70.0 0.0\n"));
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].path, dir / "node1.cluster");
  EXPECT_EQ(inputs[0].clock_offset_ns, -50);
  EXPECT_EQ(inputs[1].clock_offset_ns, 70);
  EXPECT_EQ(trace_inputs({dir / "node1.cluster"},
                         table("0 node1.cluster 30.0 30.0 0.0\n1 node1 20.0 20.0 0.0\n"))[0]
                .clock_offset_ns,
            30);
  EXPECT_EQ(trace_inputs({dir / "node2"})[0].clock_offset_ns, 0);
}

TEST_F(ClockOffsetTables, ThatCannotBeUsedAreRefused) {
  const std::string file = table("0 node1 -50.0 -50.0 0.0\n");
  EXPECT_EQ(test::failure_from([&] { trace_inputs({dir / "node2"}, file); }),
            "the clock offsets " + file + " lack the host 'node2' of " + dir / "node2");
  EXPECT_EQ(test::failure_from([&] { trace_inputs({dir / "node2"}, dir / "none"); }),
            "cannot read the clock offsets " + dir / "none" +
                ": cannot be opened: No such file or directory");
  EXPECT_EQ(test::usage_error_from([&] { trace_inputs({dir / "none"}, file); }),
            "--clock-offsets is only for trace directories of ovnitrace; an ovni trace has a "
            "clock-offsets.txt of its own: " +
                dir / "none");
  std::ofstream(file, std::ios::app) << std::string((1 << 20) - 170, ' ');
  EXPECT_EQ(test::failure_from([&] {
              trace_inputs({dir / "node2"}, file);
            }).find("the clock offsets " + file + " lack the host"),
            0u)
      << "less than 1 MiB";
  std::ofstream(file, std::ios::app) << std::string(200, ' ');
  EXPECT_EQ(test::failure_from([&] { trace_inputs({dir / "node2"}, file); }),
            "cannot read the clock offsets " + file +
                ": is no regular file of at most 1048576 bytes");
}

TEST_F(ClockOffsetTables, WithoutATimeOfDayThereIsNoTimeOfTheClock) {
  CutArguments arguments;
  ASSERT_TRUE(parse_trace_time("12:00", arguments.from));
  EXPECT_EQ(test::usage_error_from([&] { cut_of(arguments, dir / "node2"); }),
            dir / "node2" +
                " does not say when it was recorded: give a time from its start, as 1.5s");
}

} // namespace
} // namespace ovnitrace
