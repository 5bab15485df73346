// SPDX-License-Identifier: BSD-2-Clause
// The stacks of trace.json as a capture writes them: user/record/stacks_json.
#include "user/record/stacks_json.h"
#include "user/record/trace_json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace ovnitrace {
namespace {

using nlohmann::json;

/// Frames and files that no stack uses are between those that are used.
NamedStacks named() {
  NamedStacks stacks;
  CapturedStacks &captured = stacks.captured;
  captured.files = {{"/unused", 1}, {"/opt/app", 2}, {"[ext4]", 3}};
  stacks.build_ids = {"00", "ab12", ""};
  captured.frames = {{CapturedFrame::file, 0, 9},       {CapturedFrame::kernel, 0, 100},
                     {CapturedFrame::file, 1, 200},     {CapturedFrame::process, 77, 300},
                     {CapturedFrame::unknown, 78, 400}, {CapturedFrame::missing, 0, 0}};
  stacks.frames.resize(6);
  stacks.frames[5].places = {{"[frames missing]", "", 0}};
  stacks.missing = 5;
  stacks.frames[1].places = {{"ext4_read", "", 0}};
  stacks.frames[1].offset = 5;
  stacks.frames[1].module = 2;
  stacks.frames[2].places = {
      {"inner", "/src/a.h", 3}, {"middle", "", 0}, {"outer", "/src/a.c", 40}};
  stacks.frames[2].address = 4200;
  stacks.frames[2].offset = 200;
  stacks.frames[3].places = {{"jit", "", 0}};
  captured.places = {1, 2, 3, 4, 2};
  captured.stacks = {{.first = 0, .kernel = 1, .user = 2, .taken = 10, .gap = true},
                     {.first = 3, .kernel = 0, .user = 1, .taken = 200},
                     {.first = 4, .kernel = 1, .user = 0, .taken = 3000}};
  stacks.cut = {false, true, false};
  return stacks;
}

TEST(StacksJson, HasEachFrameAndFileOnceInTheOrderOfTheirUse) {
  std::string text = "{\"first\": 1";
  write_stacks(named(), [&](std::string_view piece) { text += piece; });
  const json found = json::parse(text + "}");
  EXPECT_EQ(found["stacks"], json::parse(R"([{"kernel": [0], "user": [1, 2]},
                                             {"user": [3, 4], "cut": true}, {"kernel": [1]}])"));
  EXPECT_EQ(found["stack_frames"], json::parse(R"([
    {"kernel": true, "offset": 5, "file": 0, "function": "ext4_read"},
    {"file": 1, "offset": 200, "address": 4200, "function": "outer", "source": "/src/a.c",
     "line": 40, "inlined": [{"function": "inner", "source": "/src/a.h", "line": 3},
                             {"function": "middle"}]},
    {"pid": 77, "address": 300, "function": "jit"}, {"pid": 78, "address": 400},
    {"missing": true, "function": "[frames missing]"}])"));
  EXPECT_EQ(found["stack_files"], json::parse(R"([
    {"path": "[ext4]"}, {"path": "/opt/app", "build_id": "ab12"}])"));
}

TEST(StacksJson, AFrameOfAFileCanHaveNoAddressAndAKernelFrameNoModule) {
  NamedStacks stacks = named();
  stacks.frames[2].address.reset();
  stacks.frames[1].module.reset();
  std::string text = "{\"first\": 1";
  write_stacks(stacks, [&](std::string_view piece) { text += piece; });
  const json found = json::parse(text + "}");
  EXPECT_EQ(found["stack_frames"][0],
            json::parse(R"({"kernel": true, "offset": 5, "function": "ext4_read"})"));
  EXPECT_FALSE(found["stack_frames"][1].contains("address"));
  EXPECT_EQ(found["stack_frames"][1]["file"], 0);
  EXPECT_EQ(found["stack_files"], json::parse(R"([{"path": "/opt/app", "build_id": "ab12"}])"));
}

TEST(StacksJson, StacksAreCountedAsOftenAsTheyWereTaken) {
  TraceDescription trace;
  trace.stacks = std::make_shared<NamedStacks>(named());
  trace.stacks_lost = 6;
  trace.finished = true;
  std::string text;
  write_json(trace, nullptr, [&](std::string_view piece) { text += piece; });
  EXPECT_EQ(json::parse(text)["stacks_taken"], json::parse(R"({"all": 3210, "distinct": 3,
    "with_program": 210, "cut": 200, "gapped": 10, "lost": 6})"));
}

// What is cut is the program's part.
TEST(StacksJson, OnlyAProgramsPartEndsWithTheMissingFrames) {
  NamedStacks stacks = named();
  stacks.cut = {true, false, true};
  std::string text = "{\"first\": 1";
  write_stacks(stacks, [&](std::string_view piece) { text += piece; });
  const json found = json::parse(text + "}");
  EXPECT_EQ(found["stacks"], json::parse(R"([{"kernel": [0], "user": [1, 2, 3], "cut": true},
                                             {"user": [4]}, {"kernel": [1], "cut": true}])"));
}

} // namespace
} // namespace ovnitrace
