// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace diff` of real captures: causes of known size are named first.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/preempt_rt.h"

#include <nlohmann/json.hpp>

#include <cstring>
#include <set>

namespace ovnitrace::test {

using nlohmann::json;

namespace {

struct Planted {
  const char *cause;                          ///< as the program takes it
  int before, after;                          ///< its argument
  int ms;                                     ///< the change
  const char *kind, *thread, *call, *culprit; ///< what is named; empty: anything
};

constexpr Planted kPlanted[] = {
    {"running", 5, 65, 60, "running", "planted", "", ""},
    {"worker", 5, 65, 60, "running", "worker-7", "", ""},
    {"workers", 4, 1, 60, "running", "worker-*", "", ""},
    {"lock", 5, 65, 60, "running", "holder", "", ""},
    {"sleeping-lock", 5, 65, 60, "blocked", "holder", "clock_nanosleep", "a timer"},
    {"chain", 5, 65, 60, "running", "chain-*", "", ""},
    {"queue", 6, 66, 60, "running", "reader", "", ""},
    {"rival", 5, 65, 60, "preempted", "planted", "", "rival"},
    {"hog", 5, 65, 60, "preempted", "planted", "", "hog"},
    {"child", 5, 65, 60, "running", "child", "", ""},
    {"sleeping-child", 5, 65, 60, "blocked", "child", "clock_nanosleep", "a timer"},
    {"sleep", 5, 65, 60, "blocked", "planted", "clock_nanosleep", "a timer"},
    {"poll", 5, 65, 60, "blocked", "planted", "poll", ""},
    {"select", 5, 65, 60, "blocked", "planted", "pselect6", ""},
    {"epoll", 5, 65, 60, "blocked", "planted", "epoll_wait", ""},
    {"semaphore", 5, 65, 60, "blocked", "planted", "futex", ""},
    {"signal", 5, 65, 60, "blocked", "planted", "rt_sigtimedwait", ""},
    {"receive", 5, 65, 60, "blocked", "planted", "recvfrom", ""},
    {"timer", 5, 65, 60, "blocked", "planted", "read", ""},
};

/// Returns whether the rest of a busy machine is to blame.
bool is_of_the_machine(const json &cause) {
  static const std::set<std::string> own = {"planted", "rival", "hog"};
  const bool waits = cause["cause"] == "preempted" || cause["cause"] == "waiting";
  return waits && !own.contains(cause["culprit"].get<std::string>());
}

int64_t sum_of(const json &causes) {
  int64_t sum = 0;
  for (const json &cause : causes)
    sum += cause["delta_ns"].get<int64_t>();
  return sum;
}

bool is(const json &value, const char *expected) {
  const bool sleeps = strcmp(expected, "a timer") == 0;
  return !*expected || value == expected ||
         (sleeps && value.is_string() && ends_sleeps(value.get<std::string>()));
}

} // namespace

class DiffOfCaptures : public CaptureTest {
protected:
  std::string capture(const std::string &name, const std::vector<std::string> &program) {
    std::vector<std::string> argv = {ovnitrace(), "record", "-o", path(name), "--"};
    argv.insert(argv.end(), program.begin(), program.end());
    const Outcome outcome = run({.argv = argv});
    EXPECT_EQ(outcome.status(), 0) << outcome.err;
    return path(name);
  }
  Outcome diff(const std::vector<std::string> &arguments) {
    std::vector<std::string> argv = {ovnitrace(), "diff"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return run({.argv = argv});
  }
};

class PlantedCause : public DiffOfCaptures, public ::testing::WithParamInterface<Planted> {};

/// This kernel hides a few switches and wakeups (docs/recording.md). The time then has another
/// cause, and the runs are captured again.
TEST_P(PlantedCause, IsNamedFirst) {
  const Planted &planted = GetParam();
  const auto program = [&](int argument) {
    return std::vector<std::string>{installed("planted"), planted.cause, std::to_string(argument)};
  };
  constexpr int kTries = 3;
  for (int n = 1; n <= kTries; n++) {
    const std::string a = capture("a" + std::to_string(n), program(planted.before)),
                      b = capture("b" + std::to_string(n), program(planted.after));
    const Outcome outcome = diff({a, b, "--json"});
    ASSERT_EQ(outcome.status(), 0) << outcome.err;
    const json all = json::parse(outcome.out);
    EXPECT_EQ(sum_of(all["causes"]), all["delta_ns"]);
    for (const json &group : all["groups"])
      EXPECT_EQ(sum_of(group["causes"]), group["delta_ns"]);
    const auto first = std::find_if(all["causes"].begin(), all["causes"].end(),
                                    [](const json &cause) { return !is_of_the_machine(cause); });
    ASSERT_NE(first, all["causes"].end()) << all;
    const json &cause = *first;
    const bool is_right = cause["cause"] == planted.kind && is(cause["thread"], planted.thread) &&
                          is(cause["call"], planted.call) && is(cause["culprit"], planted.culprit);
    if (!is_right && n < kTries)
      continue;
    EXPECT_EQ(cause["cause"], planted.kind) << cause;
    EXPECT_TRUE(is(cause["thread"], planted.thread)) << cause;
    EXPECT_TRUE(is(cause["call"], planted.call)) << cause;
    EXPECT_TRUE(is(cause["culprit"], planted.culprit)) << cause;
    EXPECT_NEAR(cause["delta_ns"].get<double>(), planted.ms * 1e6, planted.ms * 5e5) << cause;
    return;
  }
}

INSTANTIATE_TEST_SUITE_P(Each, PlantedCause, ::testing::ValuesIn(kPlanted), [](const auto &info) {
  std::string name = info.param.cause;
  std::erase(name, '-');
  return name;
});

TEST_F(DiffOfCaptures, ASectionAndAGroupOfThreadsAreComparedAlone) {
  const std::string a = capture("a", {installed("pipeline"), "20", "1000"}),
                    b = capture("b", {installed("pipeline"), "20", "6000"});
  // Not stage-0, which never sleeps: if it ran longest, the critical path would be its own.
  for (const std::vector<std::string> &options :
       {std::vector<std::string>{"--section", "1"}, {"--comm", "stage-[12]"}}) {
    std::vector<std::string> arguments = {a, b, "--json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome outcome = diff(arguments);
    ASSERT_EQ(outcome.status(), 0) << outcome.err;
    const json all = json::parse(outcome.out);
    EXPECT_EQ(sum_of(all["causes"]), all["delta_ns"]);
    const auto sleeps =
        std::find_if(all["causes"].begin(), all["causes"].end(),
                     [](const json &cause) { return cause["call"] == "clock_nanosleep"; });
    ASSERT_NE(sleeps, all["causes"].end()) << all;
    EXPECT_EQ((*sleeps)["thread"], "stage-*");
    EXPECT_GT((*sleeps)["delta_ns"], 50'000'000) << "20 times 5 ms";
  }
}

TEST_F(DiffOfCaptures, StacksNameTheFunctionAndFoldedStacksHaveBoth) {
  const auto with_stacks = [&](const std::string &name) {
    const Outcome outcome = run({.argv = {ovnitrace(), "record", "--stacks", "-o", path(name), "--",
                                          installed("planted"), "sleep", "5"}});
    EXPECT_EQ(outcome.status(), 0) << outcome.err;
    return path(name);
  };
  const std::string a = with_stacks("a"), b = with_stacks("b");
  const json all = json::parse(diff({a, b, "--json"}).out);
  bool found = false;
  for (const json &group : all["groups"])
    for (const json &cause : group["causes"])
      found |= cause["call"] == "clock_nanosleep" && cause["at"].is_string();
  EXPECT_TRUE(found) << all;
  const Outcome folded = diff({a, b, "--to", "folded"});
  EXPECT_NE(folded.out.find("planted;planted;"), std::string::npos) << folded.out;
  for (const std::string &line : lines_of(folded.out)) {
    const size_t second = line.rfind(' '), first = line.rfind(' ', second - 1);
    EXPECT_LT(first, second) << line;
    EXPECT_EQ(line.find_first_not_of("0123456789 ", first), std::string::npos) << line;
  }
}

} // namespace ovnitrace::test
