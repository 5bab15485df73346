// SPDX-License-Identifier: BSD-2-Clause
// The stacks of trace.json, good ones and broken ones.
#include "emulator/input/stacks.h"
#include "emulator/why/blocked_at.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/few_files.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace ovnitrace {
namespace {

class StackTables : public ::testing::Test {
protected:
  StackTable read(const std::string &members) {
    const std::string text = "{\"format\": \"ovnitrace\", \"version\": 1" + members + "}";
    test::TraceBuilder::write_file(dir.path() + "/trace.json", text.data(), text.size());
    return StackTable::read(dir.path(), sink);
  }
  static std::vector<std::string> names(const StackTable &table, uint32_t number) {
    std::vector<std::string> names;
    for (const uint32_t index : table.frames(number))
      names.push_back(table.name(index));
    return names;
  }

  test::TempDir dir;
  test::CollectingSink sink;
};
using FunctionNames = std::vector<std::string>;

TEST_F(StackTables, GiveFramesFromTheInnermostOutwardWithWhatIsInlined) {
  const StackTable table = read(R"json(,
    "stack_files": [{"path": "/usr/lib/libc.so.6", "build_id": "ab12"}, {"path": "/opt/app"}],
    "stack_frames": [
      {"kernel": true, "function": "schedule", "offset": 9},
      {"file": 0, "offset": 4660},
      {"file": 1, "offset": 16, "function": "main", "source": "/src/app.cpp", "line": 12,
       "inlined": [{"function": "wait()", "source": "/src/wait.h", "line": 3}, {"function": "go()"}]
},
      {"pid": 5, "address": 99}],
    "stacks": [{"kernel": [0], "user": [1, 2]}, {"user": [2, 3], "cut": true}])json");
  ASSERT_EQ(table.size(), 2u);
  EXPECT_EQ(names(table, 1),
            (FunctionNames{"schedule", "libc.so.6+0x1234", "wait()", "go()", "main"}));
  EXPECT_EQ(names(table, 2), (FunctionNames{"wait()", "go()", "main", "[unknown]"}));
  EXPECT_FALSE(table.is_cut(1));
  EXPECT_TRUE(table.is_cut(2));
  const auto frames = table.frames(1);
  EXPECT_TRUE(table.frame(frames[0]).kernel);
  EXPECT_FALSE(table.frame(frames[1]).kernel);
  EXPECT_EQ(table.place(frames[1]), "");
  EXPECT_EQ(table.place(frames[2]), "wait.h:3");
  EXPECT_TRUE(table.frame(frames[2]).inlined);
  EXPECT_EQ(table.place(frames[4]), "app.cpp:12");
  EXPECT_FALSE(table.frame(frames[4]).inlined);
  EXPECT_EQ(table.file(table.frame(frames[1]).file).build_id, "ab12");
  EXPECT_TRUE(sink.reported.empty());
}

TEST_F(StackTables, SayWhereFramesMayBeMissing) {
  const StackTable table = read(R"json(,
    "stack_frames": [{"function": "read"}, {"missing": true}, {"function": "main"}],
    "stacks": [{"user": [0, 1, 2]}, {"user": [0, 1], "cut": true}])json");
  EXPECT_EQ(names(table, 1), (FunctionNames{"read", "[frames missing]", "main"}));
  EXPECT_TRUE(table.frame(table.frames(1)[1]).missing);
  EXPECT_FALSE(table.frame(table.frames(1)[2]).missing);
  EXPECT_EQ(blocked_at(table, 1, 1), std::vector<std::string>{"read"})
      << "main need not have called it";
}

TEST_F(StackTables, KnowNothingOfNumbersThatTheyDoNotHave) {
  const StackTable table =
      read(R"json(, "stack_frames": [{"function": "f"}], "stacks": [{"user": [0]}])json");
  EXPECT_EQ(names(table, 1), FunctionNames{"f"});
  for (const uint32_t number : {0u, 2u, kNone}) {
    EXPECT_TRUE(table.frames(number).empty());
    EXPECT_FALSE(table.is_cut(number));
  }
}

TEST_F(StackTables, LeaveOutWhatIsNotAsItShouldBe) {
  const StackTable table = read(R"json(,
    "stack_files": [3, {"path": 4}],
    "stack_frames": [7, {"function": "\u001b[31mred\nline", "file": 9, "line": 99999999999},
                     {"file": 1, "line": -1, "inlined": [4, {"function": []}]}],
    "stacks": [5, {"kernel": 3, "user": [0, 1, 2, 3, -1, "x", 1e9]}, {"user": null}])json");
  ASSERT_EQ(table.size(), 3u);
  EXPECT_TRUE(table.frames(1).empty());
  EXPECT_EQ(names(table, 2), (FunctionNames{"?[31mred?line", "[unknown]", "[unknown]"}));
  EXPECT_EQ(table.frame(table.frames(2)[0]).line, 0u);
  EXPECT_TRUE(table.frames(3).empty());
}

TEST_F(StackTables, AreBoundedWhateverTheFileSays) {
  std::string inlined = "{}", stacks = "{\"user\":[0]}";
  for (int n = 0; n < 5000; n++)
    inlined += ",{}";
  for (int n = 0; n < 3000; n++)
    stacks += ",{\"user\":[0,0,0]}";
  const StackTable table =
      read(", \"stack_frames\": [{\"inlined\": [" + inlined + "]}], \"stacks\": [" + stacks + "]");
  ASSERT_EQ(table.size(), 3001u);
  size_t all = 0;
  for (uint32_t number = 1; number <= table.size(); number++)
    all += table.frames(number).size();
  EXPECT_EQ(table.frames(1).size(), 4096u);
  EXPECT_EQ(all, 8u << 20);
}

TEST_F(StackTables, AreEmptyWithoutStacksAndWithoutATraceJson) {
  EXPECT_TRUE(read("").empty());
  EXPECT_TRUE(sink.reported.empty());
  EXPECT_TRUE(StackTable::read(dir.path() + "/no such", sink).empty());
  ASSERT_EQ(sink.reported.size(), 1u);
  EXPECT_EQ(sink.reported[0].file, dir.path() + "/no such/trace.json");
  EXPECT_TRUE(sink.reported[0].what.ends_with("; stacks are left out")) << sink.reported[0].what;
  EXPECT_TRUE(sink.reported[0].harmless);
}

TEST_F(StackTables, AreEmptyIfTheTraceJsonIsNoObject) {
  test::TraceBuilder::write_file(dir.path() + "/trace.json", "[1]", 3);
  EXPECT_TRUE(StackTable::read(dir.path(), sink).empty());
  ASSERT_EQ(sink.reported.size(), 1u);
  EXPECT_EQ(sink.reported[0].what, "it is no JSON object; stacks are left out");
}

/// Each warning of the search would otherwise be there once for each frame.
TEST_F(StackTables, SearchEachFileOnceAndPassItsWarningsOn) {
  const auto test = [&] {
    test::limit_files(1); // trace.json can be read; the search needs more
    read(R"json(,
      "stack_files": [{"path": "/a", "build_id": "01"}, {"path": "/b", "build_id": "02"},
                      {"path": "/c"}],
      "stack_frames": [{"file": 0, "offset": 1}, {"file": 1, "offset": 2}, {"file": 2, "offset": 3},
                       {"file": 0, "offset": 4}, {"file": 1, "offset": 5}],
      "stacks": [{"user": [0, 1, 2, 3, 4]}])json");
    for (const Diagnostic &one : sink.reported)
      std::fprintf(stderr, "[%s] %s %d\n", one.file.c_str(), one.what.c_str(), one.harmless);
    std::exit(0);
  };
  EXPECT_EXIT(test(), testing::ExitedWithCode(0),
              "^\\[" + dir.path() +
                  "/trace.json\\] ovnitrace reads the symbols of no further files \\(2 left\\): "
                  "too many could not be read 1\n$");
}

} // namespace
} // namespace ovnitrace
