// SPDX-License-Identifier: BSD-2-Clause
// What commands that record say and refuse before they record anything: user/cli.
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/run_command.h"
#include "tests/unit/support/temp_dir.h"
#include "user/cli/number_option.h"
#include "user/cli/repeated_capture.h"
#include "user/cli/trigger.h"
#include "user/net/endpoint.h"

#include "emulator/base/error.h"

#include <ovnitrace/ftrace_codes.h>

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <regex>
#include <string>
#include <vector>

namespace ovnitrace {
namespace {

using Words = std::vector<std::string>;

// The largest tid: hardly any machine has that thread, so that each capture of it ends at once.
const std::string kNoThread = "4194303";
const std::string kGone = "ovnitrace: --tid 4194303: there is no such thread\n";

/// Returns the exit status and what is printed.
std::string said(const Words &words, const Words &program = {}) {
  const test::Said all = test::run(words, program);
  EXPECT_EQ(all.out, "");
  return std::to_string(all.status) + " " + all.err;
}

/// Returns the first line of a refusal.
std::string refusal(const Words &words, const Words &program = {"app"}) {
  const std::string text = said(words, program);
  return text.substr(0, text.find('\n'));
}

TEST(OneStep, OptionsOfFilesForParaverNeedAConversion) {
  const std::string why = "2 ovnitrace: --gzip, --model and --draw are for the files of Paraver, "
                          "which --no-convert does not write";
  EXPECT_EQ(refusal({"--no-convert", "--gzip"}), why);
  EXPECT_EQ(refusal({"--no-convert", "--model", "file"}), why);
  EXPECT_EQ(refusal({"--no-convert", "--draw", "app"}), why);
}

TEST(OneStep, OptionsOfOutputsAreForATraceThatIsHere) {
  for (const Words &words : {Words{"--no-convert"},
                             {"--gzip"},
                             {"--draw", "a,b"},
                             {"--report"},
                             {"--open"},
                             {"--model", "file"}}) {
    Words all = {"--send", "tcp://host"};
    all.insert(all.end(), words.begin(), words.end());
    EXPECT_EQ(refusal(all).find("2 ovnitrace: --gzip, --model, --draw, --report, --open and "
                                "--no-convert do not go with --send, which converts nothing"),
              0u)
        << words[0];
  }
}

TEST(OneStep, SaysThatCommIsAFilter) {
  EXPECT_EQ(said({"--comm", "app", "-t", kNoThread}),
            "1 ovnitrace: --comm records only threads of these names; to record all threads and "
            "draw only some, as --comm did before, use --draw\n" +
                kGone);
  EXPECT_EQ(said({"-q", "--comm", "app", "-t", kNoThread}), "1 " + kGone);
  EXPECT_EQ(said({"-t", kNoThread}), "1 " + kGone);
}

TEST(OneStep, CommandsThatRunProgramsTakeOne) {
  EXPECT_EQ(refusal({"top"}).find("2 ovnitrace: `top` runs no program, and here is one after --: "
                                  "app"),
            0u);
  for (const std::string command : {"record", "stat"})
    EXPECT_EQ(said({command, "-a", "-t", kNoThread}, {"app"}), "1 " + kGone) << command;
  EXPECT_EQ(refusal({"diff", "/nonexistent/a"}, {"/nonexistent/b"}),
            "1 ovnitrace: cannot open the trace /nonexistent/a: No such file or directory");
}

TEST(RecordCommandLine, ADryRunNeedsLivingThreads) {
  EXPECT_EQ(said({"record", "--dry-run", "-t", kNoThread}), "1 " + kGone);
  EXPECT_EQ(refusal({"record", "--json"}), "2 ovnitrace: --json needs --dry-run");
  EXPECT_EQ(refusal({"record", "--dry-run"}),
            "2 ovnitrace: --dry-run lists threads that are alive: leave the program out");
}

/// Sets TMPDIR to a directory of its own while it lives.
class Tmpdir {
public:
  Tmpdir() {
    if (const char *before = std::getenv("TMPDIR"))
      before_ = before;
    setenv("TMPDIR", dir.path().c_str(), 1);
  }
  ~Tmpdir() { before_ ? setenv("TMPDIR", before_->c_str(), 1) : unsetenv("TMPDIR"); }
  Tmpdir(const Tmpdir &) = delete;
  Tmpdir &operator=(const Tmpdir &) = delete;
  test::TempDir dir;

private:
  std::optional<std::string> before_;
};

TEST(StatCommandLine, LeavesNothingOfACaptureThatDidNotBegin) {
  const Tmpdir tmpdir;
  EXPECT_EQ(said({"stat", "-t", kNoThread}), "1 " + kGone);
  EXPECT_EQ(said({"stat", "-r", "2", "-a", "-t", kNoThread}, {"app"}), "1 " + kGone);
  EXPECT_TRUE(std::filesystem::is_empty(tmpdir.dir.path()));
}

// A command line that is wrong is found before the first program runs.
TEST(StatCommandLine, TheOtherCommandIsReadBeforeAnythingRuns) {
  EXPECT_EQ(
      refusal({"stat", "-r", "2", "--against", "a | b"}),
      "2 ovnitrace: --against 'a | b' is no plain command line: for pipes and the like, write "
      "'sh -c \"…\"'");
}

TEST(RecordCommandLine, AnUnknownGroupOfInstructionsIsRefusedBeforeAnythingIsLoaded) {
  const std::string text = refusal({"record", "--control", "start:isa_extension:NONE"});
  EXPECT_EQ(text.find("2 ovnitrace: --control: "), 0u) << text;
  EXPECT_NE(text.find("knows no such extension"), std::string::npos) << text;
}

TEST(TopCommandLine, SaysWhereTheMetricsAre) {
  const Tmpdir tmpdir;
  const std::regex expected("1 ovnitrace: metrics for Prometheus are at "
                            "http://127\\.0\\.0\\.[12]:[0-9]+/metrics\n" +
                            kGone);
  for (const std::string where : {"0", "127.0.0.2:0"}) {
    const std::string text = said({"top", "--metrics", where, "-t", kNoThread});
    EXPECT_TRUE(std::regex_match(text, expected)) << text;
    EXPECT_EQ(text.find("127.0.0.2") != text.npos, where != "0");
  }
  EXPECT_TRUE(std::filesystem::is_empty(tmpdir.dir.path()));
}

TEST(TopCommandLine, APortOfMetricsIsForOne) {
  const UniqueFd taken = listen_on(parse_endpoint("", "tcp://127.0.0.1:0"));
  const std::string address = local_text(taken.get());
  EXPECT_EQ(said({"top", "--metrics", address}),
            "1 ovnitrace: cannot listen on tcp://" + address + ": Address already in use\n");
}

TEST(TopCommandLine, NumbersHaveLimits) {
  EXPECT_EQ(refusal({"top", "--batch", "0"}, {}),
            "2 ovnitrace: --batch: give a whole number from 1 to 4294967295, not 0");
  EXPECT_EQ(refusal({"top", "--top", "4294967296"}, {}),
            "2 ovnitrace: --top: give a whole number from 0 to 4294967295, not 4294967296");
  EXPECT_EQ(said({"top", "--batch", "1", "--top", "0", "-t", kNoThread}), "1 " + kGone);
  EXPECT_EQ(refusal({"top", "--by", "cpu"}, {}).find("2 ovnitrace: --by: "), 0u);
}

TEST(RecordApart, PassesAnErrorOfTheOtherProcessOn) {
  struct sigaction before = {}, after = {};
  sigaction(SIGTERM, nullptr, &before);
  RecordOptions options;
  options.command = {"app"};
  options.selection.tids = {4194303};
  try {
    record_apart(options);
    ADD_FAILURE();
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "--tid 4194303: there is no such thread");
    EXPECT_EQ(error.status(), kExitFailure);
  }
  options.selection.tids.clear();
  options.user = "no such user";
  EXPECT_THROW(record_apart(options), Error);
  sigaction(SIGTERM, nullptr, &after);
  EXPECT_EQ(after.sa_handler, before.sa_handler) << "signals have their effect again";
}

TEST(SizeOption, IsAboveZero) {
  EXPECT_EQ(refusal({"-m", "0"}), "2 ovnitrace: --ring-size: give a size above 0");
  EXPECT_EQ(refusal({"--chunk-size", "x"}),
            "2 ovnitrace: --chunk-size: x is no size; give one like 512K, 64M or 2G");
}

TEST(NumberOption, HasItsLongNameInErrors) {
  EXPECT_EQ(long_name("-t,--top"), "--top");
  EXPECT_EQ(long_name("--top"), "--top");
  try {
    parse_number("--top", "", 3, 5);
    ADD_FAILURE();
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "--top: give a whole number from 3 to 5, not nothing");
    EXPECT_EQ(error.status(), kExitUsage);
  }
}

