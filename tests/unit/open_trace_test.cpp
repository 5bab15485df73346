// SPDX-License-Identifier: BSD-2-Clause
// What is opened as a trace, and what is said of anything else.
#include "emulator/open/open_trace.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"
#include "tests/unit/support/work_in.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace ovnitrace {
namespace {

/// DIR/app is a trace directory, DIR/a and DIR/b are ovni traces.
class OpenTrace : public testing::Test {
protected:
  OpenTrace() {
    std::filesystem::create_directory(app);
    test::TraceBuilder trace(app);
    trace.json(R"({"version": 1})");
    trace.cpu(0).at(100).start().id(1, 7, 7, "app").dispatch(1).at(200).stop();
    trace.write();
    for (const std::string &ovni : {a, b}) {
      std::filesystem::create_directory(ovni);
      std::filesystem::create_directory(ovni + "/loom.n");
    }
  }
  std::string refused(const std::vector<TraceInput> &inputs) {
    return test::failure_from([&] { open_trace(inputs, sink); });
  }

  const test::TempDir dir;
  const std::string app = dir / "app", a = dir / "a", b = dir / "b";
  test::CollectingSink sink;
};

TEST_F(OpenTrace, WhatIsNoTraceIsToldWhatATraceIs) {
  const std::string kinds =
      " is no trace: name the directory that ovnitrace wrote, with the chunk files cpu0000.ftr, "
      "…, an ovni trace, with loom.*, or an FTrace file of S.Ha.R.K.";
  EXPECT_EQ(refused({{dir.path()}}), dir.path() + kinds);
  EXPECT_EQ(refused({{"/dev/null"}}), "/dev/null" + kinds);
  EXPECT_EQ(refused({{dir / "none"}}),
            "cannot open the trace " + dir / "none" + ": No such file or directory");
}

TEST_F(OpenTrace, TracesOfTwoKindsOrTwoOfOvniAreNotMerged) {
  EXPECT_EQ(refused({{app}, {a}}), "cannot merge " + app + " with " + a +
                                       ": they are of different kinds; convert them one by one");
  EXPECT_EQ(test::usage_error_from([&] {
              open_trace({{a}, {b}}, sink);
            }),
            "cannot merge " + a + " with " + b +
                ": put the looms of both ovni traces into one directory, with a "
                "clock-offsets.txt, and name that");
  EXPECT_EQ(test::usage_error_from([&] { open_trace({}, sink); }), "no trace was named");
}

TEST_F(OpenTrace, OneFileOfATraceHasOneCpu) {
  open_trace({{app + "/cpu0000.ftr"}}, sink);
  ASSERT_EQ(sink.count("has the events of only one CPU: to read the whole trace, name the "
                       "directory " +
                       app),
            1u);
  EXPECT_EQ(sink.reported[0].file, app + "/cpu0000.ftr");
  EXPECT_TRUE(sink.reported[0].harmless);
  {
    const test::WorkIn here(app);
    sink.reported.clear();
    open_trace({{"cpu0000.ftr"}}, sink);
    EXPECT_EQ(sink.count("to read the whole trace, name the directory ."), 1u);
    EXPECT_EQ(refused({{"trace.json"}}),
              "trace.json only describes a trace: name the directory of the trace, .");
  }
  std::filesystem::remove(app + "/trace.json");
  sink.reported.clear();
  open_trace({{app + "/cpu0000.ftr"}}, sink);
  EXPECT_EQ(sink.count("only one CPU"), 0u) << "nothing says that there is more";
}

TEST_F(OpenTrace, TracesOfOneMachineAndTimeAreReported) {
  struct Times {
    uint64_t first, last;
    bool stops = true;
  };
  const std::string one = dir / "one", other = dir / "other";
  const auto reports = [&](Times first, Times second, const std::string &boot_id = "x",
                           const std::string &other_id = "x") {
    sink.reported.clear();
    for (const auto &[path, times, id] :
         {std::tuple(one, first, boot_id), std::tuple(other, second, other_id)}) {
      std::filesystem::remove_all(path);
      std::filesystem::create_directory(path);
      test::TraceBuilder trace(path);
      trace.cpu(0).at(times.first).start().id(1, 7, 7, "a").dispatch(1).at(times.last).sleep(1);
      if (times.stops)
        trace.cpu(0).stop();
      trace.json(R"({"version": 1, "host": "n", "boot_id": ")" + id + "\"}").write();
    }
    open_trace({{one}, {other}}, sink);
    return sink.count("was recorded on the same machine and at the same time as " + one);
  };
  EXPECT_EQ(reports({100, 200}, {100, 200}), 1u);
  EXPECT_EQ(sink.reported.at(0).file, other);
  EXPECT_TRUE(sink.reported.at(0).harmless);
  EXPECT_EQ(reports({100, 200}, {199, 300}), 1u);
  EXPECT_EQ(reports({199, 300}, {100, 200}), 1u);
  EXPECT_EQ(reports({100, 200}, {200, 300}), 0u) << "one after the other";
  EXPECT_EQ(reports({200, 300}, {100, 200}), 0u);
  EXPECT_EQ(reports({100, 150, false}, {160, 300}), 0u) << "killed before";
  EXPECT_EQ(reports({100, 200}, {100, 200}, "x", "y"), 0u) << "a clone";
  EXPECT_EQ(reports({100, 200}, {100, 200}, "", ""), 0u)
      << "older traces do not say of which machine they are";
}

TEST_F(OpenTrace, ADirectoryThatMayNotBeReadIsNoOtherFile) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can become a user who may not";
  const std::string other = dir / "other";
  std::filesystem::create_directory(other);
  chmod(dir.path().c_str(), 0755);
  chmod(app.c_str(), 0701);
  chmod(other.c_str(), 0704);
  ASSERT_EQ(seteuid(65534), 0);
  const std::string unlisted = refused({{app}}), unsearched = refused({{other}});
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_EQ(unlisted, "cannot open the trace directory " + app + ": Permission denied");
  EXPECT_EQ(unsearched, "cannot open the trace directory " + other + ": Permission denied");
}

} // namespace
} // namespace ovnitrace
