// SPDX-License-Identifier: BSD-2-Clause
// The critical path of a real pipeline, whose slowest stage is known.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/preempt_rt.h"

#include <nlohmann/json.hpp>

namespace ovnitrace::test {

using nlohmann::json;

class Pipeline : public CaptureTest {
protected:
  static constexpr uint64_t kItems = 40, kSlowNs = 5'000'000;

  json why(std::vector<std::string> options) {
    std::vector<std::string> argv = {ovnitrace(), "why", trace(), "--json", "--critical-path"};
    argv.insert(argv.end(), options.begin(), options.end());
    const Outcome outcome = run({.argv = argv});
    EXPECT_EQ(outcome.status(), 0) << outcome.err;
    return json::parse(outcome.out);
  }
  static uint64_t sum(const json &path) {
    uint64_t ns = 0;
    for (const json &row : path)
      ns += row["ns"].get<uint64_t>();
    return ns;
  }
  static bool is_sleep(const json &row) {
    return row.value("call", "").find("nanosleep") != std::string::npos;
  }
  /// Returns how long the stage slept. On a busy machine this is less than it asked for: its timer
  /// runs already while the stage still has, or waits for, its CPU.
  static uint64_t slept(const json &threads) {
    uint64_t ns = 0;
    for (const json &thread : threads)
      for (const json &row : thread["blocked"])
        ns += is_sleep(row) ? row["ns"].get<uint64_t>() : 0;
    return ns;
  }
  /// The sleeps of the slow stage are on the path, because all later stages waited for it. If a
  /// later stage had to wait for a CPU on a busy machine, the path is with that stage meanwhile. No
  /// other stage sleeps.
  static void expect_slow_stage(const json &all, const json &path) {
    uint64_t ns = 0, count = 0, of_others = 0;
    for (const json &row : path) {
      if (row["name"] != "stage-1")
        of_others += row["ns"].get<uint64_t>();
      if (!is_sleep(row))
        continue;
      EXPECT_EQ(row["name"], "stage-1") << row;
      EXPECT_TRUE(ends_sleeps(row["cause"]) || row["cause"] == "blocked in clock_nanosleep")
          << row << ": a machine that hides what its own agent does hides wakeups, too";
      ns += row["ns"].get<uint64_t>();
      count += row["count"].get<uint64_t>();
    }
    EXPECT_LE(count, kItems) << path;
    EXPECT_LE((kItems - count) * kSlowNs, of_others) << path;
    EXPECT_LE(ns, slept(all["threads"])) << path;
    EXPECT_GE(ns + of_others, slept(all["threads"])) << path;
  }
};

TEST_F(Pipeline, TheSlowestStageIsOnThePathWheneverItSleeps) {
  record({installed("pipeline"), std::to_string(kItems), std::to_string(kSlowNs / 1000)});
  const json all = why({});
  EXPECT_EQ(all["critical_path_of"]["name"], "pipeline");
  const uint64_t from = all["critical_path_of"]["from_ns"];
  EXPECT_GT(from, 0u) << "the program first waits for ovnitrace";
  EXPECT_LE(all["critical_path_of"]["to_ns"], all["duration_ns"]) << "it ends with its thread";
  EXPECT_EQ(sum(all["critical_path"]) + from, all["critical_path_of"]["to_ns"]);
  for (const json &row : all["critical_path"])
    EXPECT_EQ(row["cause"].get<std::string>().find("outside: ovnitrace"), std::string::npos) << row;
  expect_slow_stage(all, all["critical_path"]);

  const json section = why({"--section", "1"});
  const json &of = section["critical_path_of"];
  EXPECT_EQ(of["name"], "pipeline");
  EXPECT_GT(of["from_ns"], 0);
  EXPECT_LT(of["to_ns"], all["duration_ns"]);
  EXPECT_EQ(sum(section["critical_path"]),
            of["to_ns"].get<uint64_t>() - of["from_ns"].get<uint64_t>());
  expect_slow_stage(all, section["critical_path"]);
  for (const json &row : section["critical_path"])
    EXPECT_NE(row["cause"], "ended") << row;
}

TEST_F(Pipeline, ThePathIsInATableARowOfParaverAndAFigure) {
  record({installed("pipeline")});
  const Outcome table = run({.argv = {ovnitrace(), "why", "--critical-path", trace()}});
  EXPECT_EQ(table.status(), 0) << table.err;
  EXPECT_NE(table.out.find("Critical path of pipeline ("), std::string::npos) << table.out;
  for (const std::string &line : lines_of(table.out))
    EXPECT_LE(line.size(), 100u) << line;
  EXPECT_EQ(run({.argv = {ovnitrace(), "convert", "--critical-path", trace()}}).status(), 0);
  EXPECT_NE(read_text(trace() + "/thread.row").find("critical path of pipeline ("),
            std::string::npos);
  const std::string svg = path("run.svg");
  EXPECT_EQ(run({.argv = {ovnitrace(), "plot", "--critical-path", trace(), "-o", svg}}).status(),
            0);
  EXPECT_NE(read_text(svg).find("class=\"critical\""), std::string::npos);
  EXPECT_EQ(run({.argv = {ovnitrace(), "why", "--critical-path=1", trace()}}).status(), 1);
}

/// A kernel worker's item belongs to the thread that queued it. The time before belongs to that
/// writer, whatever else the worker did meanwhile, and whether the worker is traced or not.
class TerminalPipeline : public Pipeline, public ::testing::WithParamInterface<bool> {};

TEST_P(TerminalPipeline, ThePathGoesThroughTheKernelWorkerToTheThreadThatQueuedItsItem) {
  record({installed("terminal"), "30"},
         GetParam() ? std::vector<std::string>{"-a"} : std::vector<std::string>{});
  const json all = why({});
  uint64_t computed = 0, workers = 0;
  for (const json &row : all["critical_path"]) {
    const std::string name = row["name"], cause = row["cause"];
    if (name == "writer" && cause == "running")
      computed += row["ns"].get<uint64_t>();
    workers += name == "writer" && cause.starts_with("kernel worker kworker/");
    EXPECT_FALSE(name.starts_with("kworker/")) << row;
    EXPECT_EQ(cause.find("outside: kworker/"), std::string::npos) << row;
  }
  EXPECT_GE(computed, 29'000'000u) << all["critical_path"];
  EXPECT_GE(workers, 1u) << all["critical_path"];
  const Outcome converted = run({.argv = {ovnitrace(), "convert", trace()}});
  EXPECT_EQ(converted.err.find("not converted"), std::string::npos) << converted.err;
}

INSTANTIATE_TEST_SUITE_P(TracedAndNot, TerminalPipeline, ::testing::Bool());

TEST_F(Pipeline, TheSlowestSectionIsExplained) {
  record({installed("pipeline"), "5", "1000"});
  const Outcome outcome =
      run({.argv = {ovnitrace(), "why", trace(), "--slowest", "3", "--section", "1", "--json"}});
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  const json slowest = json::parse(outcome.out)["slowest"];
  ASSERT_EQ(slowest.size(), 1u);
  const json &one = slowest[0];
  const uint64_t length = one["to_ns"].get<uint64_t>() - one["from_ns"].get<uint64_t>();
  EXPECT_EQ(one["name"], "pipeline");
  EXPECT_EQ(sum(one["critical_path"]), length);
  EXPECT_EQ(one["running_ns"].get<uint64_t>() + one["waiting_ns"].get<uint64_t>() +
                one["blocked_ns"].get<uint64_t>() + one["unknown_ns"].get<uint64_t>(),
            length);
  EXPECT_EQ(run({.argv = {ovnitrace(), "why", trace(), "--slowest", "1"}}).status(), 2);
  EXPECT_EQ(run({.argv = {ovnitrace(), "why", trace(), "--section", "1"}}).status(), 2);
}

/// Children of make live for milliseconds: /proc would be too late.
TEST_F(Pipeline, CommandLinesOfShortLivedProcessesAreRecorded) {
  const std::vector<std::string> program = {"/bin/sh", "-c",
                                            "/bin/true first; /bin/true second; :"};
  const auto lines = [&] {
    std::vector<std::string> texts;
    const json all = json::parse(read_text(trace() + "/trace.json"));
    for (const json &line : all["command_lines"])
      texts.push_back(line["text"]);
    return texts;
  };
  record(program);
  EXPECT_EQ(lines(), (std::vector<std::string>{"/bin/sh -c /bin/true first; /bin/true second; :",
                                               "/bin/true first", "/bin/true second"}));
  record(program, {"-f", "--no-cmdline"});
  EXPECT_EQ(lines(), std::vector<std::string>());
  EXPECT_EQ(read_text(trace() + "/trace.json").find("first"), std::string::npos)
      << "nor the arguments of the program itself";
}

/// A short one has room for 240 bytes, and a long one for 4096. Each argument ends with a byte 0.
TEST_F(Pipeline, LongCommandLinesAreCutAtTheirLimit) {
  std::string script;
  std::vector<std::string> expected;
  for (const size_t bytes : {239, 240, 241, 4095, 4096, 4097, 6000}) {
    const std::string text = "/bin/true " + std::string(bytes - 11, 'x');
    script += text + "; ";
    expected.push_back(bytes > 4096 ? text.substr(0, 4096) + "…" : text);
  }
  record({"/bin/sh", "-c", script + ":"});
  std::vector<std::string> texts;
  const json all = json::parse(read_text(trace() + "/trace.json"));
  for (const json &line : all["command_lines"]) {
    texts.push_back(line["text"]);
    EXPECT_GT(line["since_ns"], all["begin_ns"]) << "executed during the capture";
    EXPECT_LT(line["since_ns"], all["end_ns"]);
  }
  ASSERT_EQ(texts.size(), 8u);
  EXPECT_EQ(texts[0], ("/bin/sh -c " + script).substr(0, 4096) + "…");
  texts.erase(texts.begin());
  EXPECT_EQ(texts, expected);
}

} // namespace ovnitrace::test
