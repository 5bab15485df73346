// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace why` as a command: what its options select, and what it refuses.
#include "emulator/cli/commands.h"
#include "tests/unit/support/count_in.h"
#include "tests/unit/support/trace_command.h"

#include <nlohmann/json.hpp>

namespace ovnitrace::test {
namespace {

class WhyCommandLine : public TraceCommand {
protected:
  std::string why(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"ovnitrace", "why", trace});
    std::vector<char *> argv;
    for (std::string &word : more)
      argv.push_back(word.data());
    const RootApp app("", "ovnitrace"); // the other commands would take most of the time
    add_why(app);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int status = run_cli(app, int(argv.size()), argv.data());
    std::string said = std::to_string(status) + " " + testing::internal::GetCapturedStdout();
    said += testing::internal::GetCapturedStderr();
    for (size_t at; (at = said.find(dir.path())) != said.npos;)
      said.replace(at, dir.path().size(), "DIR");
    return said;
  }
  nlohmann::json json(std::vector<std::string> more = {}) {
    more.push_back("--json");
    return nlohmann::json::parse(why(more).substr(2));
  }
  /// Writes a trace in which so many threads follow one another: each wakes the next one.
  void chain(uint16_t threads) {
    TraceBuilder builder(trace);
    builder.json(R"({"version": 1, "cpu_holders": true})");
    auto &cpu = builder.cpu(0).at(50);
    for (uint16_t n = 1; n <= threads; n++)
      cpu.id(n, 100u + n, 100u + n, "stage").snapshot(n, n == 1 ? 1 : 2, 0);
    cpu.at(1000).start();
    for (uint16_t n = 1; n < threads; n++) {
      cpu.at(1000 + 10u * n).activate(uint16_t(n + 1), 100u + n).sleep(n, 101u + n);
      cpu.dispatch(uint16_t(n + 1));
    }
    cpu.at(1000 + 10u * threads).stop();
    builder.write();
  }
  static bool has(const std::string &text, const std::string &part) {
    return text.find(part) != text.npos;
  }
};

TEST_F(WhyCommandLine, ByChoosesTheTableOfThreads) {
  const auto by = [&](const char *word) { return why({"--by", word}); };
  EXPECT_TRUE(has(by("thread"), "\nTHREAD  "));
  EXPECT_TRUE(has(by("process"), "\nPROCESS   THREADS  "));
  EXPECT_TRUE(has(by("name"), "\nNAME  THREADS  "));
  const std::string cgroups = by("cgroup");
  EXPECT_TRUE(has(cgroups, "\nCGROUP  "));
  EXPECT_FALSE(has(cgroups, "\nTHREAD  "));
  EXPECT_EQ(by("host").substr(0, 2), "2 ");
}

TEST_F(WhyCommandLine, BriefPrintsOnlyTheAnswer) {
  const std::string brief = why({"--brief"}), whole = why();
  EXPECT_EQ(brief.find("0 app"), 0u) << brief;
  EXPECT_FALSE(has(brief, "WHERE THE TIME WENT"));
  EXPECT_TRUE(has(whole, "WHERE THE TIME WENT"));
  EXPECT_TRUE(has(whole, "\nTHREAD  ")) << "the usual table";
  EXPECT_FALSE(has(whole, " LATENCY\n"));
  EXPECT_EQ(whole.find(brief.substr(0, brief.find('.'))), 0u) << "the same answer";
}

TEST_F(WhyCommandLine, LatencyIsAColumnByWhichTheTableIsSorted) {
  const std::string latency = why({"--latency"});
  EXPECT_TRUE(has(latency, " LATENCY\n")) << latency;
  EXPECT_LT(latency.find("\napp (11)"), latency.find("\nb (22)"));
  EXPECT_EQ(why({"--sort", "latency"}), latency);
  EXPECT_EQ(why({"--latency", "--sort", "waiting"}).substr(0, 2), "2 ");
}

TEST_F(WhyCommandLine, APathIsPrintedAlone) {
  const std::string path = why({"--critical-path"});
  EXPECT_EQ(path.find("0 Critical path of app (11): 1.000 us, from 0 to 1.000 us of the trace\n"),
            0u)
      << path;
  EXPECT_FALSE(has(path, "WHERE THE TIME WENT"));
  EXPECT_EQ(why({"--critical-path=22"})
                .find("0 Critical path of b (22): 1.000 us, from 0 to 1.000 us of the trace\n"),
            0u);
  EXPECT_EQ(why({"--critical-path", "--tid", "22"}).find("0 Critical path of b (22)"), 0u)
      << "the only thread that is chosen";
  EXPECT_EQ(why({"--critical-path=22", "--tid", "11"}).find("0 Critical path of b (22)"), 0u);
  EXPECT_EQ(why({"--critical-path", "--to", "500ns"})
                .find("0 Critical path of app (11): 500 ns, from 0 to 500 ns of the trace\n"),
            0u);
  EXPECT_TRUE(has(why({"--critical-path=0"}), "'0' is no thread id"));
}

