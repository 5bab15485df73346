// SPDX-License-Identifier: BSD-2-Clause
// Which BPF programs and maps of families, causes, triggers and filters are taken, by what is
// wanted and by the kernel. Nothing is loaded.
#include "emulator/base/error.h"
#include "tests/unit/support/fake_kernel.h"
#include "user/bpf/cause_programs.h"
#include "user/bpf/family_programs.h"
#include "user/bpf/kernel_functions.h"
#include "user/bpf/selection_programs.h"
#include "user/bpf/trigger_capture.h"
#include "user/bpf/twins.h"

#include "causes.skel.h"
#include "families.skel.h"
#include "ovnitrace.skel.h"
#include "trigger.skel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace {
namespace {

using test::FakeKernel;
using test::programs_to_load;
using Names = std::set<std::string>;
using List = std::vector<std::string>;

template <class Object, void destroy(Object *)> struct Destroy {
  void operator()(Object *object) const { destroy(object); }
};
template <class Object, void destroy(Object *)>
using Owned = std::unique_ptr<Object, Destroy<Object, destroy>>;
using Families = Owned<families_bpf, families_bpf__destroy>;
using Causes = Owned<causes_bpf, causes_bpf__destroy>;
using Trigger = Owned<trigger_bpf, trigger_bpf__destroy>;
using Scheduler = Owned<ovnitrace_bpf, ovnitrace_bpf__destroy>;

/// The calls of an object by their kind and number.
size_t calls(bpf_object *object, uint8_t source, int32_t number) {
  size_t found = 0;
  bpf_program *program = nullptr;
  while ((program = bpf_object__next_program(object, program)))
    for (size_t n = 0; n < bpf_program__insn_cnt(program); n++) {
      const bpf_insn &one = bpf_program__insns(program)[n];
      found += one.code == (BPF_JMP | BPF_CALL) && one.src_reg == source && one.imm == number;
    }
  return found;
}

TEST(FamilyPrograms, AreThoseOfTheFamiliesThatTheKernelHas) {
  const Families object(families_bpf__open());
  ASSERT_TRUE(object);
  FakeKernel kernel;
  kernel.tracepoint("signal_generate", 4).tracepoint("sched_pi_setprio", 2);
  kernel.tracepoint("sched_switch", 4).tracepoint("irq_handler_entry", 2);
  const FamilyParameters wanted = {parse_families("signal,prio"), 6, 1000, 0};
  List absent = prepare_families(*object, wanted, kernel.types());
  std::sort(absent.begin(), absent.end());
  EXPECT_EQ(absent, (List{"signal_deliver", "sys_exit"}));
  EXPECT_EQ(programs_to_load(object->obj),
            (Names{"prio_on_sched_pi_setprio", "prio_server_on_sched_switch",
                   "signal_on_signal_generate"}));
  EXPECT_EQ(object->bss->families, 1u << 5 | 1u << 7);
  EXPECT_EQ(object->bss->chosen, 1u << 5 | 1u << 7);
  EXPECT_EQ(object->rodata->recorder_uid, 1000u);
  EXPECT_FALSE(object->rodata->has_twins);
}

TEST(FamilyPrograms, MapsAreAsLargeAsTheFamiliesNeed) {
  const auto sizes = [](const FamilyParameters &wanted) {
    const Families object(families_bpf__open());
    FakeKernel kernel;
    prepare_families(*object, wanted, kernel.types());
    const auto &maps = object->maps;
    std::vector<uint32_t> all;
    for (const bpf_map *map : {maps.family_counts, maps.stolen, maps.priorities, maps.servers,
                               maps.disabled, maps.user_probes})
      all.push_back(bpf_map__max_entries(map));
    return all;
  };
  using Sizes = std::vector<uint32_t>;
  EXPECT_EQ(sizes({parse_families("signal"), 6, 0, 0}),
            (Sizes{6, 6, 1, 4096 + 6 * 128, 16384 + 6 * 128, 1}));
  EXPECT_EQ(sizes({parse_families("prio,user"), 2, 0, 3}),
            (Sizes{2, 2, 4 << 20, 4096 + 2 * 128, 16384 + 2 * 128, 3}));
}

TEST(FamilyPrograms, ATimersMapHasSpareEntriesForEachCpu) {
  const Families object(families_bpf__open()), fresh(families_bpf__open());
  FakeKernel kernel;
  prepare_families(*object, {parse_families("timer"), 3, 0, 0}, kernel.types());
  EXPECT_EQ(bpf_map__max_entries(object->maps.armed_timers),
            bpf_map__max_entries(fresh->maps.armed_timers) + 384);
}

TEST(FamilyPrograms, TheProgramOfProbesIsLoadedForProbesOnly) {
  for (const size_t probes : {0, 1}) {
    const Families object(families_bpf__open());
    FakeKernel kernel;
    const List absent =
        prepare_families(*object, {parse_families("user"), 2, 0, probes}, kernel.types());
    EXPECT_EQ(absent, List{});
    EXPECT_EQ(programs_to_load(object->obj), probes ? Names{"on_user_probe"} : Names{});
  }
}

TEST(FamilyPrograms, ANewerTimerSaysWhetherItWasArmed) {
  for (const auto &[arguments, says] : {std::pair(2, false), std::pair(3, true)}) {
    const Families object(families_bpf__open());
    FakeKernel kernel;
    kernel.tracepoint("hrtimer_start", arguments);
    kernel.per_cpu({{"runqueues", 1000}, {"kernel_cpustat", 5000}});
    kernel.structure("kernel_cpustat", {{"cpustat", 0}});
    prepare_families(*object, {parse_families("timer"), 2, 0, 0}, kernel.types());
    EXPECT_EQ(object->rodata->start_has_was_armed, says) << arguments;
    EXPECT_EQ(object->rodata->steal_distance, 5000 + 7 * 8 - 1000);
  }
}

TEST(FamilyPrograms, TwinsAreOfProgramsThatAreLoaded) {
  const Families object(families_bpf__open());
  FakeKernel kernel;
  kernel.per_cpu({{"tracepoint_srcu_srcu_data", 0}}).tracepoint("sys_enter", 2);
  prepare_families(*object, {parse_families("mutex"), 2, 0, 0}, kernel.types());
  EXPECT_EQ(programs_to_load(object->obj),
            (Names{"mutex_on_sys_enter", "mutex_on_sys_enter_twin"}));
  EXPECT_TRUE(object->rodata->has_twins);
  EXPECT_FALSE(has_twin(object->obj, "mutex_on_sys_enter")) << "nothing is loaded yet";
}

// The end of a request is a tracepoint since 6.5. Before, it is the end of the interrupt.
TEST(CausePrograms, TheEndOfARequestIsThatOfTheInterruptInOlderKernels) {
  const Names usual = {"on_block_rq_complete", "on_block_bio_complete", "on_netif_rx",
                       "on_netif_receive_skb", "on_napi_poll"};
  for (const bool sees_end : {false, true}) {
    const Causes object(causes_bpf__open());
    ASSERT_TRUE(object);
    FakeKernel kernel;
    if (sees_end)
      kernel.tracepoint("block_io_done", 1);
    EXPECT_FALSE(prepare_causes(*object, kernel.types(), {}));
    Names expected = usual;
    if (sees_end)
      expected.insert("on_block_io_done");
    else
      expected.insert({"on_irq_handler_exit", "on_softirq_exit"});
    EXPECT_EQ(programs_to_load(object->obj), expected);
    EXPECT_EQ(object->rodata->sees_end, sees_end);
  }
}

/// How often a program loads a constant of 64 bits.
size_t loads(const bpf_program *program, uint64_t constant) {
  constexpr uint8_t kLoadConstant = BPF_LD | BPF_DW | BPF_IMM; // NOLINT(misc-redundant-expression)
  const bpf_insn *code = bpf_program__insns(program);
  size_t found = 0;
  for (size_t n = 0; n + 1 < bpf_program__insn_cnt(program); n++)
    found += code[n].code == kLoadConstant && code[n].src_reg == 0 &&
             uint32_t(code[n].imm) == uint32_t(constant) &&
             uint32_t(code[n + 1].imm) == constant >> 32;
  return found;
}

constexpr quota_timers kTimers = {
    .period = 0x1111111122222222, .slack = 0x3333333344444444, .deadline = 0x5555555566666666};

TEST(CausePrograms, KnowTheTimersOfTheKernel) {
  for (const bool can_cast : {false, true}) {
    const Causes object(causes_bpf__open());
    FakeKernel kernel;
    if (can_cast)
      kernel.function("bpf_rdonly_cast");
    const bpf_program *const used = can_cast ? object->progs.on_hrtimer_expire_exit
                                             : object->progs.on_hrtimer_expire_exit_uncast,
                             *other = can_cast ? object->progs.on_hrtimer_expire_exit_uncast
                                               : object->progs.on_hrtimer_expire_exit;
    ASSERT_GT(loads(used, QUOTA_TIMER_PERIOD), 0u);
    EXPECT_TRUE(prepare_causes(*object, kernel.types(), kTimers));
    for (const uint64_t address : {kTimers.period, kTimers.slack, kTimers.deadline}) {
      EXPECT_GT(loads(used, address), 0u) << std::hex << address;
      EXPECT_EQ(loads(other, address), 0u) << std::hex << address;
    }
    for (const uint64_t place : {QUOTA_TIMER_PERIOD, QUOTA_TIMER_SLACK, DEADLINE_TIMER})
      EXPECT_EQ(loads(used, place), 0u) << std::hex << place;
    EXPECT_TRUE(bpf_program__autoload(used));
    EXPECT_FALSE(bpf_program__autoload(other));
    EXPECT_EQ(object->rodata->kfuncs, can_cast ? 1u : 0u);
  }
}

TEST(CausePrograms, WithoutKnownTimersOrWithTimersInThreadsNoRefillIsSeen) {
  quota_timers no_deadline = kTimers;
  no_deadline.deadline = 0;
  for (const bool realtime : {false, true}) {
    const Causes object(causes_bpf__open());
    FakeKernel kernel;
    if (realtime)
      kernel.structure("task_struct", {{"softirq_disable_cnt", 8}});
    EXPECT_FALSE(prepare_causes(*object, kernel.types(), realtime ? kTimers : no_deadline));
    EXPECT_FALSE(bpf_program__autoload(object->progs.on_hrtimer_expire_exit));
    EXPECT_FALSE(bpf_program__autoload(object->progs.on_hrtimer_expire_exit_uncast));
  }
}

TEST(CausePrograms, AConstantThatIsNotThereIsNotReplaced) {
  const Causes object(causes_bpf__open());
  bpf_program *const program = object->progs.on_hrtimer_expire_exit;
  const size_t before = loads(program, QUOTA_TIMER_SLACK);
  ASSERT_GT(before, 0u);
  EXPECT_FALSE(replace_constant(program, QUOTA_TIMER_SLACK + 1, 7)) << "the lower half differs";
  EXPECT_FALSE(replace_constant(program, QUOTA_TIMER_SLACK ^ (1ull << 40), 7)) << "the upper half";
  EXPECT_EQ(loads(program, QUOTA_TIMER_SLACK), before);
  EXPECT_TRUE(replace_constant(program, QUOTA_TIMER_SLACK, 0x123456789abcdef0));
  EXPECT_EQ(loads(program, 0x123456789abcdef0), before) << "each of them";
  EXPECT_FALSE(replace_constant(program, QUOTA_TIMER_SLACK, 7)) << "it is gone";
}

TEST(TriggerPrograms, SeeWakeupsIfAWaitBeginsOrEndsWithThem) {
  const std::pair<trigger_kind, bool> cases[] = {{TRIGGER_LATENCY, true},
                                                 {TRIGGER_BLOCKED, true},
                                                 {TRIGGER_IDLE, true},
                                                 {TRIGGER_PREEMPTED, false},
                                                 {TRIGGER_EXIT, false}};
  for (const auto &[kind, sees_wakeups] : cases) {
    const Trigger object(trigger_bpf__open()), fresh(trigger_bpf__open());
    ASSERT_TRUE(object);
    trigger_rule rule = {};
    rule.kind = kind;
    rule.least_ns = 7000;
    rule.has_glob = 1;
    prepare_trigger(*object, rule, 6);
    EXPECT_EQ(programs_to_load(object->obj),
              sees_wakeups
                  ? (Names{"trigger_on_switch", "trigger_on_wakeup", "trigger_on_wakeup_new"})
                  : Names{"trigger_on_switch"})
        << kind;
    EXPECT_EQ(object->rodata->rule.kind, uint32_t(kind));
    EXPECT_EQ(object->rodata->rule.least_ns, 7000u);
    EXPECT_EQ(object->rodata->rule.has_glob, 1u);
    EXPECT_EQ(object->rodata->possible_cpus, 6u);
    EXPECT_EQ(bpf_map__max_entries(object->maps.idle_cpus),
              kind == TRIGGER_IDLE ? 6u : bpf_map__max_entries(fresh->maps.idle_cpus))
        << kind;
    EXPECT_EQ(bpf_map__max_entries(object->maps.trigger_since),
              kind == TRIGGER_EXIT ? 1u : bpf_map__max_entries(fresh->maps.trigger_since))
        << kind;
    EXPECT_GT(bpf_map__max_entries(fresh->maps.trigger_since), 1u);
  }
}

TEST(TailCalls, AreCallsOnlyWhereProgramsHaveStacksOfTheirOwn) {
  for (const bool has_stacks : {false, true}) {
    const Scheduler object(ovnitrace_bpf__open());
    ASSERT_TRUE(object);
    FakeKernel kernel;
    if (has_stacks)
      kernel.function("bpf_jit_supports_private_stack");
    const size_t places = calls(object->obj, 0, KFUNC_TAIL_CALL),
                 before = calls(object->obj, 0, BPF_FUNC_tail_call);
    EXPECT_EQ(use_kfuncs(object->obj, kernel.types()), 0u);
    EXPECT_EQ(calls(object->obj, 0, KFUNC_TAIL_CALL), has_stacks ? 0 : places);
    EXPECT_EQ(calls(object->obj, 0, BPF_FUNC_tail_call), before + (has_stacks ? places : 0));
  }
}

TEST(Twins, AreLeftOutWhereNoneAreNeeded) {
  for (const bool needed : {false, true}) {
    const Scheduler object(ovnitrace_bpf__open());
    FakeKernel kernel;
    kernel.per_cpu({{needed ? "tracepoint_srcu_srcu_data" : "runqueues", 64}});
    const Names before = programs_to_load(object->obj);
    EXPECT_EQ(choose_twins(object->obj, kernel.types()), needed);
    const Names after = programs_to_load(object->obj);
    Names left_out;
    std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                        std::inserter(left_out, left_out.end()));
    EXPECT_EQ(left_out, needed ? Names{}
                               : (Names{"on_exec_twin", "on_exit_twin", "on_newtask_twin",
                                        "on_rename_twin"}));
  }
}

