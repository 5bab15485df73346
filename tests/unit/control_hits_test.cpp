// SPDX-License-Identifier: BSD-2-Clause
// What the BPF side of --control tells the loader about hits: results, messages, and which
// processes have probes.
#include "tests/unit/support/control_machine.h"
#include "user/bpf/kernel_types.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ovnitrace::control {
namespace {

using ControlHits = test::ControlMachineTest;
using Machine = test::ControlMachine;
using Messages = Machine::Messages;
using test::kMachinePid;

TEST_F(ControlHits, AUniformThatOnlyIsArmedTookNoHit) {
  const Plan plan = make_plan({"threadid:int3,threadid:int3", "threadid:int3,uniform:5:2:3"});
  Machine machine(plan);
  machine.add_thread();
  EXPECT_EQ(machine.hit(0, 1 << 2), 0b1100u) << "the first sample starts at once";
  EXPECT_EQ(machine.take_hit(0, 1 << 4).counted, 1u << 4);
  const control_hit end = machine.take_hit(0, 1 << 4);
  EXPECT_EQ(end.fired, 1u << 4);
  EXPECT_EQ(end.counted, 0u) << "the start of the next sample was armed, and looked at";
  const control_hit other = machine.take_hit(0, 1);
  EXPECT_EQ(other.fired, 1u);
  EXPECT_EQ(other.counted, 0u) << "looked at again";
  EXPECT_EQ(machine.hits_of(0, 3), 0u);
  EXPECT_EQ(machine.take_hit(0, 1 << 3).counted, 1u << 3);
  EXPECT_EQ(machine.hits_of(0, 3), 1u);
}

/// What fires, hit after hit of all alarms.
std::vector<uint64_t> fired(const Machine &machine, size_t hits) {
  std::vector<uint64_t> masks;
  for (size_t n = 0; n < hits; n++)
    masks.push_back(machine.hit(0, ~0ull));
  return masks;
}

// A visit by the loader comes later, when threads may have gone on.
TEST_F(ControlHits, TheLoaderVisitsThreadsOnlyIfTheKernelCannot) {
  const KernelTypes types; // since 6.7 and 6.10
  const bool can =
      types.has_function("bpf_iter_task_new") && types.has_function("bpf_preempt_disable");
  const Plan plan = make_plan({"start:int3:bcast"});
  ProgramOptions options;
  options.region_by_thread = true;
  Machine machine(plan, options);
  machine.add_thread();
  EXPECT_EQ(machine.hit(0, 1), 1u);
  machine.messages();
  EXPECT_EQ(machine.visits(), can ? 0u : 1u);
}

TEST_F(ControlHits, EachRoundHasAllSamples) {
  const Plan plan = make_plan({"threadid:int3,uniform:5:2:3,repeat:2"});
  Machine machine(plan);
  machine.add_thread();
  const std::vector<uint64_t> round = {0b011, 0, 0b100, 0,     0, 0b010, 0,
                                       0b100, 0, 0,     0b010, 0, 0b100};
  EXPECT_EQ(fired(machine, 13), round);
  EXPECT_EQ(fired(machine, 13), round);
  EXPECT_EQ(fired(machine, 3), (std::vector<uint64_t>{0, 0, 0}));
}

TEST_F(ControlHits, AChainWaitsForTheLastRoundOfAnother) {
  const Plan plan =
      make_plan({"threadid:int3,threadid:int3:count2,repeat:2,name:a", "threadid:int3,waitfor:a"});
  Machine machine(plan);
  machine.add_thread();
  machine.add_thread();
  EXPECT_EQ(fired(machine, 8), (std::vector<uint64_t>{1, 0, 2, 1, 0, 2, 4, 0}));
  EXPECT_EQ(machine.hit(1, ~0ull), 1u) << "another thread is still at the start";
}

TEST_F(ControlHits, AnAlarmIsForOneThreadOrForAll) {
  const Plan plan = make_plan({"threadid:int3:tid1,threadid:int3:tid0",
                               "threadid:int3:count3:global,threadid:int3:count2:bcast,repeat"});
  Machine machine(plan);
  machine.add_thread();
  machine.add_thread();
  EXPECT_EQ(machine.hit(0, 0b11), 0u);
  EXPECT_EQ(machine.hit(1, 0b11), 1u);
  EXPECT_EQ(machine.hit(1, 0b11), 0u) << "the second one is for the other thread";
  const std::pair<size_t, uint64_t> hits[] = {{0, 0}, {1, 0}, {1, 4}, // three of all threads
                                              {0, 0}, {1, 0}, {0, 8}, // two of one of them
                                              {1, 0}, {1, 0}, {0, 4}, {1, 0}, // again
                                              {0, 0}, {1, 8}};
  for (const auto &[thread, expected] : hits)
    EXPECT_EQ(machine.hit(thread, 0b1100), expected) << thread;
}

TEST_F(ControlHits, AChainFinishesInItsThreadOrInTheProcess) {
  const Plan plan = make_plan({"threadid:int3", "threadid:int3:bcast,threadid:int3:bcast"});
  Machine machine(plan);
  machine.add_thread();
  machine.add_thread();
  machine.hit(1, 0b001);
  EXPECT_EQ(machine.messages(), (Messages{{CONTROL_DONE, kMachinePid, kMachinePid + 1, 0}}));
  machine.hit(1, 0b010);
  EXPECT_EQ(machine.messages(), Messages()) << "it goes on";
  machine.hit(1, 0b100);
  EXPECT_EQ(machine.messages(), (Messages{{CONTROL_DONE, kMachinePid, 0, 1}}));
}

TEST_F(ControlHits, ATimeoutIsArmedForItsThreadOrForTheProcess) {
  const Plan plan = make_plan({"threadid:int3,threadid:timeout:5,name:a",
                               "threadid:int3:bcast,threadid:timeout:5,name:b",
                               "threadid:int3,name:c", "threadid:timeout:5,waitfor:c",
                               "threadid:int3:bcast,name:d", "threadid:timeout:5,waitfor:d"});
  Machine machine(plan);
  machine.add_thread();
  machine.add_thread();
  machine.hit(1, 1 << 0);
  EXPECT_EQ(machine.messages(), (Messages{{CONTROL_ARMED, kMachinePid, kMachinePid + 1, 1}}));
  machine.hit(1, 1 << 2);
  EXPECT_EQ(machine.messages(), (Messages{{CONTROL_ARMED, kMachinePid, 0, 3}}));
  machine.hit(1, 1 << 4);
  EXPECT_EQ(machine.messages(), (Messages{{CONTROL_DONE, kMachinePid, kMachinePid + 1, 2},
                                          {CONTROL_ARMED, kMachinePid, kMachinePid + 1, 5}}))
      << "of the chain that waits";
  machine.hit(1, 1 << 6);
  EXPECT_EQ(machine.messages(),
            (Messages{{CONTROL_DONE, kMachinePid, 0, 4}, {CONTROL_ARMED, kMachinePid, 0, 7}}));
}

TEST_F(ControlHits, ATimeoutThatIsNotOverTakesNoHit) {
  Plan plan = make_plan({"threadid:timeout:1", "threadid:timeout:1"});
  plan.alarm_table[0].value = UINT64_MAX;
  plan.alarm_table[1].value = 1;
  Machine machine(plan);
  machine.add_thread();
  const control_hit hit = machine.take_hit(0, 0b11);
  EXPECT_EQ(hit.fired, 0b10u);
  EXPECT_EQ(hit.counted, 0u);
}

TEST_F(ControlHits, ACountOfInstructionsIsAResultAndOfAllThreadsAMessage) {
  const Plan plan = make_plan(
      {"threadid:int3,threadid:icount:2", "threadid:int3,threadid:int3:bcast,threadid:icount:3"});
  Machine machine(plan);
  machine.add_thread();
  machine.add_thread();
  EXPECT_EQ(machine.take_hit(1, 0b1).result, CONTROL_STEPPING);
  EXPECT_EQ(machine.take_hit(0, 0).result, 0u) << "another thread";
  EXPECT_EQ(machine.take_hit(1, 0b10).result, CONTROL_STEPPING) << "one of two";
  EXPECT_EQ(machine.take_hit(1, 0b10).result, 0u);
  EXPECT_EQ(machine.take_hit(0, 0b100).result, 0u);
  EXPECT_EQ(machine.messages(), (Messages{{CONTROL_DONE, kMachinePid, kMachinePid + 1, 0}}));
  EXPECT_EQ(machine.take_hit(0, 0b1000).result, CONTROL_STEPPING);
  EXPECT_EQ(machine.messages(), (Messages{{CONTROL_COUNT, kMachinePid, 0, 0}}));
  EXPECT_EQ(machine.take_hit(1, 0).result, CONTROL_STEPPING) << "of the broadcast";
}

TEST_F(ControlHits, AThreadIsFoundByItsNumberAndIsOfItsProcess) {
  const Plan plan = make_plan({"threadid:int3,threadid:int3"});
  Machine machine(plan);
  machine.add_thread();
  machine.add_thread();
  const Programs &programs = machine.programs();
  const control_hit found = programs.hit(0, kMachinePid + 1, 1);
  EXPECT_EQ(found.pid, kMachinePid);
  EXPECT_EQ(found.fired, 1u);
  EXPECT_EQ(found.result, 0u);
  const control_process other = {};
  constexpr uint32_t kOther = kMachinePid + 1;
  ASSERT_EQ(bpf_map_update_elem(programs.processes_map(), &kOther, &other, BPF_ANY), 0);
  for (const auto &[pid, tid] :
       {std::pair(0u, kMachinePid + 2), {kMachinePid, kMachinePid + 2}, {kOther, kMachinePid}}) {
    const control_hit none = programs.hit(pid, tid, 1);
    EXPECT_EQ(none.result, CONTROL_NO_THREAD) << pid << ' ' << tid;
    EXPECT_EQ(none.fired, 0u);
  }
  EXPECT_EQ(machine.hit(0, 1), 1u) << "none of them has hit it";
}

TEST_F(ControlHits, AThreadThatWaitsIsSaidToWaitOnceWhenItIsLookedAt) {
  const Plan plan = make_plan({"threadid:int3,threadid:icount:9"});
  Machine machine(plan);
  machine.add_thread();
  machine.add_thread();
  machine.hold(1);
  EXPECT_EQ(machine.take_hit(0, 0).result, 0u);
  EXPECT_EQ(machine.take_hit(1, 1).result, CONTROL_STEPPING) << "a hit is no look";
  EXPECT_EQ(machine.take_hit(1, 0).result, CONTROL_STEPPING | CONTROL_HELD);
  EXPECT_EQ(machine.take_hit(1, 0).result, CONTROL_STEPPING);
}

TEST_F(ControlHits, OnlyAMarkerWithItsNumberIsHit) {
  const Plan plan = make_plan({"threadid:address:0x401000", "threadid:ssc:1", "threadid:ssc:0",
                               "threadid:magic:1.2", "threadid:cpuid:1", "threadid:address:foo",
                               "threadid:enter_func:foo"});
  Machine machine(plan);
  machine.add_thread();
  EXPECT_EQ(machine.hit(0, ~0ull), 0b1100100u) << "with registers that are all 0";
}

TEST_F(ControlHits, AProcessIsMarkedIfItsProgramOrALibraryHasProbes) {
  const Plan plan = make_plan({"threadid:enter_func:foo"});
  Machine machine(plan);
  Programs &programs = machine.programs();
  const auto mark_of = [&](uint32_t pid) {
    uint8_t mark = 0;
    return bpf_map_lookup_elem(programs.probed_map(), &pid, &mark) == 0 ? int(mark) : -1;
  };
  const auto add = [&](ProbeKind kind, uint32_t pid, bool own) {
    EXPECT_EQ(programs.add_probes(kind, pid, "/none", {}, own), 0);
    return mark_of(pid);
  };
  constexpr uint32_t one = kMachinePid, other = kMachinePid + 1;
  EXPECT_EQ(add(ProbeKind::library, one, true), -1) << "of no alarm";
  EXPECT_EQ(add(ProbeKind::alarm, one, false), 1);
  EXPECT_EQ(add(ProbeKind::leave, one, true), 2);
  EXPECT_EQ(add(ProbeKind::alarm, one, false), 2) << "its program still has them";
  EXPECT_EQ(add(ProbeKind::pcontrol, other, true), 2);
  programs.drop_probes(one, true);
  EXPECT_EQ(mark_of(one), -1);
  EXPECT_EQ(mark_of(other), 2);
}

} // namespace
} // namespace ovnitrace::control