TEST_F(WhyCommandLine, OfSeveralChosenThreadsThePathIsTheMainThreads) {
  EXPECT_EQ(why({"--critical-path", "--tid", "22,11"}).find("0 Critical path of app (11)"), 0u)
      << why({"--critical-path", "--tid", "22,11"});
}

TEST_F(WhyCommandLine, JsonHasThePathBesideTheRest) {
  const nlohmann::json with = json({"--critical-path"});
  EXPECT_EQ(with["critical_path_of"]["tid"], 11);
  EXPECT_EQ(with["threads"].size(), 2u);
  EXPECT_EQ(with["trace"], "DIR/app");
  EXPECT_FALSE(json().contains("critical_path"));
  EXPECT_EQ(json({"--tid", "22"})["threads"].size(), 1u);
}

TEST_F(WhyCommandLine, APathHasTwentyLinesUnlessToldOtherwise) {
  const auto lines = [&](std::vector<std::string> more) {
    more.insert(more.begin(), "--critical-path=125");
    const std::string text = why(more);
    return std::pair(test::count_in(text, "\nstage"), has(text, "\nthe rest "));
  };
  chain(25);
  EXPECT_EQ(lines({}), std::pair(size_t(20), true)) << why({"--critical-path=125"});
  EXPECT_EQ(lines({"--top", "0"}), std::pair(size_t(25), false));
  EXPECT_EQ(lines({"--top", "3"}), std::pair(size_t(3), true));
  EXPECT_EQ(lines({"--by", "name"}), std::pair(size_t(1), false)) << "all have one name";
}

TEST_F(WhyCommandLine, WhatDoesNotGoTogetherIsRefused) {
  EXPECT_EQ(why({"--json", "--brief"}),
            "2 ovnitrace: --brief does not go with --json: the JSON has the short answer as "
            "`answer`\n");
  for (const char *by : {"process", "cgroup"})
    EXPECT_EQ(why({"--critical-path", "--by", by}),
              "2 ovnitrace: --critical-path takes --by thread or --by name\n");
  for (const char *by : {"thread", "name"})
    EXPECT_EQ(why({"--critical-path", "--by", by}).substr(0, 2), "0 ");
  EXPECT_EQ(why({"--section", "7"}),
            "2 ovnitrace: --section needs --critical-path or --slowest N\n");
  EXPECT_EQ(why({"--slowest", "1"}).substr(0, 2), "2 ");
  EXPECT_EQ(why({"--slowest", "1", "--section", "7"}),
            "1 ovnitrace: no section 7 starts and ends in this part of the trace\n");
  for (const std::vector<std::string> &more : std::vector<std::vector<std::string>>{
           {"--brief"}, {"--sort", "life"}, {"--top", "1"}, {"--by", "name"}, {"--latency"}}) {
    std::vector<std::string> words = {"--slowest", "1", "--section", "7"};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(why(words).substr(0, 2), "2 ") << more[0];
  }
  for (const std::vector<std::string> &more :
       std::vector<std::vector<std::string>>{{"--brief"}, {"--sort", "life"}, {"--latency"}}) {
    std::vector<std::string> words = {"--critical-path"};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(why(words).substr(0, 2), "2 ") << more[0];
  }
}

TEST_F(WhyCommandLine, NumbersHaveLimits) {
  for (const char *depth : {"1", "1000"})
    EXPECT_EQ(why({"--depth", depth}).substr(0, 2), "0 ") << depth;
  for (const char *depth : {"0", "1001"})
    EXPECT_EQ(why({"--depth", depth}).substr(0, 2), "2 ") << depth;
  for (const char *slowest : {"0", "1001"})
    EXPECT_EQ(why({"--slowest", slowest, "--section", "7"}).substr(0, 2), "2 ") << slowest;
  EXPECT_EQ(why({"--slowest", "1000", "--section", "7"}).substr(0, 2), "1 ");
}

TEST_F(WhyCommandLine, ADamagedTraceIsExplainedAndReported) {
  damage();
  const std::string text = why();
  EXPECT_EQ(text.substr(0, 2), "1 ") << text;
  EXPECT_TRUE(has(text, "WHERE THE TIME WENT")) << text;
  EXPECT_EQ(why({"--critical-path"}).substr(0, 2), "1 ");
}

} // namespace
} // namespace ovnitrace::test
