// SPDX-License-Identifier: BSD-2-Clause
// What somebody sees who uses ovnitrace for the first time: sizes, times, names, answers.
#include "tests/e2e/support/e2e.h"

#include <nlohmann/json.hpp>

namespace ovnitrace::test {

class FirstUse : public CaptureTest {
protected:
  Outcome ask(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), ovnitrace());
    return run({.argv = arguments});
  }
};

TEST_F(FirstUse, TheSizeOfTheFilesForParaverIsPrintedFirst) {
  const Outcome outcome = ask({"-o", trace(), "--", "true"});
  EXPECT_EQ(outcome.status(), 0);
  const size_t size = outcome.err.find("ovnitrace: files for Paraver: about "),
               opens = outcome.err.find("ovnitrace: open ");
  EXPECT_LT(size, opens) << outcome.err;
  EXPECT_NE(opens, std::string::npos) << outcome.err;
  EXPECT_TRUE(exists(trace() + "/thread.prv"));
}

TEST_F(FirstUse, NoConvertWritesOnlyTheTrace) {
  const Outcome outcome = ask({"--no-convert", "-o", trace(), "--", "true"});
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  EXPECT_FALSE(exists(trace() + "/thread.prv"));
  EXPECT_FALSE(exists(trace() + "/cfg"));
  EXPECT_NE(outcome.err.find("`ovnitrace convert " + trace() + "`"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(ask({"--no-convert", "--gzip", "-o", path("x"), "--", "true"}).status(), 2);
}

TEST_F(FirstUse, ATraceIsNoStandardOutput) {
  const Outcome outcome = run({.argv = {ovnitrace(), "record", "-o", "-", "--", "true"}});
  EXPECT_EQ(outcome.status(), 2);
  EXPECT_EQ(outcome.err.find("ovnitrace: -o -: a trace is a directory of files: name it"), 0u)
      << outcome.err;
  EXPECT_FALSE(exists("-"));
}

TEST_F(FirstUse, WhyExplainsTheProgramOrAllThreadsOnRequest) {
  record({"sh", "-c", "sh -c 'sleep 0.05; true' & sleep 0.1; wait"}, {"-a"});
  const nlohmann::json program = nlohmann::json::parse(ask({"why", "--json", trace()}).out),
                       all = nlohmann::json::parse(
                           ask({"why", "--json", "--all-threads", trace()}).out);
  EXPECT_GE(program["threads"].size(), 2u);
  for (const nlohmann::json &thread : program["threads"])
    EXPECT_TRUE(thread["name"] == "sh" || thread["name"] == "sleep") << thread["name"];
  EXPECT_GT(all["threads"].size(), program["threads"].size());
  const Outcome text = ask({"why", trace()});
  EXPECT_EQ(text.out.find("sh ("), 0u) << text.out;
  EXPECT_NE(text.out.find(" of the machine are left out: --all-threads explains all.\n"),
            std::string::npos);
  const std::string answer = program["answer"]["sentences"];
  EXPECT_EQ(nlohmann::json::parse(ask({"info", "--json", trace()}).out)["answer"]["sentences"],
            answer);
  EXPECT_EQ(ask({"why", "--brief", trace()}).out.substr(0, 20), answer.substr(0, 20));
}

TEST_F(FirstUse, DumpFromZeroLeavesOutEarlierEvents) {
  record({"true"}, {"-a"});
  EXPECT_NE(ask({"dump", trace()}).out.find("   -0."), std::string::npos);
  EXPECT_EQ(ask({"dump", "--from", "0", trace()}).out.find("   -0."), std::string::npos);
}

TEST_F(FirstUse, ATimeMayBeThatOfTheClock) {
  record({"sleep", "0.2"});
  const nlohmann::json json = nlohmann::json::parse(read_text(trace() + "/trace.json"));
  const int64_t begin =
      json["begin_ns"].get<int64_t>() + json["clock"]["to_wall_ns"].get<int64_t>() + 100'000'000;
  char from[64];
  snprintf(from, sizeof from, "@%lld.%09lld", static_cast<long long>(begin / 1'000'000'000),
           static_cast<long long>(begin % 1'000'000'000));
  const nlohmann::json cut =
      nlohmann::json::parse(ask({"info", "--json", "--from", from, trace()}).out);
  EXPECT_EQ(cut["begin_ns"].get<uint64_t>() - cut["trace_begin_ns"].get<uint64_t>(), 100'000'000u);
}

TEST_F(FirstUse, AnUnknownTriggerListsOnlyEventsThatUsersWaitFor) {
  const Outcome outcome =
      run(record_command(trace(), {"true"}, {"--buffer", "last:1M", "--trigger", "list"}));
  EXPECT_EQ(outcome.status(), 2);
  const std::string &list = outcome.err;
  for (const char *word : {"region_stop (with --control)", "task_end", "user_event_3",
                           "task_deadline_miss (with --filter +server)"})
    EXPECT_NE(list.find(word), std::string::npos) << word << " in " << list;
  for (const char *word : {"ipoint", "EXT_", "filter_"})
    EXPECT_EQ(list.find(word), std::string::npos) << word;
}

} // namespace ovnitrace::test
