// SPDX-License-Identifier: BSD-2-Clause
// What a kernel's types say, of kernels that are made up: user/bpf/kernel_types.
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/fake_kernel.h"
#include "user/bpf/preflight.h"

#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <string>

namespace ovnitrace {
namespace {

using test::FakeKernel;

TEST(KernelBtf, ATracepointHasItsArgumentsButNotTheTracers) {
  FakeKernel kernel;
  kernel.tracepoint("none", 0).tracepoint("sched_switch", 4).function("sched_wakeup");
  btf__add_typedef(kernel.raw(), "btf_trace_number", btf__add_ptr(kernel.raw(), kernel.integer()));
  const KernelTypes types = kernel.types();
  EXPECT_EQ(types.tracepoint_arguments("sched_switch"), 4);
  EXPECT_EQ(types.tracepoint_arguments("none"), 0);
  EXPECT_TRUE(types.has_tracepoint("none"));
  EXPECT_EQ(types.tracepoint_arguments("sched_wakeup"), -1) << "a function";
  EXPECT_EQ(types.tracepoint_arguments("number"), -1) << "no function at all";
  EXPECT_FALSE(types.has_tracepoint("number"));
  EXPECT_FALSE(types.has_function("sched_switch"));
}

TEST(KernelBtf, AFunctionHasTheIdOfItsType) {
  FakeKernel kernel;
  kernel.tracepoint("a", 1).function("first").function("second");
  const int second = btf__find_by_name_kind(kernel.raw(), "second", BTF_KIND_FUNC);
  const KernelTypes types = kernel.types();
  EXPECT_EQ(types.function_id("second"), second);
  EXPECT_EQ(types.function_id("third"), 0);
  EXPECT_TRUE(types.has_function("first"));
}

TEST(KernelBtf, HelpersAreKnownByTheirWholeName) {
  FakeKernel kernel;
  kernel.helpers({"unspec", "loop", "task_pt_regs"});
  const KernelTypes types = kernel.types();
  for (const char *name : {"unspec", "loop", "task_pt_regs"})
    EXPECT_TRUE(types.has_helper(name)) << name;
  for (const char *name : {"", "loo", "loops", "BPF_FUNC_loop"})
    EXPECT_FALSE(types.has_helper(name)) << name;
  FakeKernel none;
  EXPECT_FALSE(none.types().has_helper("loop"));
}

TEST(KernelBtf, ThePreemptionCountIsAVariableOrAMemberOfOne) {
  FakeKernel own;
  own.per_cpu({{"first", 8}, {"runqueues", 5000}, {"__preempt_count", 64}, {"pcpu_hot", 128}});
  own.structure("pcpu_hot", {{"preempt_count", 8}});
  EXPECT_EQ(own.types().preempt_count_distance(), 64 - 5000);
  FakeKernel member;
  member.per_cpu({{"pcpu_hot", 6400}, {"runqueues", 5000}});
  member.structure("pcpu_hot", {{"current_task", 0}, {"preempt_count", 8}, {"cpu_number", 12}});
  EXPECT_EQ(member.types().preempt_count_distance(), 6408 - 5000);
}

// Linux 6.2 to 6.14 have a union of a structure there.
TEST(KernelBtf, AMemberOfAnUnnamedMemberIsFound) {
  FakeKernel kernel;
  kernel.per_cpu({{"pcpu_hot", 6400}, {"runqueues", 5000}});
  kernel.nested("pcpu_hot", 16, {{"current_task", 0}, {"preempt_count", 8}});
  EXPECT_EQ(kernel.types().preempt_count_distance(), 6400 + 16 + 8 - 5000);
}

TEST(KernelBtf, ADistanceIsZeroIfOneEndIsNotKnown) {
  FakeKernel no_count, no_queue, no_member, nothing;
  no_count.per_cpu({{"runqueues", 5000}});
  no_queue.per_cpu({{"__preempt_count", 64}});
  no_member.per_cpu({{"runqueues", 5000}, {"pcpu_hot", 128}}).structure("pcpu_hot", {{"top", 0}});
  for (FakeKernel *kernel : {&no_count, &no_queue, &no_member, &nothing}) {
    const KernelTypes types = kernel->types();
    EXPECT_EQ(types.preempt_count_distance(), 0);
    EXPECT_EQ(types.steal_distance(), 0);
  }
}

// The stolen time is the eighth count of 8 bytes.
TEST(KernelBtf, StolenTimeIsAMemberOfTheCountsOfACpu) {
  const std::vector<test::Placed> both = {{"runqueues", 1000}, {"kernel_cpustat", 5000}};
  FakeKernel kernel, no_member, no_counts;
  kernel.per_cpu(both).structure("kernel_cpustat", {{"flags", 0}, {"cpustat", 16}});
  EXPECT_EQ(kernel.types().steal_distance(), 5000 + 16 + 7 * 8 - 1000);
  no_member.per_cpu(both).structure("kernel_cpustat", {{"flags", 0}});
  EXPECT_EQ(no_member.types().steal_distance(), 0);
  no_counts.per_cpu({{"runqueues", 1000}}).structure("kernel_cpustat", {{"cpustat", 16}});
  EXPECT_EQ(no_counts.types().steal_distance(), 0);
}

TEST(KernelBtf, InterruptsAreCountedHigherWhereTheirDisablingIsCounted) {
  FakeKernel old, newer;
  old.per_cpu({{"runqueues", 5000}});
  newer.per_cpu({{"runqueues", 5000}, {"local_interrupt_disable_state", 64}});
  EXPECT_EQ(old.types().hardirq_shift(), 16u);
  EXPECT_EQ(newer.types().hardirq_shift(), 24u);
}

TEST(KernelBtf, ARealtimeKernelCountsInTheThreadWhatDisablesSoftirqs) {
  FakeKernel usual, realtime, nothing;
  usual.structure("task_struct", {{"pid", 8}});
  realtime.structure("task_struct", {{"pid", 8}, {"softirq_disable_cnt", 12}});
  nothing.structure("thread_struct", {{"softirq_disable_cnt", 12}});
  EXPECT_FALSE(usual.types().is_realtime());
  EXPECT_TRUE(realtime.types().is_realtime());
  EXPECT_FALSE(nothing.types().is_realtime());
}

TEST(KernelBtf, TracepointsCanBePreemptedWhereSrcuProtectsThem) {
  FakeKernel usual, srcu;
  usual.per_cpu({{"runqueues", 5000}});
  srcu.per_cpu({{"tracepoint_srcu_srcu_data", 0}, {"runqueues", 5000}});
  EXPECT_FALSE(usual.types().can_preempt_tracepoints());
  EXPECT_TRUE(srcu.types().can_preempt_tracepoints()) << "also if it is the first variable";
}

TEST(KernelBtf, OnlyVariablesOfACpuCount) {
  FakeKernel kernel;
  btf__add_var(kernel.raw(), "tracepoint_srcu_srcu_data", BTF_VAR_GLOBAL_ALLOCATED,
               kernel.integer());
  kernel.per_cpu({{"runqueues", 5000}});
  EXPECT_FALSE(kernel.types().can_preempt_tracepoints());
}

TEST(KernelBtf, TheDistancesAreGivenToThePrograms) {
  FakeKernel kernel;
  kernel.per_cpu(
      {{"runqueues", 5000}, {"__preempt_count", 64}, {"local_interrupt_disable_state", 80}});
  struct {
    int64_t preempt_count_distance = 0;
    uint32_t hardirq_shift = 0;
  } data;
  set_preempt_count(data, kernel.types());
  EXPECT_EQ(data.preempt_count_distance, 64 - 5000);
  EXPECT_EQ(data.hardirq_shift, 24u);
}

std::string refusal(KernelPart part, FakeKernel &kernel) {
  const KernelTypes types = kernel.types();
  return test::error_from([&] { require_kernel(part, types); });
}

TEST(KernelBtf, AKernelThatIsTooOldIsRefusedWithWhatItLacks) {
  utsname names;
  ASSERT_EQ(uname(&names), 0);
  const std::string start = "this kernel (" + std::string(names.release) + ") is too old for ",
                    end = " and later have. docs/capture.md lists the kernels that were tested";
  FakeKernel loops, regs, none, also_none;
  loops.helpers({"loop"});
  regs.helpers({"task_pt_regs"});
  EXPECT_EQ(refusal(KernelPart::recording, none),
            start + "recording: it lacks the BPF helper bpf_task_pt_regs, which Linux 5.15" + end);
  EXPECT_EQ(refusal(KernelPart::idle_trigger, also_none),
            start +
                "--trigger idle-while-waiting: it lacks the BPF helper bpf_loop, which Linux 5.17" +
                end);
  EXPECT_EQ(refusal(KernelPart::recording, regs), "");
  EXPECT_EQ(refusal(KernelPart::idle_trigger, loops), "");
}

} // namespace
} // namespace ovnitrace
