// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace export` as a command: where it writes, what it prints, and what it refuses.
#include "tests/unit/support/files.h"
#include "tests/unit/support/trace_command.h"

#include <fstream>

namespace ovnitrace::test {
namespace {

class ExportCommand : public TraceCommand {
protected:
  std::string to(const std::string &format, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"export", "--to", format, trace});
    return run(more);
  }
};

TEST_F(ExportCommand, NamesItsOutputAfterTheTraceAndSaysWhatIsInIt) {
  EXPECT_EQ(to("sqlite"), "0 DIR/app.sqlite: 2 threads, 7 slices, 1 wakeup, 8 events\n");
  EXPECT_EQ(to("csv"), "0 DIR/app.csv: 2 threads, 7 slices, 1 wakeup, 8 events\n");
  EXPECT_EQ(to("ovni"), "0 DIR/app.ovni: 12 events of 2 threads\n");
  EXPECT_EQ(to("perfetto"), "0 DIR/app.pftrace: 3 runs, 1 wakeup and 0 events of 2 threads in "
                            "0.0 MiB\n");
  const std::string times = ", 300 ns blocked and 300 ns waiting for a CPU\n",
                    none = "ovnitrace: no stacks are known: record them with --stacks "
                           "(docs/stacks.md)\n";
  EXPECT_EQ(to("folded"), "0 DIR/app.folded: 3 stacks" + times + none);
  EXPECT_EQ(to("pprof"), "0 DIR/app.pb.gz: 3 samples" + times + none);
  EXPECT_EQ(to("speedscope"), "0 DIR/app.speedscope.json: 2 profiles" + times + none);
  for (const char *ending :
       {"sqlite", "csv", "ovni", "pftrace", "folded", "pb.gz", "speedscope.json"})
    EXPECT_TRUE(exists(std::string("app.") + ending)) << ending;
}

TEST_F(ExportCommand, ATraceWithAStackAsksForNone) {
  TraceBuilder builder(trace);
  builder.json(
      R"({"version": 1, "options": {"stacks": "user"}, "stack_frames": [{"function": "f"}], "stacks": [{"user": [0]}]})");
  auto &cpu = builder.cpu(0).at(1000).start().id(1, 11, 11, "app").dispatch(1);
  cpu.at(1100).record(FTrace_EXT_stack, 1, 1).sleep(1).at(1400).activate(1).dispatch(1);
  cpu.at(1500).sleep(1).at(1700).activate(1).dispatch(1).at(2000).stop();
  builder.write();
  EXPECT_EQ(to("folded"), "0 DIR/app.folded: 2 stacks, 500 ns blocked and 0 waiting for a CPU\n");
}

TEST_F(ExportCommand, QuietPrintsNothing) {
  for (const char *format : {"sqlite", "csv", "ovni", "perfetto"})
    EXPECT_EQ(to(format, {"-q"}), "0 ");
  EXPECT_EQ(to("folded", {"-q"}).find("stacks,"), std::string::npos);
}

TEST_F(ExportCommand, FoldedGoesToStandardOutput) {
  EXPECT_EQ(
      to("folded", {"-o", "-"}),
      "0 app;app;[blocked] 300\napp;app;[waiting for a CPU] 100\nb;b;[waiting for a CPU] 200\n");
  EXPECT_EQ(to("folded", {"-o", "-", "--per-thread"}),
            "0 app (11);app (11);[blocked] 300\napp (11);app (11);[waiting for a CPU] 100\n"
            "b (22);b (22);[waiting for a CPU] 200\n");
  EXPECT_EQ(to("folded", {"-o", "-", "--from", "500ns", "--to", "600ns"}),
            "0 app;app;[blocked] 100\n");
  EXPECT_EQ(to("csv", {"-o", "-"}), "2 ovnitrace: -o -: only --to folded can write to standard "
                                    "output: name a file\n");
}

TEST_F(ExportCommand, TakesAPartOfTheTrace) {
  EXPECT_EQ(to("sqlite", {"--from", "500ns", "--to", "600ns"}),
            "0 DIR/app.sqlite: 2 threads, 2 slices, 0 wakeups, 0 events\n");
  EXPECT_EQ(to("sqlite", {"-f", "--tid", "22"}),
            "0 DIR/app.sqlite: 1 thread, 3 slices, 0 wakeups, 4 events\n");
}

