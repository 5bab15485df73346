// SPDX-License-Identifier: BSD-2-Clause
// The state machine of --control in the kernel against a plain model of it: random chains, random
// hits of threads that exist in the maps only.
#include "tests/unit/support/cases.h"
#include "tests/unit/support/child_status.h"
#include "tests/unit/support/control_machine.h"
#include "tests/unit/support/control_model.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/few_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

namespace ovnitrace::control {
namespace {

using test::kMachinePid;
using Machine = test::ControlMachine;
using Random = std::mt19937;

uint32_t pick(Random &random, uint32_t below) {
  return uint32_t(random() % below);
}

/// Any chain that the grammar allows of alarms that threads without code can hit.
std::string random_chain(Random &random, size_t number, size_t chains) {
  std::string text;
  const size_t alarms = 1 + pick(random, 4);
  const size_t uniform = pick(random, 3) ? SIZE_MAX : pick(random, uint32_t(alarms));
  constexpr const char *kEvents[] = {"start", "stop", "threadid", "precond"};
  for (size_t n = 0; n < alarms; n++) {
    text += n ? "," : "";
    if (n == uniform) {
      text += fmt::format("uniform:{}:{}:{}", 1 + pick(random, 5), 1 + pick(random, 3),
                          1 + pick(random, 3));
      continue;
    }
    text += kEvents[pick(random, 4)];
    const bool counts = pick(random, 4) == 0;
    text += counts ? fmt::format(":icount:{}", 1 + pick(random, 3)) : ":int3";
    const bool global = pick(random, 4) == 0;
    if (global || pick(random, 2))
      text += fmt::format(":count{}", 1 + pick(random, 4));
    if (global)
      text += ":global";
    else if (pick(random, 4) == 0)
      text += fmt::format(":tid{}", pick(random, 3));
    if (pick(random, 4) == 0)
      text += ":bcast";
  }
  if (pick(random, 2))
    text += pick(random, 3) ? fmt::format(",repeat:{}", 1 + pick(random, 3)) : ",repeat";
  text += fmt::format(",name:c{}", number);
  if (number + 1 < chains && pick(random, 3) == 0) // only for later ones: no circle
    text += fmt::format(",waitfor:c{}", number + 1 + pick(random, uint32_t(chains - number - 1)));
  return text;
}

using ControlMachine = test::ControlMachineTest;

/// Without a uniform that starts as soon as the process is there: the test does not run that code.
bool starts_by_itself(const Plan &plan) {
  for (const control_chain &chain : plan.chain_table)
    if (!chain.waits && plan.alarm_table[chain.first].flags & CONTROL_IMMEDIATE)
      return true;
  return false;
}

TEST_F(ControlMachine, BehavesLikeTheModel) {
  constexpr size_t kHits = 400, kMostThreads = 6;
  const unsigned plans = test::cases(8);
  uint64_t fired = 0;
  for (uint32_t seed = 0; seed < plans; seed++) {
    Random random(seed);
    std::vector<std::string> texts;
    const size_t chains = 1 + pick(random, 4);
    for (size_t n = 0; n < chains; n++)
      texts.push_back(random_chain(random, n, chains));
    const Plan plan = make_plan(texts);
    if (starts_by_itself(plan))
      continue;
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, fmt::join(texts, "  ")));
    Machine machine(plan);
    ControlModel model(plan.chain_table, plan.alarm_table);
    size_t threads = 0;
    for (size_t n = 0; n < kHits; n++) {
      if (threads == 0 || (threads < kMostThreads && pick(random, 40) == 0)) {
        machine.add_thread();
        model.add_thread();
        threads++;
      }
      const size_t thread = pick(random, uint32_t(threads));
      const uint64_t mask = uint64_t(random()) << 32 | random();
      const uint64_t expected = model.hit(thread, mask);
      ASSERT_EQ(machine.hit(thread, mask), expected) << "hit " << n << " of thread " << thread;
      fired += expected != 0;
    }
  }
  EXPECT_GT(fired, 10 * plans) << "too little happens for a test of it";
}

TEST_F(ControlMachine, OneHitFiresOnlyTheAlarmThatWasArmed) {
  const Plan plan = make_plan({"start:int3,stop:int3,repeat"});
  Machine machine(plan);
  machine.add_thread();
  EXPECT_EQ(machine.hit(0, 3), 1u);
  EXPECT_EQ(machine.hit(0, 3), 2u);
  EXPECT_EQ(machine.hit(0, 3), 1u);
}

/// The loader makes one hit of it for each time that it is armed.
TEST_F(ControlMachine, ATimeoutIsArmedAgainUntilItsCountIsReached) {
  Plan plan = make_plan({"start:timeout:1:count3,stop:timeout:1:count2:global"});
  for (control_alarm &alarm : plan.alarm_table)
    alarm.value = 0; // it is over at once
  Machine machine(plan);
  machine.add_thread();
  EXPECT_EQ(machine.hit(0, 1), 0u);
  EXPECT_EQ(machine.hit(0, 1), 0u);
  EXPECT_EQ(machine.armed(), (std::vector<uint32_t>{0, 0}));
  EXPECT_EQ(machine.hit(0, 1), 1u);
  EXPECT_EQ(machine.armed(), std::vector<uint32_t>{1});
  EXPECT_EQ(machine.hit(0, 2), 0u);
  EXPECT_EQ(machine.armed(), std::vector<uint32_t>{1});
  EXPECT_EQ(machine.hit(0, 2), 2u);
  EXPECT_EQ(machine.armed(), std::vector<uint32_t>{});
}

