// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace report`: how many places of blocked threads a page has, and how long each is.
#include "emulator/input/stacks.h"
#include "emulator/open/open_trace.h"
#include "emulator/report/write_report.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/packed_page.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ovnitrace {
namespace {

/// Returns the header of a page on which a thread blocks in `read` once with each stack, then in
/// the first one again. A stack is a list of frames, which are called f0, f1, …
nlohmann::json header_of(const std::vector<std::vector<int>> &stacks, int frames) {
  const test::TempDir dir;
  test::TraceBuilder trace(dir.path());
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "a").dispatch(1);
  constexpr uint16_t kRead = FTRACE_CALL_NATIVE + 0;
  uint64_t time = 1000;
  const auto block = [&](size_t stack) {
    cpu.at(time += 10).record(FTrace_EXT_stack, 1, uint32_t(stack + 1));
    cpu.record(FTrace_EVT_task_sleep | FTRACE_CALL_CODE(kRead), 1,
               FTRACE_OFFCPU_SLEEP << FTRACE_REASON_SHIFT | FTRACE_CALL_PAR2(kRead));
    cpu.at(time += 10).activate(1, 0).dispatch(1);
  };
  nlohmann::json info = {{"format", "ovnitrace"},
                         {"version", 1},
                         {"begin_ns", 1000},
                         {"machine", "x86_64"},
                         {"options", {{"stacks", "user"}}}};
  for (int n = 0; n < frames; n++)
    info["stack_frames"].push_back({{"function", fmt::format("f{}", n)}});
  for (size_t n = 0; n < stacks.size(); n++) {
    info["stacks"].push_back({{"user", stacks[n]}});
    block(n);
  }
  block(0);
  cpu.at(time + 10).stop();
  trace.json(info.dump()).write();
  test::CollectingSink sink;
  const Stacks known(open_trace({{dir.path()}}, sink)->catalog(), sink);
  const std::string file = dir / "page.html";
  write_report(dir.path(), {}, [&] { return open_trace({{dir.path()}}, sink); },
               {.place = file, .stacks = &known});
  return test::PackedPage(test::text_of(file)).header;
}

TEST(ReportPlaces, BeyondFifteenHundredTheCallsAreShownAlone) {
  std::vector<std::vector<int>> stacks;
  for (int n = 0; n < 1502; n++)
    stacks.push_back({n});
  const nlohmann::json header = header_of(stacks, 1502);
  ASSERT_EQ(header["places"].size(), 1501u);
  EXPECT_EQ(header["places"][0], "f0");
  EXPECT_EQ(header["places"][1499], "f1499");
  EXPECT_EQ(header["places"][1500], "");
  EXPECT_EQ(header["calls"].size(), 1501u);
  EXPECT_EQ(header["calls"][1500], "read");
  EXPECT_EQ(header["places_left_out"], 2);
}

TEST(ReportPlaces, HaveTheSixteenInnermostFunctions) {
  std::vector<int> frames;
  std::string place = "f0";
  for (int n = 0; n < 18; n++)
    frames.push_back(n);
  for (int n = 1; n < 16; n++)
    place += fmt::format(" < f{}", n);
  const nlohmann::json header = header_of({frames}, 18);
  EXPECT_EQ(header["places"], nlohmann::json::array({place}));
  EXPECT_EQ(header.value("places_left_out", 0), 0);
}

} // namespace
} // namespace ovnitrace
