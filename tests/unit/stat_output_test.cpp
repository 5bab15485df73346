// SPDX-License-Identifier: BSD-2-Clause
// What `ovnitrace stat` writes of one capture and of several, and where: user/cli/stat_output.
#include "tests/unit/support/error_from.h"
#include "user/cli/stat_output.h"

#include "emulator/base/error.h"
#include "tests/unit/support/diff_rig.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/work_in.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

namespace ovnitrace {
namespace {

using Json = nlohmann::json;

/// What is printed on both streams.
struct Printed {
  std::string out, err;
};

Printed printed(const std::function<void()> &print) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  print();
  Printed all;
  all.out = testing::internal::GetCapturedStdout();
  all.err = testing::internal::GetCapturedStderr();
  return all;
}

class StatOutputTest : public test::DiffRig {
protected:
  /// A run of app (11), which is on its CPU for so long, and of b (22), which is there for 300 ns.
  std::string run(uint64_t ns, const std::string &command = R"(["app"])") {
    return trace(
        [ns](test::TraceBuilder &builder) {
          auto &cpu = builder.cpu(0).at(1000).start().id(1, 11, 11, "app").id(2, 22, 22, "b");
          cpu.dispatch(1).at(1000 + ns).sleep(1, 22).dispatch(2);
          cpu.at(1300 + ns).epilogue(2, 11).dispatch(1).at(1400 + ns).stop();
        },
        "", command);
  }
};

TEST_F(StatOutputTest, ASummaryIsBehindWhatTheProgramHasPrinted) {
  const std::string one = run(600);
  const Printed to_stderr = printed([&] { print_summary(one, {}); }),
                to_stdout = printed([&] { print_summary(one, {.file = "-"}); }),
                to_file = printed([&] { print_summary(one, {.file = dir / "out"}); });
  EXPECT_EQ(to_stderr.out, "");
  EXPECT_EQ(to_stderr.err, "\n" + to_stdout.out) << "an empty line is between both";
  EXPECT_EQ(to_stdout.err, "");
  EXPECT_EQ(to_file.out + to_file.err, "");
  EXPECT_EQ(test::text_of(dir / "out"), to_stdout.out);
  EXPECT_NE(to_stdout.out.find("2 threads of 2 processes"), std::string::npos) << to_stdout.out;
}

TEST_F(StatOutputTest, ASummaryHasTheThreadsThatRanLongest) {
  const std::string one = run(600);
  const auto threads = [&](size_t top) {
    const std::string text = printed([&] { print_summary(one, {.file = "-", .top = top}); }).out;
    return std::string(text.find("\napp ") == text.npos ? "" : "app") +
           (text.find("\nb ") == text.npos ? "" : "b");
  };
  EXPECT_EQ(threads(2), "appb") << printed([&] { print_summary(one, {.file = "-"}); }).out;
  EXPECT_EQ(threads(1), "app");
}

TEST_F(StatOutputTest, ASummaryHasTheStacksInWhichThreadsBlocked) {
  const std::string one = trace(
      [](test::TraceBuilder &builder) {
        auto &cpu = builder.cpu(0).at(1000).start().id(1, 11, 11, "app").dispatch(1).at(1500);
        cpu.record(FTrace_EXT_stack, 1, 1)
            .sleep(1)
            .at(1700)
            .activate(1)
            .dispatch(1)
            .at(1900)
            .stop();
      },
      R"(, "options": {"stacks": "user"}, "stack_frames": [{"function": "read_block"}],
          "stacks": [{"user": [0]}])");
  const std::string text = printed([&] { print_summary(one, {.file = "-"}); }).out,
                    json = printed([&] { print_summary(one, {.file = "-", .json = true}); }).out;
  EXPECT_NE(text.find("read_block"), text.npos) << text;
  EXPECT_EQ(text.find("read_block"), text.rfind("read_block")) << text;
  EXPECT_TRUE(Json::parse(json).is_object()) << json;
}

TEST_F(StatOutputTest, ASummaryOfJsonIsOneObject) {
  const std::string one = run(600);
  for (const std::string file : {"", "-"}) {
    const Printed all = printed([&] { print_summary(one, {.file = file, .json = true}); });
    const std::string text = file.empty() ? all.err : all.out;
    EXPECT_EQ(text.substr(0, 1), "{");
    const Json object = Json::parse(text);
    EXPECT_EQ(object["schema"], 1);
    EXPECT_EQ(object["threads"].size(), 2u);
    EXPECT_EQ((file.empty() ? all.out : all.err), "");
  }
}

TEST_F(StatOutputTest, RunsOfOneCommandAreMeasured) {
  for (const uint64_t ns : {600, 800, 700})
    add_a(run(ns));
  const Printed to_stderr = printed([&] { print_runs(runs, {}); }),
                to_stdout = printed([&] { print_runs(runs, {.file = "-"}); }),
                json = printed([&] { print_runs(runs, {.file = "", .json = true}); });
  EXPECT_EQ(to_stderr.err, "\n" + to_stdout.out);
  EXPECT_NE(to_stdout.out.find("3 RUNS "), std::string::npos) << to_stdout.out;
  EXPECT_EQ(Json::parse(json.err)["runs"].size(), 3u) << json.err;
  EXPECT_EQ(json.err[0], '{');
}

// The commands differ because the user asked for it: that is no condition to be warned of.
TEST_F(StatOutputTest, RunsOfTwoCommandsAreComparedUnderTheirNames) {
  for (const uint64_t ns : {600, 700}) {
    add_a(run(ns, R"(["app", "--old"])"));
    add_b(run(2 * ns, R"(["app", "--new"])"));
  }
  const Printed text = printed([&] { print_runs(runs, {.file = "-"}); }),
                to_stderr = printed([&] { print_runs(runs, {}); }),
                json = printed([&] { print_runs(runs, {.file = "-", .json = true}); });
  EXPECT_EQ(text.out.find("A: app --old\nB: app --new\n\n"), 0u) << text.out;
  EXPECT_EQ(text.out.find("--old", 12), std::string::npos) << text.out;
  EXPECT_EQ(to_stderr.err, "\n" + text.out);
  const Json object = Json::parse(json.out);
  EXPECT_EQ(object["a"].size(), 2u) << json.out;
  for (RunTimes &one : runs.b)
    for (Condition &condition : one.conditions)
      if (condition.what == "kernel")
        condition.value = "6.9";
  const Printed other = printed([&] { print_runs(runs, {.file = "-"}); });
  EXPECT_NE(other.out.find("6.9"), std::string::npos) << other.out;
}

TEST_F(StatOutputTest, ADashIsNoFile) {
  const std::filesystem::path removed = dir / "removed";
  std::filesystem::create_directory(removed);
  const test::WorkIn here(removed);
  std::filesystem::remove(removed);
  check_output({.file = "-"}); // no file can be made here
  EXPECT_THROW(check_output({.file = "out"}), Error);
}

TEST_F(StatOutputTest, AFileIsCheckedBeforeTheProgramRuns) {
  check_output({});
  const std::string file = dir / "out";
  check_output({.file = file});
  EXPECT_FALSE(std::filesystem::exists(file)) << "nothing is made yet";
  std::ofstream(file) << "mine";
  try {
    check_output({.file = file});
    ADD_FAILURE();
  } catch (const Error &error) {
    EXPECT_EQ(error.what(),
              file + " exists already; choose another with -o, or let it be overwritten with -f");
  }
  check_output({.file = file, .force = true});
  EXPECT_EQ(test::text_of(file), "mine");
  EXPECT_THROW(check_output({.file = dir / "none/out"}), Error);
}

TEST_F(StatOutputTest, AFullDiskIsAnError) {
  const std::string one = run(600);
  const auto error_of = [&](const std::string &file) {
    return test::error_from([&] { print_summary(one, {.file = file}); });
  };
  const auto test = [&](const std::string &file, int stream, const char *why) {
    const int kept = dup(STDERR_FILENO), full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    dup2(full, stream);
    const std::string error = error_of(file);
    dup2(kept, STDERR_FILENO);
    _exit(error == why ? 7 : 1);
  };
  EXPECT_EXIT(test("-", STDOUT_FILENO, "cannot write to standard output: No space left on device"),
              testing::ExitedWithCode(7), "");
  EXPECT_EXIT(test("", STDERR_FILENO, "cannot write to standard error: No space left on device"),
              testing::ExitedWithCode(7), "");
}

} // namespace
} // namespace ovnitrace
