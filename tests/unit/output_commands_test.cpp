// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace plot`, `convert`, `report`, `compress` and `config` as commands: where they write,
// what they print, and what they refuse.
#include "tests/unit/support/files.h"
#include "tests/unit/support/packed_page.h"
#include "tests/unit/support/trace_command.h"

#include <cstdlib>
#include <fstream>

namespace ovnitrace::test {
namespace {

class OutputCommands : public TraceCommand {};

TEST_F(OutputCommands, PlotPrintsTextOrWritesAnSvg) {
  const std::string text = run({"plot", trace, "--color", "never"});
  EXPECT_EQ(text.find("0 app -x\nbox, Linux 6.1, 1 CPU; 2 threads, 1.000 us\n\n"), 0u) << text;
  EXPECT_EQ(run({"plot", trace, "-o", dir / "a.svg"}),
            "0 ovnitrace: DIR/a.svg: box, Linux 6.1, 1 CPU; 2 threads, 1.000 us\n");
  EXPECT_EQ(run({"plot", trace, "-o", "-"}), "0 " + text_of(dir / "a.svg"));
  EXPECT_EQ(run({"plot", trace, "-o", dir / "a.svg"}),
            "1 ovnitrace: DIR/a.svg exists already; choose another with -o, or let it be "
            "overwritten with -f\n");
  EXPECT_EQ(run({"plot", trace, "-f", "-o", dir / "a.svg", "--from", "200ns", "--top", "1"}),
            "0 ovnitrace: DIR/a.svg: box, Linux 6.1, 1 CPU; 2 threads, 800 ns from 200 ns on\n");
}

TEST_F(OutputCommands, PlotHasTheColoursOfTheTerminal) {
  const auto colored = [&](const char *value, const char *start) {
    setenv("COLORTERM", value, 1);
    return run({"plot", trace, "--color", "always"}).find(start) != std::string::npos;
  };
  EXPECT_TRUE(colored("truecolor", "\x1b[38;2;"));
  EXPECT_TRUE(colored("24bit", "\x1b[38;2;"));
  EXPECT_TRUE(colored("yes", "\x1b[38;5;"));
  unsetenv("COLORTERM");
  EXPECT_NE(run({"plot", trace, "--color", "always"}).find("\x1b[38;5;"), std::string::npos);
  EXPECT_EQ(run({"plot", trace, "--color", "never"}).find('\x1b'), std::string::npos);
}

TEST_F(OutputCommands, PlotRefusesWhatItCannotDraw) {
  EXPECT_EQ(run({"plot", trace, "-o", dir / "a.png"}),
            "2 ovnitrace: -o DIR/a.png: a figure is SVG: give a name that ends in .svg; "
            "`rsvg-convert` or a browser makes other formats of it\n");
  EXPECT_EQ(run({"plot", trace, "--arrows"}), "2 ovnitrace: --arrows needs -o FILE.svg\n");
  EXPECT_EQ(run({"plot", trace, "--from", "10ns", "--to", "10ns"}),
            "2 ovnitrace: --from and --to are the same time: a figure needs a range to draw\n");
  EXPECT_EQ(run({"plot", trace, "--section", "1"}),
            "2 ovnitrace: --section needs --critical-path\n");
  damage();
  EXPECT_EQ(run({"plot", trace, "-o", "-"}).substr(0, 6), "1 <svg");
}

TEST_F(OutputCommands, ConvertReplacesAnOutputOnlyIfItMay) {
  EXPECT_EQ(run({"convert", trace, "-q", "-o", dir / "out"}), "0 ");
  EXPECT_EQ(run({"convert", trace, "-q", "-o", dir / "out"}),
            "1 ovnitrace: DIR/out exists already; choose another with -o, or replace an earlier "
            "output in it with -f\n");
  EXPECT_EQ(run({"convert", trace, "-q", "-f", "-o", dir / "out"}), "0 ");
}

TEST_F(OutputCommands, TheAdviceOnAPageIsAboutThePage) {
  const std::string waits = dir / "waits";
  std::filesystem::create_directory(waits);
  TraceBuilder builder(waits);
  builder.json(R"({"version": 1, "machine": "x86_64", "command": ["app"], "program_pid": 10})");
  auto &cpu = builder.cpu(0).at(0).start().id(1, 10, 10, "app").id(2, 11, 10, "worker").dispatch(1);
  cpu.at(10'000'000).sleep(1, 11).dispatch(2).at(90'000'000).activate(1, 11);
  cpu.epilogue(2, 10).dispatch(1).at(100'000'000).stop();
  builder.write();
  ASSERT_EQ(run({"report", waits, "-q", "--from", "1ms"}), "0 ");
  const PackedPage page(text_of(waits + "/report.html"));
  EXPECT_EQ(page.summary["answer"]["advice"].get<std::string>().find(
                "Try `ovnitrace why " + waits + " --from 1ms --critical-path`: "),
            0u)
      << page.summary["answer"];
}

TEST_F(OutputCommands, ReportIsInTheTraceOrWhereItIsWanted) {
  EXPECT_EQ(
      run({"report", trace}).find("0 ovnitrace: DIR/app/report.html: 8 events of 2 threads in "),
      0u);
  EXPECT_EQ(run({"report", trace, "-q"}), "0 ") << "its own page is replaced";
  EXPECT_TRUE(exists("app/report.html"));
  EXPECT_EQ(run({"report", trace, "-q", "-o", dir / "a.html"}), "0 ");
  EXPECT_EQ(run({"report", trace, "-o", dir / "a.html"}),
            "1 ovnitrace: DIR/a.html exists already; choose another with -o, or let it be "
            "overwritten with -f\n");
  EXPECT_EQ(run({"report", trace, "-q", "-f", "-o", dir / "a.html"}), "0 ");
  damage();
  EXPECT_EQ(run({"report", trace, "-q"}).find("1 ovnitrace: warning: "), 0u);
}

TEST_F(OutputCommands, ReportShowsThePathOfTheOnlyChosenThread) {
  const auto path_of = [&](const char *tids) {
    EXPECT_EQ(run({"report", trace, "-q", "--tid", tids}), "0 ");
    return PackedPage(text_of(trace + "/report.html"))
        .header["critical_path"]["paths"][0]["thread"]
        .get<int>();
  };
  EXPECT_EQ(path_of("22"), 1);
  EXPECT_EQ(path_of("22,11"), 0) << "that of the program's main thread";
}

TEST_F(OutputCommands, ReportHasThePathsOfSixteenThreads) {
  TraceBuilder builder(trace);
  auto &cpu = builder.cpu(0).at(1000).start();
  for (uint16_t n = 1; n <= 18; n++)
    cpu.id(n, 10u + n, 11, "app").dispatch(n).at(1000 + 100 * n).sleep(n);
  cpu.stop();
  builder.write();
  EXPECT_EQ(run({"report", trace, "-q"}), "0 ");
  const PackedPage page(text_of(trace + "/report.html"));
  EXPECT_EQ(page.header["critical_path"]["paths"].size(), 16u);
}

TEST_F(OutputCommands, ReportRefusesWhatIsNoPage) {
  EXPECT_EQ(run({"report", trace, "-o", dir / "a.svg"}),
            "2 ovnitrace: -o DIR/a.svg: a report is HTML: give a name that ends in .html; a "
            "browser prints it as PDF\n");
  EXPECT_EQ(run({"report", trace, "-q", "-o", dir / "a.htm"}), "0 ");
  EXPECT_EQ(run({"report", trace, "-o", "-"}),
            "2 ovnitrace: -o -: a report is a file for the browser: name it\n");
  EXPECT_EQ(run({"report", trace, "--align", "m"}), "2 ovnitrace: --align needs --against TRACE\n");
  EXPECT_EQ(run({"report", trace, "--section", "1"}),
            "2 ovnitrace: --section needs --critical-path\n");
  EXPECT_EQ(
      run({"report", trace, "--against", trace, "--critical-path=11"}),
      "2 ovnitrace: --against shows the critical paths of both programs: leave out the TID of "
      "--critical-path\n");
  EXPECT_EQ(run({"report", trace, "--against", dir / "none"}),
            "2 ovnitrace: --against compares two trace directories, but DIR/none is not one\n");
  EXPECT_EQ(run({"report", trace, "--max-size", "1000"}),
            "1 ovnitrace: the report of DIR/app does not fit into 1000 bytes, even without detail: "
            "give a larger --max-size, or a part of the trace with --from, --to, --pid or "
            "--comm\n");
}

TEST_F(OutputCommands, CompressSaysHowManyBytesThereAre) {
  const auto plain = std::filesystem::file_size(trace + "/cpu0000.ftr");
  const std::string said = run({"compress", trace});
  const auto packed = std::filesystem::file_size(trace + "/cpu0000.ftr.zst");
  EXPECT_EQ(said, "0 DIR/app: 1 file, " + std::to_string(plain) + " bytes before, " +
                      std::to_string(packed) + " after\n");
  EXPECT_EQ(run({"compress", trace}), "0 DIR/app: 1 file compressed already: nothing to do; for "
                                      "another level, decompress first (-d)\n");
  EXPECT_EQ(run({"compress", "-d", trace}), "0 DIR/app: 1 file, " + std::to_string(packed) +
                                                " bytes before, " + std::to_string(plain) +
                                                " after\n");
  EXPECT_EQ(run({"compress", "-d", trace}), "0 DIR/app: 1 file plain already: nothing to do\n");
  EXPECT_EQ(run({"compress", "-q", "-l", "19", trace}), "0 ");
  EXPECT_EQ(run({"compress", "-l", "20", trace}).substr(0, 2), "2 ");
  EXPECT_EQ(run({"compress", "-l", "0", trace}).substr(0, 2), "2 ");
  EXPECT_EQ(run({"compress", "-d", "-l", "3", trace}).substr(0, 2), "2 ");
}

TEST_F(OutputCommands, HelpNamesACommandThatIsNearlyRight) {
  EXPECT_EQ(run({"help", "inof"}), "2 ovnitrace: there is no command inof; did you mean `info`?\n"
                                   "Try 'ovnitrace --help'.\n");
  EXPECT_EQ(run({"help", "zzz"}),
            "2 ovnitrace: there is no command zzz\nTry 'ovnitrace --help'.\n");
  EXPECT_EQ(run({"help", "dump"}), run({"dump", "--help"}));
  EXPECT_EQ(run({"help"}), run({"--help"}));
}

TEST_F(OutputCommands, UnexpectedWordsAreNamedWithWhatWasMeant) {
  const auto refused = [&](const std::vector<std::string> &words) {
    const std::string said = run(words), start = "2 ovnitrace: not expected: ";
    EXPECT_EQ(said.find(start), 0u) << said;
    return said.substr(std::min(start.size(), said.size()), said.find('\n') - start.size());
  };
  EXPECT_EQ(refused({"dump", trace, "--jso"}), "--jso; there is --json");
  EXPECT_EQ(refused({"dump", trace, "--jsom=1"}), "--jsom=1; there is --json")
      << "--from is like it, too, but less so";
  EXPECT_EQ(refused({"dump", trace, "--frobnicate"}), "--frobnicate");
  EXPECT_EQ(refused({"--arrows", trace}), "--arrows; `ovnitrace plot` has this option");
  EXPECT_EQ(refused({"--json", trace}), "--json") << "several commands have it";
  EXPECT_EQ(refused({"reprot", trace}), "reprot DIR/app; did you mean `report`?");
  EXPECT_EQ(run({"dump", "--from=", trace}),
            "2 ovnitrace: --from=: there is nothing after the =\n");
  EXPECT_EQ(run({"dump", "--from", "", trace}), "2 ovnitrace: --from: its value is empty\n");
}

TEST_F(OutputCommands, ConfigPrintsWhichOptionsAreSetWhere) {
  unsetenv("SUDO_UID");
  setenv("XDG_CONFIG_HOME", dir.path().c_str(), 1);
  const auto config = [&](std::vector<std::string> options) {
    options.insert(options.begin(), "config");
    return run(options);
  };
  const std::string missing = "  (not there, or not readable)\n",
                    head = "0 FILES, the last one overrides the others:\n";
  EXPECT_EQ(config({}), head + "  /etc/ovnitrace/config" + missing + "  DIR/ovnitrace/config" +
                            missing + "\nNo option is configured.\n");
  std::filesystem::create_directory(dir / "ovnitrace");
  std::ofstream(dir / "ovnitrace/config") << "[info]\ntop = 7\n\n[compress]\nlevel = 3\n";
  EXPECT_EQ(config({}), head + "  /etc/ovnitrace/config" + missing +
                            "  DIR/ovnitrace/config\n\n"
                            "COMMAND   OPTION  VALUE  FROM\n"
                            "info      top     7      DIR/ovnitrace/config:2\n"
                            "compress  level   3      DIR/ovnitrace/config:5\n");
  EXPECT_EQ(config({"--json"}), R"(0 {
 "schema": 1,
 "files": [
  {
   "path": "/etc/ovnitrace/config",
   "read": false
  },
  {
   "path": "DIR/ovnitrace/config",
   "read": true
  }
 ],
 "options": [
  {
   "command": "info",
   "option": "top",
   "value": "7",
   "file": "DIR/ovnitrace/config",
   "line": 2
  },
  {
   "command": "compress",
   "option": "level",
   "value": "3",
   "file": "DIR/ovnitrace/config",
   "line": 5
  }
 ]
}
)");
  unsetenv("XDG_CONFIG_HOME");
}

} // namespace
} // namespace ovnitrace::test
