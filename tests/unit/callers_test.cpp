// SPDX-License-Identifier: BSD-2-Clause
// The functions from which threads left their CPUs, in Paraver: emulator/models/callers.
#include "emulator/open/open_trace.h"
#include "tests/support/convert_directory.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

namespace ovnitrace {
namespace {

using test::lines_of;

constexpr const char *kTrace = R"json({"format": "ovnitrace", "version": 1, "begin_ns": 1000,
  "options": {"stacks": "kernel,user"},
  "stack_frames": [{"kernel": true, "function": "schedule"},
    {"function": "a", "source": "/s/x.c", "line": 1}, {"function": "b", "source": "/s/x.c", "line": 2},
    {"function": "c", "source": "/s/x.c", "line": 3}, {"function": "d", "source": "/s/x.c", "line": 4},
    {"function": "e", "source": "/s/x.c", "line": 5}, {"function": "f", "source": "/s/x.c", "line": 6},
    {"function": "wait", "file": 0}, {"function": "lock", "file": 0}, {"missing": true}],
  "stack_files": [{"path": "/usr/lib/libc.so.6"}],
  "stacks": [{"kernel": [0], "user": [7, 8, 1, 2, 3, 4, 5, 6]}, {"user": [6]},
    {"kernel": [0], "user": [7, 8]}, {"user": [7, 9, 1, 2, 3, 4]}, {"kernel": [0, 0]}]})json";

class Callers : public ::testing::Test {
protected:
  Callers() {
    test::TraceBuilder trace(dir_.path());
    auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "a").dispatch(1);
    cpu.at(1100).record(FTrace_EXT_stack, 1, 1).sleep(1, 0).at(1200).activate(1, 0);
    cpu.at(1250).dispatch(1).at(1300).record(FTrace_EXT_stack, 1, 2).sleep(1, 0);
    cpu.at(1400).dispatch(1).at(1500).record(FTrace_EXT_stack, 1, 3).sleep(1, 0);
    cpu.at(1600).dispatch(1).at(1700).record(FTrace_EXT_stack, 1, 4).sleep(1, 0);
    cpu.at(1800).dispatch(1).at(1900).record(FTrace_EXT_stack, 1, 5).sleep(1, 0);
    // Neither is a stack of this trace, nor one of this thread.
    cpu.at(2000).dispatch(1).at(2100).record(FTrace_EXT_stack, 1, 6).sleep(1, 0);
    cpu.at(2200).record(FTrace_EXT_stack, 1, 0).record(FTrace_EXT_waker_stack, 1, 1);
    cpu.at(2300).dispatch(1).at(2400).stop();
    trace.json(kTrace).write();
    convert_directory(dir_.path(), {}, sink_);
  }
  /// "100=e 200=": the values of a type by their labels.
  std::string timeline(const std::string &type) {
    std::map<std::string, std::string> labels = {{"0", ""}};
    bool here = false, values = false;
    for (const std::string &line : lines_of(dir_ / "thread.pcf")) {
      std::istringstream words(line);
      std::string first, second, rest;
      words >> first >> second;
      if (line == "EVENT_TYPE")
        here = values = false;
      if (second == type)
        here = true;
      if (here && values && first != "0")
        labels[first] = second;
      values = here && (values || line == "VALUES");
    }
    std::string text;
    for (const std::string &line : lines_of(dir_ / "thread.prv")) {
      std::vector<std::string> fields;
      std::istringstream in(line);
      for (std::string field; std::getline(in, field, ':');)
        fields.push_back(field);
      for (size_t n = 6; fields[0] == "2" && n + 1 < fields.size(); n += 2)
        if (fields[n] == type)
          text += (text.empty() ? "" : " ") + fields[5] + "=" + labels[fields[n + 1]];
    }
    return text;
  }
  test::TempDir dir_;
  test::CollectingSink sink_;
};

TEST_F(Callers, AreTheFiveInnermostFunctionsOfTheProgramUntilItIsWoken) {
  EXPECT_EQ(timeline("70000001"), "100=a 200= 300=f 400= 500=wait 600= 700=wait 800=");
  EXPECT_EQ(timeline("70000002"), "100=b 200= 500=lock 600= 700=[frames 800=");
  EXPECT_EQ(timeline("70000003"), "100=c 200= 700=a 800=");
  EXPECT_EQ(timeline("70000004"), "100=d 200= 700=b 800=");
  EXPECT_EQ(timeline("70000005"), "100=e 200= 700=c 800=");
  EXPECT_EQ(timeline("70000006"), "");
}

TEST_F(Callers, HaveSourceLines) {
  EXPECT_EQ(timeline("80000001"), "100=x.c:1 200= 300=x.c:6 400=");
  EXPECT_EQ(timeline("80000005"), "100=x.c:5 200= 700=x.c:3 800=");
  EXPECT_EQ(timeline("80000006"), "");
}

TEST_F(Callers, AreNamedByTheirLevel) {
  const std::string pcf = test::text_of(dir_ / "thread.pcf");
  for (const char *line :
       {"\n0    70000001    Caller at level 1\nVALUES\n0    None, or not known\n",
        "\n0    70000005    Caller at level 5\n", "\n0    80000001    Caller line at level 1\n",
        "\n0    80000005    Caller line at level 5\n"})
    EXPECT_NE(pcf.find(line), std::string::npos) << line;
  for (const char *name : {"caller-1", "caller-5", "caller-line-1", "caller-line-5"})
    EXPECT_NE(test::text_of(dir_ / ("cfg/thread/" + std::string(name) + ".cfg")), "") << name;
}

/// Each host has stacks of its own, with the same numbers.
TEST(CallersOfHosts, AreThoseOfTheThreadsOwnHost) {
  test::TempDir dirs[2];
  const char *const functions[] = {"here", "there"};
  for (int n = 0; n < 2; n++) {
    test::TraceBuilder trace(dirs[n].path());
    auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "a").dispatch(1);
    cpu.at(1100).record(FTrace_EXT_stack, 1, 1).sleep(1, 0).at(1200).stop();
    trace.json(R"({"format": "ovnitrace", "version": 1, "host": "h)" + std::to_string(n) +
               R"(", "options": {"stacks": "user"}, "stack_frames": [{"function": ")" +
               functions[n] + R"("}], "stacks": [{"user": [0]}]})");
    trace.write();
  }
  test::CollectingSink sink;
  const auto source = open_trace({{dirs[0].path()}, {dirs[1].path()}}, sink);
  test::TempDir out;
  ConvertOptions options;
  options.directory = out.path();
  convert(*source, options, sink);
  const std::string pcf = test::text_of(out / "thread.pcf"),
                    prv = test::text_of(out / "thread.prv");
  EXPECT_NE(pcf.find("\n1    here\n2    there\n"), std::string::npos);
  EXPECT_NE(prv.find(":1:1:1:100:"), std::string::npos);
  for (const std::string &line : lines_of(out / "thread.prv"))
    for (const std::string value : {"1", "2"})
      if (line.find(":70000001:" + value) != std::string::npos) {
        EXPECT_NE(line.find(":1:" + value + ":1:100:"), std::string::npos) << line;
      }
  EXPECT_NE(prv.find(":70000001:1"), std::string::npos);
  EXPECT_NE(prv.find(":70000001:2"), std::string::npos);
}

} // namespace
} // namespace ovnitrace
