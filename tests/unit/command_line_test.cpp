// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace info`, `dump` and `why` as commands: their options, output and exit status.
#include "emulator/base/unique_fd.h"
#include "emulator/cli/commands.h"
#include "emulator/cli/run.h"
#include "tests/unit/support/shark_builder.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

namespace ovnitrace {
namespace {

using test::TempDir;
using test::TraceBuilder;

/// What a command line gives.
struct Ran {
  int status;
  std::string out, err;
};

Ran run(std::vector<std::string> arguments, const std::string &program = "ovnitrace") {
  const RootApp app("", program);
  app.require_subcommand(1, 1);
  add_info(app);
  add_dump(app);
  add_why(app);
  arguments.insert(arguments.begin(), "ovnitrace");
  std::vector<char *> argv;
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int status = run_cli(app, int(argv.size()), argv.data());
  std::string out = testing::internal::GetCapturedStdout();
  return {status, std::move(out), testing::internal::GetCapturedStderr()};
}

/// While it lives, standard output is another file.
class StdoutTo {
public:
  explicit StdoutTo(int fd) : saved_(dup(STDOUT_FILENO)) { dup2(fd, STDOUT_FILENO); }
  ~StdoutTo() {
    dup2(saved_, STDOUT_FILENO);
    close(saved_);
  }

private:
  int saved_;
};

TraceBuilder &whole_trace(TraceBuilder &trace) {
  trace.json("{\"version\": 1}").cpu(0).at(5).start().id(1, 7, 7, "a").dispatch(1).stop();
  return trace;
}

/// A program (11) on a machine with this many other threads. Each has the CPU for 1 us.
void machine_trace(TraceBuilder &trace, uint16_t others) {
  trace.json(R"({"version": 1, "machine": "x86_64", "all_threads": true, "program_pid": 11,
                 "command": ["app"]})");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").dispatch(1);
  for (uint16_t n = 0; n < others; n++)
    cpu.id(uint16_t(2 + n), 20u + n, 20u + n, "other");
  for (uint16_t n = 0; n < others; n++)
    cpu.at(1000u * (n + 1)).epilogue(uint16_t(1 + n), 20u + n).dispatch(uint16_t(2 + n));
  cpu.at(1000u * (others + 1)).stop();
}

TEST(CommandLine, WhySaysHowManyThreadsItLeavesOut) {
  const std::string note = " of the machine ", rest = " left out: --all-threads explains all.\n";
  for (const auto &[others, words] : {std::pair<uint16_t, std::string>(0, ""),
                                      {1, "\n1 thread" + note + "is" + rest},
                                      {2, "\n2 threads" + note + "are" + rest}}) {
    const TempDir dir;
    TraceBuilder trace(dir.path());
    machine_trace(trace, others);
    trace.write();
    const std::string text = run({"why", dir.path()}).out;
    EXPECT_EQ(text.find(" of the machine ") != text.npos, others > 0) << text;
    EXPECT_TRUE(text.ends_with(words)) << text;
    EXPECT_EQ(run({"why", "--all-threads", dir.path()}).out.find(rest), text.npos);
    EXPECT_EQ(run({"why", "--json", dir.path()}).out.find(rest), text.npos);
  }
}

TEST(CommandLine, AWordThatIsNoSubcommandIsNamed) {
  const Ran misspelt = run({"inof", "run1"}), other = run({"record", "--", "true"}), none = run({});
  EXPECT_EQ(misspelt.status, 2);
  EXPECT_EQ(misspelt.err, "ovnitrace: not expected: inof run1; did you mean `info`?\n"
                          "Try 'ovnitrace --help'.\n");
  EXPECT_EQ(other.status, 2);
  EXPECT_EQ(other.err, "ovnitrace: not expected: record true\nTry 'ovnitrace --help'.\n");
  EXPECT_EQ(none.status, 2);
  EXPECT_EQ(none.err, "ovnitrace: A subcommand is required\nTry 'ovnitrace --help'.\n");
}

TEST(CommandLine, TheReaderSendsRecordingsToOvnitrace) {
  for (const std::vector<std::string> &arguments :
       {std::vector<std::string>{"record", "-a"}, {"help", "record"}}) {
    const Ran ran = run(arguments, "ovnitrace-emu");
    EXPECT_EQ(ran.status, 2);
    EXPECT_NE(ran.err.find("record is a command of ovnitrace;"), std::string::npos) << ran.err;
    EXPECT_EQ(ran.err.find("did you mean"), std::string::npos) << ran.err;
  }
}

TEST(CommandLine, AnEmptyValueIsRefused) {
  const Ran empty = run({"info", "--top", "", "run1"});
  EXPECT_EQ(empty.status, 2);
  EXPECT_EQ(empty.err, "ovnitrace: --top: its value is empty\n");
}

TEST(CommandLine, SeveralFilesOfOneTracerAreOneTimeline) {
  TempDir dir;
  test::SharkBuilder first, second;
  first.at(0).rate(1000000).id(1, 7).context_switch(1);
  second.at(5).record(FTrace_EVT_task_end, 1, 7);
  first.write(dir / "0.dat");
  second.write(dir / "1.dat");
  const Ran dumped = run({"dump", dir / "1.dat", dir / "0.dat"});
  EXPECT_EQ(dumped.status, 0) << dumped.err;
  EXPECT_LT(dumped.out.find("context_switch"), dumped.out.find("task_end"));
  const Ran info = run({"info", "--json", dir / "0.dat", dir / "1.dat"});
  const auto json = nlohmann::json::parse(info.out);
  EXPECT_EQ(json["trace"], (dir / "0.dat") + " " + (dir / "1.dat"));
  EXPECT_EQ(json["duration_ns"], 5);
}