TEST_F(ControlMachine, AHitThatFiresNothingYetIsReported) {
  const Plan plan = make_plan({"start:interactive:count2,stop:interactive:count3:global"});
  Machine machine(plan);
  machine.add_thread();
  EXPECT_EQ(machine.take_hit(0, 1).counted, 1u);
  EXPECT_EQ(machine.hits_of(0, 0), 1u);
  EXPECT_EQ(machine.take_hit(0, 1).counted, 0u) << "it fires";
  machine.take_hit(0, 2);
  EXPECT_EQ(machine.take_hit(0, 2).counted, 2u);
  EXPECT_EQ(machine.hits_of(0, 1), 2u);
}

TEST_F(ControlMachine, EachChainCountsTheHitsOfItsOwnAlarm) {
  const Plan plan =
      make_plan({"start:int3:count5,stop:int3", "start:int3:count4,stop:int3:count9:global"});
  Machine machine(plan);
  machine.add_thread();
  machine.add_thread();
  for (const uint64_t mask : {1, 5, 4, 4})
    machine.hit(1, mask);
  EXPECT_EQ(machine.hits_of(1, 0), 2u);
  EXPECT_EQ(machine.hits_of(1, 2), 3u);
  EXPECT_EQ(machine.hits_of(0, 0), 0u) << "of another thread";
  machine.hit(1, 4);
  for (int n = 0; n < 7; n++)
    machine.hit(1, 8);
  EXPECT_EQ(machine.hits_of(0, 3), 7u) << "of all threads";
  using Threads = std::vector<std::pair<uint32_t, uint32_t>>;
  EXPECT_EQ(machine.threads(0),
            (Threads{{kMachinePid, kMachinePid}, {kMachinePid + 1, kMachinePid}}));
  EXPECT_EQ(machine.threads(kMachinePid), machine.threads(0));
  EXPECT_EQ(machine.threads(kMachinePid + 1), Threads());
}

TEST_F(ControlMachine, AllChainsAndAlarmsThatThereCanBe) {
  std::vector<std::string> texts(CONTROL_CHAINS, "start:int3,stop:int3,start:int3,stop:int3");
  const Plan plan = make_plan(texts);
  Machine machine(plan);
  machine.add_thread();
  EXPECT_EQ(machine.hit(0, ~0ull), 0x1111'1111'1111'1111u);
  EXPECT_EQ(machine.hit(0, ~0ull), 0x2222'2222'2222'2222u);
}

/// The verifier knows the plan, and may need more steps for one than for another.
TEST_F(ControlMachine, TheKernelTakesTheLargestPlans) {
  const std::string text = "pcontrol:" + std::string(CONTROL_STRING - 1, 'a');
  const std::string chains[] = {
      "start:timeout:100000",
      "start:exit_func:f,stop:exit_func:f,start:exit_func:f:bcast,stop:exit_func:f:global",
      fmt::format("start:{0},stop:{0},threadid:{0},precond:{0},repeat", text),
  };
  for (const std::string &chain : chains)
    for (const bool region_by_thread : {false, true}) {
      ProgramOptions options;
      options.region_by_thread = region_by_thread;
      const Plan plan = make_plan(std::vector<std::string>(CONTROL_CHAINS, chain));
      EXPECT_NO_THROW(Programs(plan, {}, options)) << chain;
    }
}

// With one file less than they need, the last of them finds none.
TEST_F(ControlMachine, ProgramsThatFindNoRoomAreAnError) {
  const Plan plan = make_plan({"start:int3"});
  EXPECT_EQ(test::status_of([&] {
              const size_t before = test::open_files();
              rlim_t needed = 0;
              {
                const Programs whole(plan, {}, {});
                EXPECT_TRUE(whole.files_needed(7) == 1 || whole.files_needed(7) == 14);
                needed = test::open_files() - before;
              }
              test::limit_files(needed - 1);
              const std::string why = test::error_from([&] { Programs(plan, {}, {}); });
              EXPECT_TRUE(why.starts_with(
                  "cannot load the BPF programs of --control: Too many open files; "))
                  << why;
              return HasFailure() ? 1 : 0;
            }),
            0);
}

/// Each hit counts once, however many CPUs count at a time.
TEST_F(ControlMachine, GlobalCountsOfManyThreadsAtOnce) {
  constexpr uint32_t kThreads = 8, kHits = 2000, kCount = 100;
  const Plan plan = make_plan({fmt::format("threadid:int3:count{}:global,repeat", kCount)});
  Machine machine(plan);
  for (uint32_t n = 0; n < kThreads; n++)
    machine.add_thread();
  std::atomic<uint32_t> fired = 0;
  std::vector<std::thread> threads;
  for (uint32_t n = 0; n < kThreads; n++)
    threads.emplace_back([&, n] {
      for (uint32_t hit = 0; hit < kHits; hit++)
        fired += machine.hit(n, 1) == 1;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(fired, kThreads * kHits / kCount);
}

TEST_F(ControlMachine, OnlyOneThreadFiresABroadcast) {
  constexpr uint32_t kThreads = 8;
  const Plan plan = make_plan({"start:int3:bcast,stop:icount:1000000"});
  Machine machine(plan);
  for (uint32_t n = 0; n < kThreads; n++)
    machine.add_thread();
  std::atomic<uint32_t> fired = 0;
  std::vector<std::thread> threads;
  for (uint32_t n = 0; n < kThreads; n++)
    threads.emplace_back([&, n] { fired += machine.hit(n, 3) == 1; });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(fired, 1u);
}

} // namespace
} // namespace ovnitrace::control
