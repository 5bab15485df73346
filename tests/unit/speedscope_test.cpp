// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace export --to speedscope`: the JSON of speedscope's file format.
#include "emulator/off_cpu/speedscope.h"
#include "emulator/open/open_trace.h"
#include "emulator/slices/slicer.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace ovnitrace {
namespace {

using Json = nlohmann::json;

constexpr const char *kStacks = R"json({"format": "ovnitrace", "version": 1, "begin_ns": 1000,
  "machine": "x86_64", "options": {"stacks": "kernel,user"},
  "stack_files": [{"path": "/opt/a\"pp"}],
  "stack_frames": [{"kernel": true, "function": "schedule"},
                   {"file": 0, "function": "f;", "offset": 1, "source": "/src/a.c", "line": 7},
                   {"file": 0, "function": "f;", "offset": 2, "source": "/src/a.c", "line": 9},
                   {"file": 0, "offset": 3}],
  "stacks": [{"kernel": [0], "user": [1, 2, 3]}, {"user": [3]}]})json";

TEST(Speedscope, HasAProfileForEachThreadAndNameWithItsTimes) {
  test::TempDir dir;
  test::CollectingSink sink;
  test::TraceBuilder trace(dir.path());
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "\"\n").id(2, 12, 11, "worker");
  cpu.dispatch(1).at(1100).record(FTrace_EXT_stack, 1, 1).sleep(1, 12).dispatch(2);
  cpu.at(1200).record(FTrace_EXT_stack, 2, 2).sleep(2, 0).at(1230).activate(2, 0);
  cpu.at(1300).dispatch(2).at(1400).name(2, "idle").sleep(2, 0).at(1500).stop();
  trace.json(kStacks).write();
  const auto source = open_trace({{dir.path()}}, sink);
  const Stacks stacks(source->catalog(), sink);
  OffCpuTimes times(source->catalog(), stacks, {.per_thread = true});
  replay_slices(*source, {}, times);
  std::string text;
  EXPECT_EQ(write_speedscope(times, "run1", [&](std::string_view part) { text += part; }), 3u);

  const Json file = Json::parse(text);
  EXPECT_EQ(file["$schema"], "https://www.speedscope.app/file-format-schema.json");
  EXPECT_EQ(file["name"], "run1");
  EXPECT_EQ(file["shared"]["frames"], Json::parse(R"([{"name": "a\"pp+0x3", "file": "/opt/a\"pp"},
                            {"name": "f;", "file": "/src/a.c"}, {"name": "schedule_[k]"},
                            {"name": "[waiting for a CPU]"}, {"name": "[blocked]"}])"))
      << "a function is one frame, wherever it is called from";
  const auto profile = [](const char *name, uint64_t end, const char *samples,
                          const char *weights) {
    return Json{{"type", "sampled"},
                {"name", name},
                {"unit", "nanoseconds"},
                {"startValue", 0},
                {"endValue", end},
                {"samples", Json::parse(samples)},
                {"weights", Json::parse(weights)}};
  };
  EXPECT_EQ(file["profiles"],
            (Json{profile("\"? (11) / \"? (11)", 400, "[[0, 1, 1, 2]]", "[400]"),
                  profile("\"? (11) / worker (12)", 100, "[[0], [3]]", "[30, 70]"),
                  profile("\"? (11) / idle (12)", 100, "[[4]]", "[100]")}));
}

} // namespace
} // namespace ovnitrace