/// The error for a trigger of that name; empty if there is one.
std::string trigger_error(const std::string &name, FamilySet families) {
  return test::error_from([&] { trigger_code(name, families); });
}

TEST(TriggerOfFamily, ThatOnlySharkHasNeverComes) {
  EXPECT_EQ(trigger_error("CLI", families_that_can_be()),
            "--trigger CLI: such events are in files of S.Ha.R.K. only");
  EXPECT_EQ(trigger_error("signal", FamilySet(1u << FTRACE_FAMILY_TASK)),
            "--trigger signal: its family is not captured: add --filter +signal");
  EXPECT_EQ(trigger_error("signal", FamilySet(1u << FTRACE_FAMILY_SIGNAL)), "");
  EXPECT_EQ(trigger_error("trace_start", {}), "") << "it is always captured";
}

TEST(TriggerOfFamily, TheMutexsEventIsOfferedOnceAndIsTheOneThatIsWritten) {
  const std::string names = trigger_names() + ",", name = ",mutex_unlock,";
  const size_t at = names.find(name);
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(names.find(name, at + 1), std::string::npos);
  EXPECT_EQ(trigger_code("mutex_unlock", families_that_can_be()), FTrace_EVT_mutex_unlock);
}

} // namespace
} // namespace ovnitrace
