// SPDX-License-Identifier: BSD-2-Clause
// A trace that is read several times: what is reported once, and where a time of day is in it.
#include "emulator/cli/cut_options.h"
#include "emulator/cli/trace_inputs.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

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

} // namespace
} // namespace ovnitrace
