// SPDX-License-Identifier: BSD-2-Clause
// What is made of a recording, what is printed then, and the threads of --dry-run:
// user/cli/after_recording, user/cli/thread_list.
#include "tests/unit/support/error_from.h"
#include "user/cli/after_recording.h"

#include "tests/unit/support/files.h"
#include "tests/unit/support/packed_page.h"
#include "tests/unit/support/trace_command.h"
#include "user/cli/thread_list.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace ovnitrace {
namespace {

/// A recording of 1000 events in DIR/app, of 5 MB.
class AfterRecording : public test::TraceCommand {
protected:
  AfterRecording() {
    std::ofstream(trace + "/notes").close();
    std::filesystem::resize_file(trace + "/notes", 5'000'000);
    std::filesystem::create_directory(trace + "/more"); // is not counted
    result.directory = trace;
    result.events = 1000;
  }
  /// Returns the exit status and what is printed. In a process of its own, which drops privileges.
  std::string convert(bool quiet = false, const char *sudo_uid = nullptr) {
    const std::string file = dir / "printed";
    const pid_t child = fork();
    if (child == 0) {
      unsetenv("SUDO_UID"); // it would be that user
      if (sudo_uid) {
        setenv("SUDO_UID", sudo_uid, 1);
        setenv("SUDO_GID", sudo_uid, 1);
      }
      const int to = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
      dup2(to, STDERR_FILENO);
      _exit(convert_recording(result, outputs, quiet));
    }
    int status = -1;
    waitpid(child, &status, 0);
    std::string said =
        fmt::format("{} {}", WIFEXITED(status) ? WEXITSTATUS(status) : -1, test::text_of(file));
    for (size_t at; (at = said.find(dir.path())) != said.npos;)
      said.replace(at, dir.path().size(), "DIR");
    return said;
  }
  RecordResult result;
  Outputs outputs;
};

TEST_F(AfterRecording, SaysHowLargeTheFilesAreAndWhatToOpen) {
  EXPECT_EQ(convert(),
            "0 ovnitrace: files for Paraver: about 0.1 MB beside a trace of 5.0 MB (--no-convert "
            "leaves them out)\n"
            "ovnitrace: open DIR/app/thread.prv or DIR/app/cpu.prv in Paraver, then a timeline of "
            "DIR/app/cfg\n"
            "ovnitrace: or see it in a browser: ovnitrace report DIR/app --open\n");
  EXPECT_TRUE(exists("app/thread.prv"));
  EXPECT_FALSE(exists("app/report.html"));
}

TEST_F(AfterRecording, ZippedFilesAreATenthAsLarge) {
  outputs.convert.gzip = true;
  EXPECT_NE(convert().find("about 10 kB beside"), std::string::npos);
  EXPECT_TRUE(exists("app/thread.prv.gz"));
}

TEST_F(AfterRecording, AReportIsBesideTheFilesForParaver) {
  outputs.report = true;
  const std::string said = convert();
  EXPECT_TRUE(said.ends_with("DIR/app/cfg\novnitrace: or open DIR/app/report.html in a browser\n"))
      << said;
  EXPECT_TRUE(exists("app/thread.prv"));
  EXPECT_TRUE(exists("app/report.html"));
}

TEST_F(AfterRecording, WithoutAConversionSaysWhichCommandsShowTheTrace) {
  outputs.convert_it = false;
  EXPECT_EQ(convert(), "0 ovnitrace: see it with `ovnitrace info DIR/app` or `ovnitrace report "
                       "DIR/app --open`; for Paraver, `ovnitrace convert DIR/app`\n");
  outputs.report = true;
  EXPECT_EQ(convert(), "0 ovnitrace: open DIR/app/report.html in a browser\n");
  EXPECT_FALSE(exists("app/thread.prv"));
}

TEST_F(AfterRecording, QuietPrintsNothing) {
  outputs.report = true;
  EXPECT_EQ(convert(true), "0 ");
  EXPECT_TRUE(exists("app/thread.prv"));
  EXPECT_TRUE(exists("app/report.html"));
  outputs = {};
  outputs.convert_it = false;
  EXPECT_EQ(convert(true), "0 ");
}

TEST_F(AfterRecording, IsDoneWithTheRightsOfTheUserOfSudo) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root has a user of sudo";
  ASSERT_EQ(chmod(dir.path().c_str(), 0755), 0);
  EXPECT_EQ(convert(true, "65534").find("1 ovnitrace: cannot "), 0u) << "the trace is root's";
  EXPECT_FALSE(exists("app/thread.prv"));
  ASSERT_EQ(chown(trace.c_str(), 65534, 65534), 0);
  EXPECT_EQ(convert(true, "65534"), "0 ");
  struct stat file = {};
  ASSERT_EQ(stat((trace + "/thread.prv").c_str(), &file), 0);
  EXPECT_EQ(file.st_uid, 65534u);
}

TEST_F(AfterRecording, ADamagedTraceIsAFailure) {
  damage();
  const std::string said = convert(true);
  EXPECT_EQ(said.find("1 ovnitrace: warning: "), 0u) << said;
  EXPECT_TRUE(exists("app/thread.prv"));
}

