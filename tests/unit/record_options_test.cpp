// SPDX-License-Identifier: BSD-2-Clause
// The words of `ovnitrace record`: what they set, and which values are refused.
#include "emulator/cli/complete.h"
#include "tests/unit/support/all_commands.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/record_arguments.h"
#include "user/cli/record_options.h"

#include <CLI/App.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

namespace ovnitrace {
namespace {

using Words = std::vector<std::string>;
using Pids = std::vector<uint32_t>;

RecordArguments parsed(Words words) {
  RecordArguments arguments;
  CLI::App command{"", "record"};
  add_record_options(command, arguments);
  std::reverse(words.begin(), words.end());
  command.parse(words);
  return arguments;
}

std::string refusal(const Words &words) {
  return test::error_from([&] { parsed(words); });
}

TEST(RecordOptions, ADurationIsAboveZeroAndUpToAYear) {
  EXPECT_EQ(parsed({"-d", "30us"}).options.duration, 30'000u);
  EXPECT_EQ(parsed({"-d", "2"}).options.duration, 2'000'000'000u);
  EXPECT_EQ(parsed({"-d", "8784h"}).options.duration, 366ull * 86400 * 1'000'000'000);
  for (const std::string wrong : {"0", "31622401", "soon"})
    EXPECT_EQ(refusal({"-d", wrong}), "--duration: '" + wrong +
                                          "' is no time above 0 and up to a year: write 10s, "
                                          "200ms, 30us, 5m or 1h; a number alone is in seconds");
}

TEST(RecordOptions, EachProcessIsTakenOnce) {
  const RecordArguments given = parsed({"-p", "34,12", "-p", "12,56"});
  EXPECT_EQ(given.options.pids, (Pids{34, 12, 56}));
  EXPECT_TRUE(given.options.named_pids.empty());
  EXPECT_TRUE(given.notes.empty());
  for (const std::string wrong : {"0", "4194304", "-1", ""})
    EXPECT_EQ(refusal({"-p", "12," + wrong}), "--pid: give a whole number from 1 to 4194303, not " +
                                                  (wrong.empty() ? "nothing" : wrong));
  EXPECT_EQ(parsed({"-p", "4194303"}).options.pids, Pids{4194303});
}

TEST(RecordOptions, TheNumberOfProcessesIsLimited) {
  std::string list = "1";
  for (int pid = 2; pid <= 64; pid++)
    list += fmt::format(",{}", pid);
  EXPECT_EQ(parsed({"-p", list}).options.pids.size(), 64u);
  EXPECT_EQ(refusal({"-p", list, "-p", "65"}),
            "--pid: 65 processes are more than 64, the limit; name only their parent, and its "
            "children are traced, too");
}

/// A process of that name that does nothing.
class Named {
public:
  explicit Named(const char *name) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_NAME, name);
      (void)!write(ready[1], "", 1);
      for (;;)
        pause();
    }
    char byte;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
  }
  ~Named() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  uint32_t pid() const { return uint32_t(pid_); }

private:
  pid_t pid_;
};

TEST(RecordOptions, ANameIsAllProcessesThatHaveIt) {
  const Named one("ovt-option-a"), other("ovt-option-b");
  const Pids both = {std::min(one.pid(), other.pid()), std::max(one.pid(), other.pid())};
  const RecordArguments given = parsed({"-p", "7,ovt-option-*"});
  EXPECT_EQ(given.options.pids, (Pids{7, both[0], both[1]}));
  EXPECT_EQ(given.options.named_pids, both);
  const auto name = [&](uint32_t pid) { return pid == one.pid() ? 'a' : 'b'; };
  EXPECT_EQ(given.notes,
            Words{fmt::format("-p ovt-option-* is ovt-option-{} ({}), ovt-option-{} ({})",
                              name(both[0]), both[0], name(both[1]), both[1])});
  const RecordArguments twice = parsed({"-p", fmt::format("{},ovt-option-a", one.pid())});
  EXPECT_EQ(twice.options.pids, Pids{one.pid()});
  EXPECT_TRUE(twice.options.named_pids.empty()) << "it was given by its number";
  EXPECT_EQ(refusal({"-p", "ovt-option-c"}),
            "--pid ovt-option-c: no process has this name or number; `pgrep -l ovt-option-c` lists "
            "similar names");
}

TEST(RecordOptions, NumbersHaveLimits) {
  struct {
    std::string option;
    uint64_t least, most;
  } const cases[] = {
      {"--keep", 1, 1'000'000},  {"--max-saves", 1, 1'000'000}, {"--chunks", 1, 65536},
      {"--stack-depth", 1, 126}, {"--skip", 0, INT64_MAX},      {"--length", 1, INT64_MAX},
  };
  for (const auto &[option, least, most] : cases) {
    EXPECT_EQ(refusal({option, std::to_string(least)}), "");
    EXPECT_EQ(refusal({option, std::to_string(most)}), "");
    const std::string above = std::to_string(most + 1),
                      why = fmt::format("{}: give a whole number from {} to {}, not ", option,
                                        least, most);
    EXPECT_EQ(refusal({option, above}), why + above);
    if (least) {
      EXPECT_EQ(refusal({option, "0"}), why + "0");
    }
  }
}

TEST(RecordOptions, SwitchesSetWhatTheySay) {
  const RecordOptions none = parsed({}).options;
  EXPECT_TRUE(none.children && none.cmdlines);
  EXPECT_FALSE(none.all || none.debuginfod || none.early_out || none.quiet || none.force);
  EXPECT_FALSE(parsed({"--no-children"}).options.children);
  EXPECT_FALSE(parsed({"--no-cmdline"}).options.cmdlines);
  EXPECT_TRUE(parsed({"-a"}).options.all);
  EXPECT_TRUE(parsed({"--debuginfod"}).options.debuginfod);
  EXPECT_TRUE(parsed({"--early-out"}).options.early_out);
  EXPECT_TRUE(parsed({"-q"}).options.quiet);
  EXPECT_TRUE(parsed({"-f"}).options.force);
  EXPECT_EQ(parsed({"--stacks"}).stacks, "blocks");
  EXPECT_EQ(parsed({"--compress"}).compress, "1");
  EXPECT_EQ(parsed({"--probe", "a", "--probe", "b"}).options.probe_files, (Words{"a", "b"}));
  EXPECT_EQ(parsed({"--control", "a", "--control", "b"}).options.control, (Words{"a", "b"}));
  EXPECT_EQ(parsed({"--trigger", "a", "--trigger", "b"}).triggers, (Words{"a", "b"}));
  EXPECT_EQ(parsed({"-m", "512K"}).options.ring_bytes, 512u << 10);
  EXPECT_EQ(parsed({"--chunk-size", "2M"}).options.chunk_bytes, 2u << 20);
}

class RecordWords : public test::AllCommands {
protected:
  std::string of(const Words &words) { return completions(app, words, kProgramCommands); }
};

TEST_F(RecordWords, AreOfferedByTheShell) {
  EXPECT_EQ(of({"record", "--control", "stop:i"}),
            "stop:icount:\t\nstop:itext:\t\nstop:isa-extension:\t\nstop:isa-category:\t\n"
            "stop:int3\t\nstop:interactive\t\n:words\n");
  EXPECT_EQ(of({"record", "--control", "precond:t"}), "precond:timeout:\t\n:words\n");
  EXPECT_EQ(of({"record", "--region", ""}), "global\t\nthread\t\n:words\n");
  EXPECT_EQ(of({"record", "--buffer", ""}), "disk\t\nlast:\t\nstop:\t\n:words\n");
  EXPECT_EQ(of({"record", "--stacks=user,w"}), "--stacks=user,wakeup\t\n:words\n");
  EXPECT_EQ(of({"record", "--filter", "sched,no"}), "sched,none\t\n:words\n");
  EXPECT_EQ(of({"record", "--trigger", "bl"}).substr(0, 11), "blocked:\t\n:");
  EXPECT_EQ(of({"top", "--by", ""}), "thread\t\nprocess\t\nname\t\n:words\n");
}

TEST(RecordOptions, AllThreadsAndChosenProcessesExcludeEachOther) {
  EXPECT_NE(refusal({"-a", "-p", "12"}), "");
}

} // namespace
} // namespace ovnitrace
