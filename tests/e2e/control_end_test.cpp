// SPDX-License-Identifier: BSD-2-Clause
// --early-out, which ends the program after the last alarm; and --skip and --length.
#include "tests/e2e/support/regions.h"

#include <csignal>

namespace ovnitrace::test {

class ControlEnd : public RegionTest {};

TEST_F(ControlEnd, TheProgramIsEndedWhenAllChainsHaveFinished) {
  const Outcome outcome =
      record({installed("regions"), "foo", "wait=2", "bar", "spin=" + path("never")},
             {"--early-out", "--control", "start:enter_func:foo,stop:exit_func:foo,name:a",
              "--control", "threadid:enter_func:bar,waitfor:a"},
             124);
  read(outcome);
  EXPECT_EQ(regions().size(), 1u);
  EXPECT_EQ(alarms().back(), "enter_func/2/1") << "the chain that waits finishes last";
  EXPECT_EQ(outcome.out.find("spun"), std::string::npos);
}

TEST_F(ControlEnd, AProgramThatEndsBeforeItsChainsKeepsItsStatus) {
  const Outcome outcome = run(record_command(trace(), {"/bin/sh", "-c", "exit 5"},
                                             {"--early-out", "--control", "start:enter_func:bar"}));
  EXPECT_EQ(outcome.status(), 5) << outcome.err;
}

TEST_F(ControlEnd, AProcessThatIsNotOursIsNeverEnded) {
  Process program({.argv = {"sleep", "60"}});
  const Outcome outcome = run(record_command(
      trace(), {},
      {"-p", std::to_string(program.pid()), "--early-out", "--control", "start:int3"}));
  EXPECT_EQ(outcome.status(), 2) << outcome.err;
  EXPECT_TRUE(program.running());
}

TEST_F(ControlEnd, RepeatIsAdvisedOnlyWhereItHelps) {
  const auto advises = [&](const std::string &chain, std::vector<std::string> options) {
    remove_trace();
    options.insert(options.end(), {"--control", chain});
    const Outcome outcome = run(
        record_command(trace(), {installed("regions"), "foo", "foo", "foo", "wait=9"}, options));
    EXPECT_NE(outcome.err.find("has finished in"), std::string::npos) << outcome.err;
    return outcome.err.find("makes it start again") != std::string::npos;
  };
  EXPECT_TRUE(advises("start:enter_func:foo", {}));
  EXPECT_FALSE(advises("start:enter_func:foo,repeat2", {}));
  EXPECT_FALSE(advises("start:enter_func:foo,repeat:1", {}));
  EXPECT_FALSE(advises("start:enter_func:foo", {"--early-out"}));
  if (are_possible({"uniform:90:10:2"})) {
    EXPECT_FALSE(advises("uniform:90:10:2", {}));
  }
}

TEST_F(ControlEnd, SkipAndLengthAreAChain) {
  if (skip_if_impossible({"start:icount:500"}))
    return;
  const Outcome outcome =
      record({installed("regions"), "wait=2"}, {"--skip", "500", "--length", "300"});
  read(outcome);
  EXPECT_EQ(alarms(), (std::vector<std::string>{"icount/1/1", "icount/1/2"})) << outcome.err;
  EXPECT_EQ(regions().size(), 1u);
  EXPECT_NE(read_text(trace() + "/trace.json").find("start:icount:500,stop:icount:300"),
            std::string::npos);
}

TEST_F(ControlEnd, OptionsThatExcludeEachOtherAreRefused) {
  const std::vector<std::vector<std::string>> kWrong = {
      {"--early-out"},
      {"--early-out", "--control", "start:int3,repeat"},
      {"--skip", "5", "--control", "start:int3"},
      {"--length", "5", "--control", "start:int3"},
      {"--length", "0"},
  };
  for (const auto &options : kWrong) {
    const Outcome outcome = run(record_command(trace(), {installed("regions"), "foo"}, options));
    EXPECT_EQ(outcome.status(), 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

} // namespace ovnitrace::test