/// A cgroup is watched by visits of threads, or else by a function of the kernel.
TEST(ChosenCgroups, NeedAKernelThatSaysWhoMoved) {
  Selection selection;
  selection.asked = {"--cgroup /a"};
  selection.cgroups.resize(1);
  const Scheduler object(ovnitrace_bpf__open());
  FakeKernel none, moves, visits, moves_again;
  moves.function("cgroup_move_task");
  moves_again.function("cgroup_move_task");
  try {
    prepare_selection(*object, selection, true, none.types());
    FAIL() << "no way to see that a thread is moved";
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "--cgroup, --unit and --container need Linux 6.7, or CONFIG_CGROUPS "
                               "and CONFIG_FUNCTION_TRACER");
  }
  const KernelTypes with_moves = moves.types();
  prepare_selection(*object, selection, true, with_moves);
  EXPECT_TRUE(bpf_program__autoload(object->progs.on_cgroup_move));
  EXPECT_EQ(bpf_map__max_entries(object->maps.cgroup_names), 1u) << "no name, and no empty map";
  prepare_selection(*object, {}, true, with_moves);
  EXPECT_FALSE(bpf_program__autoload(object->progs.on_cgroup_move)) << "no cgroup is chosen";
  object->rodata->kfuncs = 1u << KFUNC_ITER_TASK_NEW;
  prepare_selection(*object, selection, true, visits.types());
  EXPECT_FALSE(bpf_program__autoload(object->progs.on_cgroup_move));
  EXPECT_TRUE(bpf_program__autoload(object->progs.on_cgroup_mkdir));
}

} // namespace
} // namespace ovnitrace