TEST_F(ExportCommand, RefusesWhatAFormatDoesNotTake) {
  EXPECT_EQ(run({"export", trace}),
            "2 ovnitrace: --to FORMAT is required: `ovnitrace export --help` lists the formats\n");
  EXPECT_EQ(run({"export", "csv", trace}),
            "2 ovnitrace: --to FORMAT is required: write `ovnitrace export --to csv`\n");
  EXPECT_EQ(to("ovni", {"--from", "1us"}),
            "2 ovnitrace: export --to ovni writes the whole trace: it takes no --from, --to TIME, "
            "--pid, --tid or --comm\n");
  EXPECT_EQ(to("csv", {"--critical-path"}),
            "2 ovnitrace: export --to csv cannot show a critical path: use --to perfetto or "
            "`ovnitrace convert`\n");
  EXPECT_EQ(to("perfetto", {"--section", "5"}), "2 ovnitrace: --section needs --critical-path\n");
  EXPECT_EQ(to("pprof", {"--per-thread"}), "2 ovnitrace: --per-thread needs --to folded\n");
  EXPECT_EQ(to("pprof", {trace}),
            "2 ovnitrace: export --to pprof takes one trace: tids of different hosts have nothing "
            "to do with each other. Export each trace by itself\n");
  const std::string help = "\nTry 'ovnitrace export --help'.\n";
  EXPECT_EQ(to("xml"), "2 ovnitrace: --to: 'xml' is neither a format nor a time: formats are ovni, "
                       "sqlite, csv, perfetto, folded, pprof, speedscope" +
                           help);
  EXPECT_EQ(to("csv", {"--to", "ovni"}), "2 ovnitrace: --to: 'ovni' is one format too many" + help);
  EXPECT_EQ(to("csv", {"--to", "1s", "--to", "2s"}),
            "2 ovnitrace: --to: '2s' is one time too many" + help);
}

TEST_F(ExportCommand, ReplacesOnlyAnEarlierExport) {
  to("csv");
  EXPECT_EQ(to("csv"), "1 ovnitrace: DIR/app.csv exists already; choose another with -o, or "
                       "replace an earlier output in it with -f\n");
  std::ofstream(dir / "app.csv/old.csv") << "x";
  EXPECT_EQ(to("csv", {"-f", "-q"}), "0 ");
  EXPECT_FALSE(exists("app.csv/old.csv"));
  std::ofstream(dir / "app.csv/notes.txt") << "x";
  EXPECT_EQ(to("csv", {"-f"}), "1 ovnitrace: DIR/app.csv is not replaced: it has files that are "
                               "not from an export, as notes.txt; choose another with -o\n");
  EXPECT_TRUE(exists("app.csv/slice-0001.csv"));
  to("folded");
  EXPECT_EQ(to("folded"), "1 ovnitrace: DIR/app.folded exists already; choose another with -o, or "
                          "let it be overwritten with -f\n");
  to("ovni");
  EXPECT_EQ(to("ovni", {"-f", "-q"}), "0 ");
  EXPECT_EQ(run({"export", "--to", "ovni", dir / "app.ovni", "-o", dir / "x"}),
            "2 ovnitrace: DIR/app.ovni is an ovni trace already\n");
}

TEST_F(ExportCommand, FailsForADamagedTraceAfterItsExport) {
  damage();
  for (const char *format :
       {"sqlite", "csv", "ovni", "perfetto", "folded", "pprof", "speedscope"}) {
    const std::string said = to(format, {"-q"});
    EXPECT_EQ(said.find("1 ovnitrace: "), 0u) << said;
    EXPECT_NE(said.find("warning: DIR/app/cpu0000.ftr, byte "), said.npos) << said;
  }
  EXPECT_TRUE(exists("app.sqlite") && exists("app.pb.gz"));
}

TEST_F(ExportCommand, SaysWhosePathItShows) {
  EXPECT_EQ(to("perfetto", {"--critical-path=22"}),
            "0 DIR/app.pftrace: 3 runs, 1 wakeup and 3 events of 2 threads in 0.0 MiB\n");
  EXPECT_EQ(to("perfetto", {"-f", "-q", "--critical-path", "--pid", "22"}),
            "0 ovnitrace: the critical path is that of b (22), which ran longest of those chosen, "
            "and of those that have not ended; --critical-path=TID chooses another\n");
}

} // namespace
} // namespace ovnitrace::test
