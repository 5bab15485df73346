// SPDX-License-Identifier: BSD-2-Clause
// The completion of bash, zsh and fish, asked as the shells are asked when a person presses Tab.
#include "tests/e2e/support/e2e.h"
#include "tests/unit/support/project_file.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace ovnitrace::test {

/// A shell, and a program for it that prints the candidates for the words $1 … of a line, one a
/// line. The last word is the one that is completed.
struct Shell {
  const char *name;
  const char *program; ///< %s: the folder of the completions
};

class Completion : public CaptureTest, public testing::WithParamInterface<Shell> {
protected:
  void SetUp() override {
    CaptureTest::SetUp();
    if (run({.argv = {GetParam().name, "-c", "true"}}).status() != 0)
      GTEST_SKIP() << GetParam().name << " is not installed";
    link = path("bin/ovnitrace");
    std::filesystem::create_directory(path("bin"));
    std::filesystem::create_symlink(ovnitrace(), link);
  }

  std::vector<std::string> candidates(std::vector<std::string> words) const {
    std::string program = GetParam().program;
    const std::string folder =
        std::filesystem::absolute(project_path("packaging/completion")).string();
    program.replace(program.find("%s"), 2, folder);
    words.insert(words.begin(), {GetParam().name, "-c", program});
    if (GetParam().name != std::string("fish")) // which has no $0
      words.insert(words.begin() + 3, "shell");
    const Outcome outcome =
        run({.argv = words,
             .env = {{"PATH", path("bin") + ":/usr/bin:/bin"}, {"HOME", directory()}},
             .cwd = directory()});
    std::istringstream lines(outcome.out);
    std::vector<std::string> all;
    for (std::string line; std::getline(lines, line);)
      all.push_back(line);
    std::sort(all.begin(), all.end());
    return all;
  }

  std::string link;
};

using Words = std::vector<std::string>;

bool has(const Words &words, const std::string &word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

TEST_P(Completion, OffersSubcommandsAndOptions) {
  EXPECT_EQ(candidates({"wh"}), Words{"why"});
  EXPECT_TRUE(has(candidates({""}), "record"));
  EXPECT_EQ(candidates({"info", "--so"}), Words{"--sort"});
  EXPECT_EQ(candidates({"help", "plo"}), Words{"plot"});
  EXPECT_TRUE(has(candidates({"why", "--"}), "--critical-path"));
  EXPECT_FALSE(has(candidates({"why", "--brief", "--"}), "--brief")) << "it is given";
}

TEST_P(Completion, OffersValuesFamiliesAndEvents) {
  EXPECT_EQ(candidates({"why", "--by", ""}), (Words{"cgroup", "name", "process", "thread"}));
  EXPECT_EQ(candidates({"record", "--filter", "sched,ir"}), Words{"sched,irq"});
  EXPECT_EQ(candidates({"record", "--filter", "+ti"}), Words{"+timer"});
  EXPECT_EQ(candidates({"record", "--trigger", "task_dea"}), Words{"task_deadline_miss"});
  EXPECT_TRUE(has(candidates({"export", "--to", ""}), "perfetto"));
}

TEST_P(Completion, OffersThreadsAndProcessesOfTheTraceInTheLine) {
  record({"sh", "-c", "sleep 0.01; true"});
  EXPECT_EQ(candidates({"why", trace(), "--comm", "sl"}), Words{"sleep"});
  const Words tids = candidates({"info", trace(), "--tid", ""});
  EXPECT_EQ(tids.size(), 2u);
  EXPECT_EQ(candidates({"info", trace(), "--tid", tids.at(0) + "," + tids.at(1)}),
            Words{tids.at(0) + "," + tids.at(1)});
  EXPECT_EQ(candidates({"dump", trace(), "--pid", ""}).size(), 2u);
}

TEST_P(Completion, OffersMarksOfTheTraceAndNamesOfProcesses) {
  record({"sh", "-c", ovnitrace() + " ctl " + trace() + " mark ready"});
  EXPECT_TRUE(has(candidates({"why", trace(), "--from", "mark:re"}),
                  GetParam().name == std::string("bash") ? "ready" : "mark:ready"));
  Process program({.argv = {"sleep", "60"}});
  EXPECT_TRUE(has(candidates({"record", "-p", "sle"}), "sleep"));
}

TEST_P(Completion, OffersFilesAndDirectories) {
  write_text(path("a file"), "");
  std::filesystem::create_directory(path("adir"));
  EXPECT_EQ(candidates({"record", "-o", "adi"}).size(), 1u);
  EXPECT_EQ(candidates({"convert", "ad"}).size(), 1u);
  EXPECT_EQ(candidates({"record", "--probe", "a"}).size(), 2u);
  EXPECT_EQ(candidates({"diff", "x", "--", "ad"}).size(), 1u) << "no program follows";
}

TEST_P(Completion, OffersNothingIfTheTraceDoesNotExist) {
  EXPECT_EQ(candidates({"why", "no/such", "--tid", ""}), Words{});
}

// bash: the function, called as readline calls it, with a line that is split at = and : as well.
// zsh: compadd prints in place of keeping. fish: it has a command for this.
INSTANTIATE_TEST_SUITE_P(Shells, Completion,
                         testing::Values(Shell{"bash", R"(
COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
source '%s/ovnitrace.bash'
COMP_WORDS=(ovnitrace "$@"); COMP_CWORD=$#; COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}
_ovnitrace
[[ ${#COMPREPLY[@]} -eq 0 ]] || printf '%s\n' "${COMPREPLY[@]}")"},
                                         Shell{"zsh", R"(
compadd() { local -a kept; while (($#)); do [[ $1 == -a ]] && kept=("${(@P)2}"); shift; done
  print -rl -- $kept }
compset() { }
_files() { local -a found
  [[ $1 == -/ ]] && found=("${words[CURRENT]}"*(N/)) || found=("${words[CURRENT]}"*(N))
  print -rl -- $found }
words=(ovnitrace "$@"); CURRENT=${#words}
source '%s/_ovnitrace')"},
                                         Shell{"fish", R"(
source '%s/ovnitrace.fish'
set -l line ovnitrace (string escape -- $argv)
test "$argv[-1]" = ""; and set line[-1] ""
complete -C "$line" | string replace -r '\t.*' '' | string unescape)"}),
                         [](const auto &info) { return info.param.name; });

} // namespace ovnitrace::test
