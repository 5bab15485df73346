// SPDX-License-Identifier: BSD-2-Clause
// What the running kernel's types say, and what BPF programs are given before they are loaded.
// Nothing is loaded: that would need root.
#include "emulator/base/error.h"
#include "tests/unit/support/output_of.h"
#include "user/bpf/kernel_functions.h"
#include "user/bpf/kernel_types.h"
#include "user/bpf/preflight.h"
#include "user/bpf/selection_programs.h"
#include "user/bpf/twins.h"

#include "families.skel.h"
#include "ovnitrace.skel.h"

#include <gtest/gtest.h>
#include <ovnitrace/capture.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>

namespace ovnitrace {
namespace {

/// Returns where a variable of a CPU is, as bpftool prints it; -1: it is not there.
int64_t place_of(const std::string &variable) {
  const std::string line =
      test::output_of("PATH=$PATH:/usr/sbin bpftool btf dump file /sys/kernel/btf/vmlinux | "
                      "grep \"(VAR '" +
                      variable + "')\"");
  const size_t offset = line.find("offset=");
  return offset == line.npos ? -1 : std::stoll(line.substr(offset + strlen("offset=")));
}

class KernelTypesTest : public ::testing::Test {
protected:
  void SetUp() override {
    if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
      GTEST_SKIP() << "this kernel has no type information";
    static const KernelTypes kernels; // reading them takes long
    types = &kernels;
  }
  const KernelTypes *types = nullptr;
};

TEST_F(KernelTypesTest, SayWhatIsThere) {
  EXPECT_EQ(types->tracepoint_arguments("sched_process_fork"), 2);
  EXPECT_EQ(types->tracepoint_arguments("sched_process_exec"), 3);
  EXPECT_EQ(types->tracepoint_arguments("sched_waking"), 1);
  EXPECT_EQ(types->tracepoint_arguments("sched_no_such"), -1);
  EXPECT_TRUE(types->has_tracepoint("sched_switch"));
  EXPECT_FALSE(types->has_tracepoint("schedule")) << "it is a function";
  EXPECT_TRUE(types->has_function("schedule"));
  EXPECT_FALSE(types->has_function("no_such_function"));
  EXPECT_EQ(types->function_id("no_such_function"), 0);
  EXPECT_TRUE(types->has_helper("map_lookup_elem"));
  EXPECT_TRUE(types->has_helper("task_pt_regs"));
  EXPECT_FALSE(types->has_helper("no_such"));
  EXPECT_FALSE(types->has_helper("map_lookup")) << "the start of a name";
}

TEST_F(KernelTypesTest, SayHowFarVariablesOfACpuAreApart) {
  const int64_t queues = place_of("runqueues"), count = place_of("__preempt_count"),
                cpus = place_of("kernel_cpustat");
  ASSERT_GE(queues, 0);
  ASSERT_GE(cpus, 0);
  EXPECT_EQ(types->steal_distance(), cpus + 7 * 8 - queues) << "the eighth counter";
  if (count >= 0) { // it is a member of another variable from 6.2 to 6.14
    EXPECT_EQ(types->preempt_count_distance(), count - queues);
  }
}

TEST_F(KernelTypesTest, AreOfAKernelThatIsNewEnough) {
  require_kernel(KernelPart::recording, *types);
  EXPECT_TRUE(types->has_helper("task_pt_regs"));
}

/// The instructions that call what a kernel may not have.
size_t calls(bpf_object *object, uint8_t source, int32_t first, int32_t end) {
  size_t found = 0;
  bpf_program *program = nullptr;
  while ((program = bpf_object__next_program(object, program)))
    for (size_t n = 0; n < bpf_program__insn_cnt(program); n++) {
      const bpf_insn &one = bpf_program__insns(program)[n];
      found += one.code == (BPF_JMP | BPF_CALL) && one.src_reg == source && one.imm >= first &&
               one.imm < end;
    }
  return found;
}

TEST_F(KernelTypesTest, PlaceholdersBecomeCallsOfTheFunctionsThatAreThere) {
  const std::unique_ptr<families_bpf, decltype(&families_bpf__destroy)> object(
      families_bpf__open(), families_bpf__destroy);
  ASSERT_TRUE(object);
  const auto placeholders = [&](int kfunc) {
    return calls(object->obj, 0, KFUNC_CALL + kfunc, KFUNC_CALL + kfunc + 1);
  };
  const size_t disable = placeholders(KFUNC_PREEMPT_DISABLE),
               enable = placeholders(KFUNC_PREEMPT_ENABLE);
  ASSERT_GT(disable, 0u);
  ASSERT_GT(enable, 0u);
  const uint32_t there = use_kfuncs(object->obj, *types);
  EXPECT_LT(there, 1u << KFUNCS);
  const std::pair<int, const char *> functions[] = {
      {KFUNC_RDONLY_CAST, "bpf_rdonly_cast"},
      {KFUNC_ITER_TASK_NEW, "bpf_iter_task_new"},
      {KFUNC_PREEMPT_DISABLE, "bpf_preempt_disable"},
      {KFUNC_RCU_READ_UNLOCK, "bpf_rcu_read_unlock"},
      {KFUNC_SEND_SIGNAL_TASK, "bpf_send_signal_task"}};
  for (const auto &[kfunc, name] : functions)
    EXPECT_EQ((there >> kfunc & 1) != 0, types->has_function(name)) << name;
  const int32_t id = types->function_id("bpf_preempt_disable");
  if (id) {
    EXPECT_EQ(placeholders(KFUNC_PREEMPT_DISABLE), 0u);
    EXPECT_EQ(calls(object->obj, BPF_PSEUDO_KFUNC_CALL, id, id + 1), disable);
  } else {
    EXPECT_EQ(placeholders(KFUNC_PREEMPT_DISABLE), disable);
  }
}

class SelectionPrograms : public KernelTypesTest {
protected:
  void SetUp() override {
    KernelTypesTest::SetUp();
    if (IsSkipped())
      return;
    object.reset(ovnitrace_bpf__open());
    ASSERT_TRUE(object);
    object->rodata->kfuncs = 1u << KFUNC_ITER_TASK_NEW; // whatever this kernel has
  }
  uint32_t needed(const Selection &selection, bool everywhere) {
    prepare_selection(*object, selection, everywhere, *types);
    return object->rodata->needed_fits;
  }
  std::unique_ptr<ovnitrace_bpf, decltype(&ovnitrace_bpf__destroy)> object{nullptr,
                                                                           ovnitrace_bpf__destroy};
};

TEST_F(SelectionPrograms, NeedWhatTheFiltersAsk) {
  EXPECT_EQ(needed({}, true), 0u);
  EXPECT_EQ(needed({}, false), 0u);
  EXPECT_EQ(object->rodata->chosen_cpus[0], ~0ull);
  Selection one;
  one.asked = {"any"};
  EXPECT_EQ(needed(one, true), 1u) << "a thread must be born";
  EXPECT_EQ(needed(one, false), 3u) << "and be of the program";
  const auto with = [&](auto change) {
    Selection changed = one;
    change(changed);
    return needed(changed, true);
  };
  EXPECT_EQ(with([](Selection &s) { s.tids = {7}; }), 5u);
  EXPECT_EQ(with([](Selection &s) { s.comms = {"a"}; }), 9u);
  EXPECT_EQ(with([](Selection &s) { s.refused_comms = {"a"}; }), 9u);
  EXPECT_FALSE(bpf_program__autoload(object->progs.on_setuid));
  EXPECT_EQ(with([](Selection &s) { s.uids = {0}; }), 17u);
  EXPECT_TRUE(bpf_program__autoload(object->progs.on_setuid));
  EXPECT_FALSE(bpf_program__autoload(object->progs.on_cgroup_mkdir));
  EXPECT_EQ(with([](Selection &s) { s.cgroups.resize(1); }), 33u);
  EXPECT_TRUE(bpf_program__autoload(object->progs.on_cgroup_mkdir));
  EXPECT_TRUE(bpf_program__autoload(object->progs.on_cgroup_rmdir));
  EXPECT_FALSE(bpf_program__autoload(object->progs.on_cgroup_move));
  EXPECT_EQ(with([](Selection &s) { s.cpus = {1}; }), 65u);
  EXPECT_EQ(with([](Selection &s) { s.refused_cpus = {1}; }), 65u);
  EXPECT_EQ(with([](Selection &s) { s.no_kernel_threads = true; }), 129u);
}

TEST_F(SelectionPrograms, HaveTheValuesOfTheFilters) {
  Selection selection;
  selection.asked = {"any"};
  selection.tids = {70, 71};
  selection.uids = {1000, 1001, 1002};
  selection.comms = {"a", "b"};
  selection.refused_comms = {"c"};
  selection.cpus = {1, 64, 67, 3};
  selection.refused_cpus = {3, 67};
  selection.cgroups.resize(2);
  selection.cgroups[0].names.resize(2);
  selection.cgroups[1].names.resize(3);
  prepare_selection(*object, selection, true, *types);
  const auto &data = *object->rodata;
  EXPECT_EQ(data.tids_used, 2u);
  EXPECT_EQ(data.target_tids[0], 70u);
  EXPECT_EQ(data.target_tids[1], 71u);
  EXPECT_EQ(data.uids_used, 3u);
  EXPECT_EQ(data.chosen_uids[2], 1002u);
  EXPECT_EQ(data.globs_used, 3u);
  EXPECT_EQ(data.globs_chosen, 2u);
  EXPECT_EQ(bpf_map__max_entries(object->maps.name_globs), 3u);
  EXPECT_EQ(data.chosen_cpus[0], 2u);
  EXPECT_EQ(data.chosen_cpus[1], 1u);
  EXPECT_EQ(data.chosen_cpus[2], 0u);
  EXPECT_EQ(data.cgroup_names_used, 5u);
  EXPECT_EQ(bpf_map__max_entries(object->maps.cgroup_names), 5u);
  EXPECT_EQ(bpf_map__max_entries(object->maps.chosen_cgroups), uint32_t(SELECT_CGROUPS));
}

TEST_F(SelectionPrograms, RefusedCpusAreTakenFromAll) {
  Selection selection;
  selection.asked = {"--no-cpu"};
  selection.refused_cpus = {0, 65};
  prepare_selection(*object, selection, true, *types);
  EXPECT_EQ(object->rodata->chosen_cpus[0], ~1ull);
  EXPECT_EQ(object->rodata->chosen_cpus[1], ~2ull);
  EXPECT_EQ(object->rodata->chosen_cpus[2], ~0ull);
}

TEST_F(KernelTypesTest, TwinsAreLoadedWhereTracepointsCanBePreempted) {
  const std::unique_ptr<ovnitrace_bpf, decltype(&ovnitrace_bpf__destroy)> object(
      ovnitrace_bpf__open(), ovnitrace_bpf__destroy);
  ASSERT_TRUE(object);
  const bool needed = choose_twins(object->obj, *types);
  EXPECT_EQ(needed, types->can_preempt_tracepoints());
  size_t twins = 0;
  bpf_program *program = nullptr;
  while ((program = bpf_object__next_program(object->obj, program)))
    if (std::string_view(bpf_program__name(program)).ends_with("_twin")) {
      twins++;
      if (!needed) {
        EXPECT_FALSE(bpf_program__autoload(program)) << bpf_program__name(program);
      }
    }
  EXPECT_GT(twins, 0u);
  EXPECT_FALSE(has_twin(object->obj, "on_switch")) << "nothing is loaded yet";
}

} // namespace
} // namespace ovnitrace