TEST(CommandLine, EndsWithTheRightStatus) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  whole_trace(trace).write();
  for (const char *command : {"dump", "info"}) {
    const Ran good = run({command, dir.path()});
    EXPECT_EQ(good.status, 0);
    EXPECT_NE(good.out.find(command == std::string("dump") ? "a(7)" : "a (7)"), std::string::npos);
    EXPECT_EQ(good.err, "");
    const Ran help = run({command, "--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_NE(help.out.find("Examples:"), std::string::npos);
    const Ran missing = run({command, dir / "none"});
    EXPECT_EQ(missing.status, 1);
    EXPECT_EQ(missing.err.find("ovnitrace: cannot open the trace"), 0u) << missing.err;
    const Ran unknown = run({command, dir.path(), "--colour"});
    EXPECT_EQ(unknown.status, 2);
    EXPECT_NE(unknown.err.find("--colour"), std::string::npos);
    EXPECT_EQ(run({command}).status, 2);
  }
  EXPECT_EQ(run({}).status, 2);
}

/// The third columns of what is printed.
std::string events_of(std::vector<std::string> arguments) {
  const Ran ran = run(std::move(arguments));
  EXPECT_EQ(ran.status, 0) << ran.err;
  std::istringstream lines(ran.out);
  std::string all;
  for (std::string line; std::getline(lines, line);) {
    std::string time, cpu, event;
    std::istringstream(line) >> time >> cpu >> event;
    all += event + ' ';
  }
  return all;
}

TEST(CommandLine, DumpTakesTheCutOfConvert) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  auto &cpu =
      trace.json("{\"version\": 1}").cpu(0).at(500).id(1, 11, 10, "one").id(2, 22, 20, "two");
  cpu.snapshot(1, 1, 0).at(1000).start().at(1100).epilogue(1, 22).dispatch(2);
  cpu.at(1200).sleep(2, 11).dispatch(1).at(1300).migrate(2, 0).end(1);
  cpu.at(1350).record(FTrace_EXT_holder, 0, 99).at(1400).stop();
  trace.write();
  const std::string &path = dir.path();
  EXPECT_EQ(events_of({"dump", path}),
            "EXT_snapshot trace_start task_epilogue task_dispatch task_sleep task_dispatch "
            "EXT_migrate task_end EXT_holder trace_stop ");
  EXPECT_EQ(events_of({"dump", "--from", "100ns", "--to", "200ns", path}),
            "task_epilogue task_dispatch task_sleep task_dispatch ");
  EXPECT_EQ(events_of({"dump", "--from=101ns", "--to=199ns", path}), "");
  EXPECT_EQ(events_of({"dump", "--to", "0ns", path}), "EXT_snapshot trace_start ");
  const char *const one =
      "EXT_snapshot trace_start task_epilogue task_dispatch task_end trace_stop ";
  EXPECT_EQ(events_of({"dump", "--pid", "10", path}), one);
  EXPECT_EQ(events_of({"dump", "--tid", "11,33", path}), one);
  EXPECT_EQ(events_of({"dump", "--comm", "o*", path}), one);
}

TEST(CommandLine, ACutThatCannotBeIsRefusedByItsOption) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  whole_trace(trace).write();
  for (const char *command : {"dump", "info"}) {
    const Ran no_time = run({command, "--from", "3 parsecs", dir.path()});
    EXPECT_EQ(no_time.status, 2);
    EXPECT_NE(no_time.err.find("--from: '3 parsecs' is no time"), std::string::npos) << no_time.err;
    EXPECT_EQ(run({command, "--from", "2s", "--to", "1s", dir.path()}).status, 2);
    EXPECT_EQ(run({command, "--from", "2s", dir.path()}).status, 1); // it lasts 0 s
    const Ran nobody = run({command, "--tid", "8", dir.path()});
    EXPECT_EQ(nobody.status, 1);
    EXPECT_NE(nobody.err.find("the trace has no thread with --tid 8: "), std::string::npos);
  }
}

TEST(CommandLine, PrintsAllThatIsLeftOfADamagedTrace) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  const auto &records = whole_trace(trace).cpu(0).records();
  trace.write();
  TraceBuilder::write_file(trace.file(0), records.data(), (records.size() - 1) * 16 + 5);
  const Ran cut = run({"dump", dir.path()});
  EXPECT_EQ(cut.status, 1);
  EXPECT_EQ(std::count(cut.out.begin(), cut.out.end(), '\n'), 3);
  EXPECT_NE(cut.out.find("blackout_start"), std::string::npos) << "last, as trace_stop is missing";
  EXPECT_NE(cut.err.find("the file was cut"), std::string::npos) << cut.err;
}

TEST(CommandLine, ReportsAFullDiskButNotAReaderThatWentAway) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  whole_trace(trace).write();
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  close(pipe_ends[0]); // as `| head` leaves it
  const UniqueFd gone(pipe_ends[1]), full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  for (const char *command : {"dump", "info"}) {
    const RootApp app("", "ovnitrace");
    add_info(app);
    add_dump(app);
    std::string path = dir.path(), name = command, program = "ovnitrace";
    char *argv[] = {program.data(), name.data(), path.data()};
    {
      StdoutTo to(gone.get());
      EXPECT_EQ(run_cli(app, 3, argv), 0);
    }
    testing::internal::CaptureStderr();
    {
      StdoutTo to(full.get());
      EXPECT_EQ(run_cli(app, 3, argv), 1);
    }
    EXPECT_NE(testing::internal::GetCapturedStderr().find("No space left"), std::string::npos);
  }
}

} // namespace
} // namespace ovnitrace
