// SPDX-License-Identifier: BSD-2-Clause
// Which of the scheduler's BPF programs and maps a capture takes, by what it needs and by the
// kernel: user/bpf/capture_programs. Nothing is loaded.
#include "user/bpf/capture_programs.h"

#include "tests/unit/support/fake_kernel.h"

#include "ovnitrace.skel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace ovnitrace {
namespace {

using test::FakeKernel;
using Names = std::set<std::string>;

class CapturePrograms : public testing::Test {
protected:
  /// Prepares a new object.
  void prepare(const CaptureParameters &parameters, FakeKernel &kernel, uint32_t cpus = 6) {
    object_.reset(ovnitrace_bpf__open());
    ASSERT_TRUE(object_);
    prepare_capture(*object_, parameters, cpus, kernel.types());
  }
  void prepare(const CaptureParameters &parameters, uint32_t cpus = 6) {
    FakeKernel kernel;
    modern(kernel);
    prepare(parameters, kernel, cpus);
  }
  static void modern(FakeKernel &kernel) {
    kernel.tracepoint("sched_switch", 4).helpers({"loop"});
    kernel.tracepoint("workqueue_queue_work", 3).tracepoint("workqueue_execute_start", 1);
  }
  Names loaded() const { return test::programs_to_load(object_->obj); }
  /// Those of the names that are loaded.
  Names loaded_of(const Names &names) const {
    const Names all = loaded();
    Names found;
    std::set_intersection(all.begin(), all.end(), names.begin(), names.end(),
                          std::inserter(found, found.end()));
    return found;
  }
  const auto &data() const { return *object_->rodata; }
  std::vector<uint32_t> sizes(const std::vector<const bpf_map *> &maps) const {
    std::vector<uint32_t> all;
    for (const bpf_map *map : maps)
      all.push_back(bpf_map__max_entries(map));
    return all;
  }
  std::unique_ptr<ovnitrace_bpf, decltype(&ovnitrace_bpf__destroy)> object_{nullptr,
                                                                            ovnitrace_bpf__destroy};
};

using Sizes = std::vector<uint32_t>;

TEST_F(CapturePrograms, AProgramsCaptureFollowsItsThreadsAndTheirSwitches) {
  prepare({});
  EXPECT_EQ(loaded(),
            (Names{"find_quota_timers", "follow_caller", "on_cgroup_end", "on_cgroup_attach",
                   "on_newtask", "on_exec", "on_exec_cmdline", "on_rename", "on_exit",
                   "on_queue_work", "on_execute_work", "on_switch", "on_waking", "on_wakeup",
                   "on_wakeup_new", "on_migrate"}));
  EXPECT_TRUE(data().has_transitions);
  EXPECT_TRUE(data().wants_holders);
  EXPECT_FALSE(data().has_twins);
  EXPECT_FALSE(data().only_targets);
  EXPECT_FALSE(data().unwinds);
  EXPECT_EQ(data().targets, 0u);
  EXPECT_EQ(data().needed_fits, 0u);
  EXPECT_EQ(data().stacks_wanted, 0u);
  EXPECT_EQ(data().stack_depth, 126u);
}

TEST_F(CapturePrograms, WithoutTransitionsNoSwitchIsSeen) {
  prepare({.transitions = false, .cmdlines = false});
  EXPECT_EQ(loaded(), (Names{"find_quota_timers", "follow_caller", "on_cgroup_end",
                             "on_cgroup_attach", "on_newtask", "on_exec", "on_rename", "on_exit"}));
  EXPECT_FALSE(data().has_transitions);
  EXPECT_FALSE(data().wants_holders);
  EXPECT_FALSE(data().has_work_items);
  EXPECT_EQ(sizes({object_->maps.work_items, object_->maps.workers}), (Sizes{1, 1}));
}

TEST_F(CapturePrograms, AnOlderSwitchHasThreeArguments) {
  const Names both = {"on_switch", "on_switch_3_arguments"};
  for (const auto &[arguments, program] : {std::pair(3, "on_switch_3_arguments"),
                                           std::pair(4, "on_switch"), std::pair(5, "on_switch")}) {
    FakeKernel kernel;
    kernel.tracepoint("sched_switch", arguments);
    prepare({}, kernel);
    EXPECT_EQ(loaded_of(both), Names{program}) << arguments;
  }
}

TEST_F(CapturePrograms, WorkItemsNeedBothTracepoints) {
  const Names both = {"on_queue_work", "on_execute_work"};
  FakeKernel queue, execute, all;
  queue.tracepoint("workqueue_queue_work", 3);
  execute.tracepoint("workqueue_execute_start", 1);
  for (FakeKernel *kernel : {&queue, &execute}) {
    prepare({}, *kernel);
    EXPECT_EQ(loaded_of(both), Names{});
    EXPECT_FALSE(data().has_work_items);
  }
  modern(all);
  prepare({}, all);
  EXPECT_EQ(loaded_of(both), both);
  EXPECT_TRUE(data().has_work_items);
  EXPECT_EQ(sizes({object_->maps.work_items, object_->maps.workers}), (Sizes{4096, 1024}));
}

TEST_F(CapturePrograms, EachCpuHasARingAndAStagingArea) {
  prepare({}, 6);
  EXPECT_EQ(sizes({object_->maps.rings, object_->maps.stages}), (Sizes{6, 6}));
  EXPECT_EQ(data().possible_cpus, 6u);
}

// A mask of more CPUs is not recorded.
TEST_F(CapturePrograms, AffinityIsOfSoManyCpusAsARecordCanName) {
  prepare({}, FTRACE_AFFINITY_MOST);
  EXPECT_EQ(data().possible_cpus, uint32_t(FTRACE_AFFINITY_MOST));
  prepare({}, FTRACE_AFFINITY_MOST + 1);
  EXPECT_EQ(data().possible_cpus, 0u);
}

TEST_F(CapturePrograms, MapsOfStacksHaveOneEntryIfNoneAreTaken) {
  const auto of_stacks = [&] {
    const auto &maps = object_->maps;
    return sizes({maps.stack_slots, maps.walked_stacks, maps.stack_scratch, maps.stack_memory});
  };
  const auto of_rules = [&] {
    const auto &maps = object_->maps;
    return sizes({maps.unwind_rules, maps.unwind_walks, maps.copy_scratch});
  };
  const Sizes none = {1, 1, 1}, rules = {1 << 18, 6, 6};
  prepare({});
  EXPECT_EQ(of_stacks(), (Sizes{1, 1, 1, 1}));
  EXPECT_EQ(of_rules(), none);
  EXPECT_EQ(sizes({object_->maps.waker_stacks}), Sizes{1});
  prepare({.stacks = STACKS_KERNEL, .stack_depth = 17});
  EXPECT_EQ(of_stacks(), (Sizes{32768, 16384, 6, 6}));
  EXPECT_EQ(of_rules(), none) << "the kernel's frames need no rules";
  EXPECT_EQ(sizes({object_->maps.waker_stacks}), Sizes{1});
  EXPECT_EQ(data().stacks_wanted, 1u);
  EXPECT_EQ(data().stack_depth, 17u);
  prepare({.stacks = STACKS_USER | STACKS_WAKEUP});
  EXPECT_EQ(data().stacks_wanted, 6u);
  EXPECT_EQ(sizes({object_->maps.waker_stacks}), Sizes{4 << 20});
#if defined(__x86_64__) || defined(__aarch64__)
  EXPECT_TRUE(data().unwinds);
  EXPECT_EQ(of_rules(), rules);
  EXPECT_EQ(sizes({object_->maps.stack_copies}), Sizes{8 << 20});
#endif
  FakeKernel old; // without bpf_loop()
  prepare({.stacks = STACKS_USER}, old);
  EXPECT_FALSE(data().unwinds);
  EXPECT_EQ(of_rules(), none);
}

TEST_F(CapturePrograms, CommandLinesHaveARing) {
  prepare({.cmdlines = true});
  EXPECT_EQ(sizes({object_->maps.cmdlines}), Sizes{1 << 20});
  prepare({.cmdlines = false});
  EXPECT_LT(bpf_map__max_entries(object_->maps.cmdlines), 1u << 20);
  EXPECT_EQ(loaded_of({"on_exec_cmdline"}), Names{});
}

TEST_F(CapturePrograms, RegionsNeedAValueOfEachThread) {
  prepare({.regions = false});
  EXPECT_EQ(sizes({object_->maps.regions}), Sizes{1});
  prepare({.regions = true});
  EXPECT_EQ(sizes({object_->maps.regions}), Sizes{(4 << 20) + 1});
}

// If every thread is recorded, the switches say who has a CPU.
TEST_F(CapturePrograms, HoldersAreRecordedUnlessEveryThreadIs) {
  const auto wants = [&](const CaptureParameters &parameters) {
    prepare(parameters);
    return data().wants_holders;
  };
  Selection some;
  some.asked = {"--comm a"};
  EXPECT_FALSE(wants({.trace_all = true}));
  EXPECT_TRUE(wants({.trace_all = true, .selection = some}));
  EXPECT_TRUE(wants({.trace_all = true, .regions = true}));
  EXPECT_TRUE(wants({.trace_all = false}));
  EXPECT_FALSE(wants({.trace_all = true, .transitions = false, .regions = true}));
}

TEST_F(CapturePrograms, LivingThreadsAreLookedForWhereSomeAreChosen) {
  const Names iterators = {"mark_targets", "snapshot", "list_traced"};
  Selection some;
  some.asked = {"--comm a"};
  prepare({.targets = {70, 71}, .only_targets = true});
  EXPECT_EQ(loaded_of(iterators), (Names{"mark_targets", "snapshot"}));
  EXPECT_EQ(data().targets, 2u);
  EXPECT_EQ(data().target_pids[0], 70u);
  EXPECT_EQ(data().target_pids[1], 71u);
  EXPECT_TRUE(data().only_targets);
  prepare({.trace_all = true});
  EXPECT_EQ(loaded_of(iterators), Names{"snapshot"});
  prepare({.trace_all = true, .selection = some});
  EXPECT_EQ(loaded_of(iterators), (Names{"mark_targets", "snapshot"}));
  prepare({.selection = some});
  EXPECT_EQ(loaded_of(iterators), Names{}) << "a program has no living threads yet";
  for (const bpf_program *program :
       {object_->progs.mark_targets, object_->progs.snapshot, object_->progs.list_traced})
    EXPECT_FALSE(bpf_program__autoattach(program)) << bpf_program__name(program);
  EXPECT_TRUE(bpf_program__autoattach(object_->progs.on_switch));
}

TEST_F(CapturePrograms, AtMost64ProcessesAreTargets) {
  std::vector<uint32_t> pids(65);
  for (uint32_t n = 0; n < 65; n++)
    pids[n] = 1000 + n;
  prepare({.targets = pids});
  EXPECT_EQ(data().targets, 64u);
  EXPECT_EQ(data().target_pids[63], 1063u);
}

// What --list needs: nothing is recorded.
TEST_F(CapturePrograms, ALookLoadsOnlyWhatLists) {
  prepare({.trace_all = true, .only_looks = true});
  EXPECT_EQ(loaded(), Names{"list_traced"});
  prepare({.targets = {7}, .only_looks = true});
  EXPECT_EQ(loaded(), (Names{"list_traced", "mark_targets"}));
}

TEST_F(CapturePrograms, TwinsAreLoadedWhereTracepointsCanBePreempted) {
  FakeKernel kernel;
  modern(kernel);
  kernel.per_cpu({{"runqueues", 5000}, {"__preempt_count", 64}, {"tracepoint_srcu_srcu_data", 0}});
  prepare({}, kernel);
  EXPECT_EQ(loaded_of({"on_newtask_twin", "on_exec_twin", "on_rename_twin", "on_exit_twin"}),
            (Names{"on_newtask_twin", "on_exec_twin", "on_rename_twin", "on_exit_twin"}));
  EXPECT_TRUE(data().has_twins);
  EXPECT_EQ(data().preempt_count_distance, 64 - 5000);
  EXPECT_EQ(data().hardirq_shift, 16u);
}

TEST_F(CapturePrograms, FunctionsOfTheKernelAreKnownByTheirBits) {
  const char *const names[] = {
      "bpf_rdonly_cast",       "bpf_iter_task_new",   "bpf_iter_task_next",
      "bpf_iter_task_destroy", "bpf_preempt_disable", "bpf_preempt_enable",
      "bpf_rcu_read_lock",     "bpf_rcu_read_unlock", "bpf_send_signal_task"};
  for (uint32_t n = 0; n < 9; n++) {
    FakeKernel kernel;
    kernel.function(names[n]);
    prepare({}, kernel);
    EXPECT_EQ(data().kfuncs, 1u << n) << names[n];
  }
  prepare({});
  EXPECT_EQ(data().kfuncs, 0u);
}

TEST(WrittenStack, IsOneOfTheTableThatHasFrames) {
  const auto table = std::make_unique<stack_slot[]>(CAPTURE_STACKS);
  EXPECT_EQ(written_stack(nullptr, 1), nullptr);
  for (const uint64_t count : {1, 126}) {
    table[0].count = table[CAPTURE_STACKS - 1].count = count;
    EXPECT_EQ(written_stack(table.get(), 1), &table[0]) << count;
    EXPECT_EQ(written_stack(table.get(), CAPTURE_STACKS), &table[CAPTURE_STACKS - 1]) << count;
  }
  EXPECT_EQ(written_stack(table.get(), 0), nullptr) << "no stack";
  EXPECT_EQ(written_stack(table.get(), CAPTURE_STACKS + 1), nullptr);
  EXPECT_EQ(written_stack(table.get(), 2), nullptr) << "nothing is written yet";
  table[1].count = 127;
  EXPECT_EQ(written_stack(table.get(), 2), nullptr) << "more frames than a stack has";
}

} // namespace
} // namespace ovnitrace
