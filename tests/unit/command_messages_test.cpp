// SPDX-License-Identifier: BSD-2-Clause
// What commands refuse, and what they say besides their output.
#include "tests/unit/support/files.h"
#include "tests/unit/support/trace_command.h"

#include <gtest/gtest.h>
#include <ovnitrace/control.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <pwd.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace ovnitrace::test {
namespace {

class CommandMessages : public TraceCommand {
protected:
  /// Writes DIR/app anew. `fill` adds records of CPU 0 at 1000 ns, after the names of the contexts.
  template <class Fill> void rewrite(Fill fill) const {
    TraceBuilder builder(trace);
    builder.json(R"({"version": 1})");
    auto &cpu = builder.cpu(0).at(1000).start().id(1, 11, 11, "app").id(2, 22, 22, "b");
    fill(cpu, builder);
    cpu.at(9000).stop();
    builder.write();
  }
};

TEST_F(CommandMessages, ConvertTakesADirectoryAndAPartOfTheTrace) {
  EXPECT_EQ(run({"convert", trace, "-o", "-"}),
            "2 ovnitrace: -o -: a conversion is a directory of files: name it\n");
  EXPECT_EQ(run({"convert", trace, "--region", "1"}),
            "1 ovnitrace: --region 1: the trace has 0 regions; `ovnitrace info` lists them\n");
  EXPECT_EQ(
      run({"convert", trace, "--region", "1", "--from", "1us"}),
      "2 ovnitrace: --region excludes --from and --to: the region is the part of the trace\n");
  EXPECT_EQ(run({"convert", trace, "--cpu", "7"}),
            "1 ovnitrace: no CPU of the trace is in the part: `ovnitrace info` lists the CPUs\n");
}

constexpr uint32_t kStart = CONTROL_START << FTRACE_REGION_EVENT_SHIFT | 1;
constexpr uint32_t kStop = CONTROL_STOP << FTRACE_REGION_EVENT_SHIFT | 1;

TEST_F(CommandMessages, ARegionIsThePartOfTheTraceFromItsStartToItsStop) {
  rewrite([](ChunkBuilder &cpu, TraceBuilder &) {
    cpu.at(2000).record(FTrace_EXT_region, 1, kStart).snapshot(1, 1, 0).at(2500);
    cpu.record(FTrace_EXT_region, 1, kStop).at(4000);
    cpu.record(FTrace_EXT_region, 1, kStart).snapshot(1, 1, 0);
  });
  const auto length = [&](const std::string &region) {
    EXPECT_EQ(run({"convert", trace, "-q", "--region", region, "-o", dir / region}), "0 ");
    const std::string header = lines_of(dir / (region + "/thread.prv")).at(0);
    const size_t at = header.find("):") + 2;
    return std::stoull(header.substr(at)); // ns
  };
  EXPECT_EQ(length("1"), 500u);
  EXPECT_EQ(length("2"), 5000u) << "it had not stopped when the trace ended";
  EXPECT_EQ(run({"convert", trace, "--region", "3"}),
            "1 ovnitrace: --region 3: the trace has 2 regions; `ovnitrace info` lists them\n");
}

TEST_F(CommandMessages, DiffComparesTwoTraces) {
  EXPECT_EQ(run({"diff", trace}),
            "2 ovnitrace: give two traces, A B, or several runs of each, A1 A2 A3 -- B1 B2 B3\n");
  EXPECT_EQ(run({"diff", trace, trace, trace}).substr(0, 2), "2 ");
  for (const std::vector<std::string> &more : std::vector<std::vector<std::string>>{
           {"--json"}, {"--gate", "wall<+5%"}, {"--section", "7"}}) {
    std::vector<std::string> words = {"diff", trace, trace, "--to", "folded"};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(run(words), "2 ovnitrace: --to folded takes no --json, --gate or --section\n");
  }
}

TEST_F(CommandMessages, AValueOfTheWrongKindIsNamed) {
  EXPECT_EQ(run({"info", "--top", "x", trace}),
            "2 ovnitrace: --top: 'x' is no number of lines, 0 or more\nTry 'ovnitrace info "
            "--help'.\n");
  EXPECT_EQ(run({"why", "--top", "-1", trace}),
            "2 ovnitrace: --top: '-1' is no number of lines, 0 or more\nTry 'ovnitrace why "
            "--help'.\n");
  EXPECT_EQ(run({"info", "--from", "noon", trace}),
            "2 ovnitrace: --from: 'noon' is no time: write 1.5s, 200ms, 30us, 100ns, 2m or 1h, "
            "counted from the start of the trace, a time by the clock, as 14:03:07.5 or "
            "@1732345678, or a mark, such as mark:ready or mark:ready-5ms\n"
            "Try 'ovnitrace info --help'.\n");
}

TEST_F(CommandMessages, NumbersOfRowsHaveLimits) {
  for (const char *top : {"1", "1000"})
    EXPECT_EQ(run({"plot", "--color", "never", "--top", top, trace}).substr(0, 2), "0 ") << top;
  for (const char *top : {"0", "1001"})
    EXPECT_EQ(run({"plot", "--top", top, trace}).substr(0, 2), "2 ") << top;
  EXPECT_EQ(run({"diff", "--top", "4294967295", trace, trace}).substr(0, 2), "0 ");
  EXPECT_EQ(run({"diff", "--top", "4294967296", trace, trace}).substr(0, 2), "2 ");
}

TEST_F(CommandMessages, AnOvniTraceSaysWhereItDiffersFromTheCapture) {
  rewrite([](ChunkBuilder &cpu, TraceBuilder &) {
    cpu.id(3, 0, 0, "idle").dispatch(3).at(2000).dispatch(1).at(3000).dispatch(2).at(4000);
    cpu.blackout_start().at(5000).blackout_end(3).id(4, 22, 22, "again", 5000).at(6000);
    cpu.dispatch(4);
  });
  EXPECT_EQ(run({"export", "--to", "ovni", "-q", trace}),
            "0 ovnitrace: warning: 2 switches by which 2 threads left a CPU were not seen, as some "
            "kernels hide some: idle (0), app (11). Part of the time of these threads is Unknown; "
            "`ovnitrace convert --lint TRACE` lists the switches\n"
            "ovnitrace: 1 thread left out: ovni has no tid or pid 0 (docs/ovni.md)\n"
            "ovnitrace: 1 thread got another tid, because two had the same (docs/ovni.md)\n"
            "ovnitrace: 2 times a thread became unknown: shown as dead and flushing "
            "(docs/ovni.md)\n");
}

TEST_F(CommandMessages, APerfettoTraceSaysWhichRunsItLacks) {
  rewrite([](ChunkBuilder &cpu, TraceBuilder &builder) {
    cpu.dispatch(1).at(2000).snapshot(2, 1, 0);
    builder.cpu(1).at(1000).start().id(1, 33, 33, "c").at(3000).snapshot(1, 1, 9).at(9000).stop();
  });
  EXPECT_EQ(run({"export", "--to", "perfetto", "-q", trace}),
            "0 ovnitrace: 1 run is on no CPU: left out (docs/perfetto.md)\n");
}

TEST_F(CommandMessages, APageThatIsTooSmallSaysWhatItLacks) {
  EXPECT_EQ(run({"report", trace, "-f", "-o", dir / "a.html", "--max-size", "100k"}),
            "1 ovnitrace: the report of DIR/app does not fit into 102400 bytes, even without "
            "detail: give a larger --max-size, or a part of the trace with --from, --to, --pid or "
            "--comm\n");
}

/// Returns what `test` returns in a process of its own.
template <class Test> bool passes_in_child(Test test) {
  const pid_t child = fork();
  if (child == 0) {
    const bool passes = test();
    std::fflush(nullptr); // what has failed
    _exit(passes ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status == 0;
}

class CommandsOfOthers : public CommandMessages {
protected:
  void SetUp() override {
    if (geteuid() != 0 || !getpwnam("nobody"))
      GTEST_SKIP() << "only root can become the user nobody";
    unsetenv("SUDO_UID");
    unsetenv("SUDO_GID");
    std::filesystem::permissions(dir.path(), std::filesystem::perms::all);
  }
};

TEST_F(CommandsOfOthers, NoBrowserIsStartedAsRoot) {
  EXPECT_EQ(run({"report", trace, "-q", "--open"}),
            "0 ovnitrace: --open: no browser is started as root; open DIR/app/report.html "
            "yourself\n");
}

TEST_F(CommandsOfOthers, TheBrowserOfTheUserShowsThePage) {
  const std::string script = dir / "xdg-open", opened = dir / "opened", page = dir / "a.html";
  std::ofstream(script) << "#!/bin/sh\necho \"$* $HOME $USER $LOGNAME\" > " + opened + "\n";
  std::filesystem::permissions(script, std::filesystem::perms::all);
  const passwd *user = getpwnam("nobody");
  const auto opens = [&](const std::string &path, const std::string &said) {
    if (setresgid(user->pw_gid, user->pw_gid, user->pw_gid) != 0 ||
        setresuid(user->pw_uid, user->pw_uid, user->pw_uid) != 0)
      return false;
    setenv("PATH", path.c_str(), 1);
    const std::string found = run({"report", trace, "-q", "--open", "-f", "-o", page});
    while (wait(nullptr) > 0)
      ;
    EXPECT_EQ(found, said);
    return found == said;
  };
  EXPECT_TRUE(passes_in_child([&] { return opens(dir.path(), "0 "); }));
  EXPECT_EQ(text_of(opened), page + " " + user->pw_dir + " nobody nobody\n");
  EXPECT_TRUE(passes_in_child([&] {
    return opens("/nowhere", "0 ovnitrace: --open: cannot run xdg-open: No such file or directory; "
                             "open DIR/a.html yourself\n");
  }));
}

TEST_F(CommandsOfOthers, WhoCalledSudoIsToldHowToReadAsRoot) {
  std::filesystem::permissions(trace, std::filesystem::perms::owner_all);
  const auto info = [&] {
    const passwd *user = getpwnam("nobody");
    setenv("SUDO_UID", std::to_string(user->pw_uid).c_str(), 1);
    setenv("SUDO_GID", std::to_string(user->pw_gid).c_str(), 1);
    std::string words[] = {"ovnitrace", "info", trace};
    char *argv[] = {words[0].data(), words[1].data(), words[2].data()};
    const RootApp root("", "ovnitrace");
    add_commands(root, {});
    _exit(run_cli(root, 3, argv));
  };
  EXPECT_EXIT(info(), testing::ExitedWithCode(1),
              "/app: Permission denied; commands that read traces run as the user who called sudo: "
              "to read as root, sudo env -u SUDO_UID ovnitrace …\n$");
}

} // namespace
} // namespace ovnitrace::test