TEST_F(AfterRecording, SaysHowToConvertItOnceMore) {
  outputs.convert.model_files = {dir / "my model"};
  outputs.convert.gzip = true;
  for (const bool quiet : {false, true}) {
    const std::string said = convert(quiet);
    EXPECT_EQ(said[0], '1');
    EXPECT_TRUE(said.ends_with("\novnitrace: the trace is recorded; try `ovnitrace convert "
                               "--model 'DIR/my model' --gzip DIR/app`\n"))
        << said;
  }
}

TEST_F(AfterRecording, ATraceMayBeGone) {
  result.directory = dir / "gone";
  EXPECT_EQ(convert(true), "1 ovnitrace: there is nothing to convert: DIR/gone is gone, somebody "
                           "has removed it\n");
}

TEST_F(AfterRecording, DrawsOnlyTheThreadsThatAreAskedFor) {
  outputs.convert.cut.comms = {"b"};
  outputs.report = true;
  EXPECT_EQ(convert(true), "0 ");
  const std::string rows = test::text_of(trace + "/thread.row");
  EXPECT_EQ(rows.find("app"), std::string::npos) << rows;
  const auto threads_of_page = [this] {
    return test::PackedPage(test::text_of(trace + "/report.html")).summary["threads"].size();
  };
  EXPECT_EQ(threads_of_page(), 1u);
  outputs.convert.cut.comms.clear();
  EXPECT_EQ(convert(true), "0 ");
  EXPECT_EQ(threads_of_page(), 2u);
}

TEST(EndRecording, SaysWhatIsMissingAndEndsAsTheProgram) {
  struct {
    int program, converted, status;
  } const cases[] = {{0, 0, 0}, {7, 0, 7}, {0, 1, 1}, {7, 1, 7}};
  for (const auto &[program, converted, status] : cases) {
    RecordResult result;
    result.exit_status = program;
    testing::internal::CaptureStderr();
    EXPECT_EQ(end_recording(result, converted), status);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    result.missing = "3 events are missing";
    testing::internal::CaptureStderr();
    EXPECT_EQ(end_recording(result, converted), status);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "ovnitrace: 3 events are missing\n");
  }
}

/// The error; empty: the outputs are possible.
std::string error_of(const RecordOptions &options, const Outputs &outputs) {
  return test::usage_error_from([&] { check_outputs(options, outputs); });
}

TEST(CheckOutputs, FilesForParaverNeedAConversion) {
  Outputs gzip, draw, model, report;
  gzip.convert.gzip = true;
  draw.convert.cut.comms = {"a"};
  model.convert.model_files = {"/nonexistent/model"};
  report.report = true;
  RecordOptions here, away;
  away.send = "tcp://host";
  EXPECT_EQ(error_of(here, {}), "");
  EXPECT_EQ(error_of(away, {}), "");
  const std::string sent =
      "--gzip, --model, --draw, --report, --open and --no-convert do not go with --send, which "
      "converts nothing: give them to `ovnitrace convert` and `ovnitrace report` where the trace "
      "is collected";
  for (Outputs outputs : {gzip, draw, model}) {
    EXPECT_EQ(error_of(away, outputs), sent);
    outputs.convert_it = false;
    EXPECT_EQ(error_of(here, outputs), "--gzip, --model and --draw are for the files of Paraver, "
                                       "which --no-convert does not write");
  }
  Outputs open, none;
  open.open = true;
  none.convert_it = false;
  for (const Outputs &outputs : {report, open, none}) {
    EXPECT_EQ(error_of(here, outputs), "");
    EXPECT_EQ(error_of(away, outputs), sent);
  }
  EXPECT_EQ(error_of(here, gzip), "");
  EXPECT_EQ(error_of(here, draw), "");
  EXPECT_EQ(error_of(here, model).find("--model: "), 0u) << "before the program runs";
}

TEST(CheckOutputs, AModelIsReadWithTheRightsOfTheUserOfSudo) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root has a user of sudo";
  const test::TempDir dir; // only root may enter it
  Outputs model;
  model.convert.model_files = {dir / "model"};
  std::ofstream(dir / "model") << "{}";
  setenv("SUDO_UID", "65534", 1);
  setenv("SUDO_GID", "65533", 1);
  const std::string error = error_of({}, model);
  unsetenv("SUDO_UID");
  unsetenv("SUDO_GID");
  EXPECT_NE(error.find("Permission denied"), std::string::npos) << error;
}

TEST(PrintThreads, HasARowForEach) {
  listed_thread one = {.tid = 12, .pid = 9, .comm = "app"}, other = {12345678, 123, {}};
  std::memcpy(other.comm, "sixteen letters!", 16);
  testing::internal::CaptureStdout();
  print_threads({one, other}, false);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "     PID      TID NAME\n"
                                                    "       9       12 app\n"
                                                    "     123 12345678 sixteen letters!\n"
                                                    "2 threads would be recorded now\n");
  testing::internal::CaptureStdout();
  print_threads({one}, false);
  EXPECT_TRUE(
      testing::internal::GetCapturedStdout().ends_with("\n1 thread would be recorded now\n"));
  testing::internal::CaptureStdout();
  print_threads({one, other}, true);
  EXPECT_EQ(nlohmann::json::parse(testing::internal::GetCapturedStdout()),
            nlohmann::json::parse(R"({"schema": 1, "threads": [
              {"tid": 12, "pid": 9, "name": "app"},
              {"tid": 12345678, "pid": 123, "name": "sixteen letters!"}]})"));
}

} // namespace
} // namespace ovnitrace
