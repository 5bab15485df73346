// SPDX-License-Identifier: BSD-2-Clause
// How long threads waited, by the priorities that they and the holders had then:
// emulator/why/priority_waits.
#include "emulator/why/priority_waits.h"
#include "tests/unit/support/why_rig.h"

namespace ovnitrace {
namespace {

using test::kMs;

constexpr uint32_t kRealTime = FTRACE_PRIO_BIAS + 89, kNormal = FTRACE_PRIO_BIAS + 120;

class Priorities : public test::WhyRig {
protected:
  /// Sums up the waits of app (10).
  const PriorityWaits &waits(const Cut &more = {}) {
    Cut cut = more;
    cut.tids = {10};
    explain_all(cut);
    return why.priorities;
  }
  /// app and another program, hog (20). app runs on CPU 0.
  test::ChunkBuilder &start(uint32_t priority) {
    auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").id(2, 20, 20, "hog");
    return cpu.id(3, 11, 10, "own").dispatch(1, priority);
  }
  /// hog preempts app for a time. Both get the CPU with a priority.
  static void preempt(test::ChunkBuilder &cpu, uint64_t from, uint64_t to, uint32_t hog,
                      uint32_t app) {
    cpu.at(from).epilogue(1, 20).dispatch(2, hog).at(to).epilogue(2, 10).dispatch(1, app);
  }
};

TEST_F(Priorities, AWaitHasThoseOfItsTime) {
  auto &cpu = start(kNormal);
  preempt(cpu, 100, 200, kNormal, kNormal);
  preempt(cpu, 300, 310, kNormal, kRealTime); // when it gets the CPU, it has another one
  preempt(cpu, 400, 401, kRealTime, kRealTime);
  cpu.at(500).epilogue(1, 20).dispatch(2, kNormal).at(1500).stop();
  Cut cut;
  cut.to = 500;
  const PriorityWaits &of = waits(cut);
  EXPECT_EQ(of.behind_lower, 10u);
  EXPECT_EQ(of.preempted_lower, 10u);
  ASSERT_FALSE(of.holders.empty());
  EXPECT_EQ(name_of(source->catalog(), of.holders.back().culprit, 0), "hog");
  EXPECT_EQ(of.holders.back().normal, 110u);
  EXPECT_EQ(of.holders.back().real_time, 1u);
}

TEST_F(Priorities, AThreadThatSleptBeforeWasNotPreempted) {
  auto &cpu = start(kRealTime).at(100).sleep(1, 20).dispatch(2, kNormal).at(200);
  cpu.activate(1, 20).at(230).epilogue(2, 10).dispatch(1, kRealTime).at(300).stop();
  EXPECT_EQ(waits().behind_lower, 30u);
  EXPECT_EQ(why.priorities.preempted_lower, 0u);
}

TEST_F(Priorities, ADeadlineIsARealTimePriority) {
  auto &cpu = start(1);
  preempt(cpu, 100, 130, kNormal, 1);
  cpu.at(200).epilogue(1, 20, FTRACE_OFFCPU_THROTTLED).dispatch(2, kNormal).at(250);
  cpu.epilogue(2, 10).dispatch(1, 1).at(300).stop();
  EXPECT_EQ(waits().behind_lower, 30u);
  EXPECT_EQ(why.priorities.throttled_real_time, 50u);
}

TEST_F(Priorities, OnlyNormalThreadsAreNice) {
  auto &cpu = start(kNormal + 1);
  preempt(cpu, 100, 110, kNormal, kNormal + 1);
  preempt(cpu, 200, 202, 0, kNormal + 19); // the class of hog is not known
  preempt(cpu, 300, 303, kRealTime, kNormal + 5);
  preempt(cpu, 400, 404, kNormal, kNormal);
  preempt(cpu, 500, 505, kNormal, kNormal + 20); // no such value
  preempt(cpu, 600, 606, kNormal, 255);
  cpu.at(700).stop();
  std::array<uint64_t, 20> expected = {};
  expected[1] = 10;
  expected[19] = 2;
  EXPECT_EQ(waits().as_nice, expected);
}

TEST_F(Priorities, AWaitBehindItsOwnThreadsDoesNotCount) {
  auto &cpu = start(kRealTime).at(100).epilogue(1, 11).dispatch(3, kNormal).at(150);
  cpu.epilogue(3, 10).dispatch(1, kRealTime).at(200).stop();
  Cut cut;
  cut.pids = {10};
  explain_all(cut);
  EXPECT_EQ(why.priorities.behind_lower, 0u);
  EXPECT_EQ(waits().behind_lower, 50u) << "of the thread alone";
}

TEST_F(Priorities, AnUntracedThreadHasItsClass) {
  trace.json(R"({"version": 1, "machine": "x86_64", "cpu_holders": true})");
  auto &cpu = start(kRealTime);
  const auto behind = [&](uint64_t from, uint64_t to, uint32_t of) {
    cpu.at(from).epilogue(1, 99 | of << FTRACE_CLASS_SHIFT).at(to).dispatch(1, kRealTime);
  };
  behind(100, 110, FTRACE_CLASS_NORMAL);
  behind(200, 205, FTRACE_CLASS_REAL_TIME); // a tid that is used again, or another class
  behind(300, 301, FTRACE_CLASS_DEADLINE);
  cpu.at(400).stop();
  const PriorityWaits &of = waits();
  EXPECT_EQ(of.behind_lower, 10u);
  ASSERT_FALSE(of.holders.empty());
  EXPECT_EQ(of.holders.back().normal, 10u);
  EXPECT_EQ(of.holders.back().real_time, 6u);
}

} // namespace
} // namespace ovnitrace
