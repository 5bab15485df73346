// SPDX-License-Identifier: BSD-2-Clause
// What the BPF programs of --control are given of a plan: user/control/program_tables.
#include "user/control/program_tables.h"

#include "control.skel.h"

#include <bpf/libbpf.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace ovnitrace::control {
namespace {

class ControlTables : public testing::Test {
protected:
  void SetUp() override { ASSERT_TRUE(object_); }
  void fill(const std::vector<std::string> &chains, const ProgramOptions &options = {}) {
    fill_tables(make_plan(chains), options, *object_);
  }

  const std::unique_ptr<control_bpf, void (*)(control_bpf *)> object_{control_bpf__open(),
                                                                      control_bpf__destroy};
};

TEST_F(ControlTables, HaveTheAlarmsAndChainsOfThePlan) {
  fill({"precond:icount:200,uniform:800:500:5,name:c", "stop:exit_func:f,stop:icount:7:bcast"});
  const auto &data = *object_->rodata;
  EXPECT_EQ(data.alarm_count, 5u);
  EXPECT_EQ(data.chain_count, 2u);
  EXPECT_EQ(data.alarms[0].count, 200u);
  EXPECT_EQ(data.alarms[3].type, CONTROL_EXIT_FUNC);
  EXPECT_EQ(data.alarms[4].count, 7u);
  EXPECT_EQ(data.alarms[4].flags, CONTROL_BCAST);
  EXPECT_EQ(data.alarms[5].count, 0u);
  EXPECT_EQ(data.chains[0].loops, 5u);
  EXPECT_EQ(data.chains[1].first, 3u);
  EXPECT_EQ(data.chains[1].alarms, 2u);
  EXPECT_EQ(data.chains[2].alarms, 0u);
  EXPECT_EQ(data.count_mask, 0b10111u);
  EXPECT_EQ(data.immediate_alarms, 0b10u);
  EXPECT_EQ(data.exit_mask, 0b1000u);
  EXPECT_FALSE(data.starts_open) << "the uniform starts the region";
}

TEST_F(ControlTables, ARegionIsOpenFromTheStartIfNoAlarmStartsIt) {
  fill({"precond:int3,stop:timeout:1"});
  EXPECT_TRUE(object_->rodata->starts_open);
  EXPECT_EQ(object_->rodata->count_mask, 0u);
  EXPECT_EQ(object_->rodata->immediate_alarms, 0u);
  EXPECT_EQ(object_->rodata->exit_mask, 0u);
}

TEST_F(ControlTables, HaveTheOptions) {
  fill({"start:int3"});
  EXPECT_TRUE(object_->rodata->has_regions);
  EXPECT_FALSE(object_->rodata->region_by_thread);
  EXPECT_FALSE(object_->bss->holds);
  EXPECT_EQ(object_->rodata->continues_uid, UINT32_MAX) << "of all users";
  fill({"start:int3"}, {.region_by_thread = true, .holds = false, .continues_uid = 1000});
  EXPECT_TRUE(object_->rodata->region_by_thread);
  EXPECT_FALSE(object_->bss->holds);
  EXPECT_EQ(object_->rodata->continues_uid, 1000u);
  fill({"start:int3"}, {.region_by_thread = false, .holds = true});
  EXPECT_FALSE(object_->rodata->region_by_thread);
  EXPECT_TRUE(object_->bss->holds);
}

TEST_F(ControlTables, ProgramsThatNoAlarmNeedsAreNotLoaded) {
  const auto loaded = [&](const std::string &chain) {
    choose_programs(make_plan({chain}), *object_);
    EXPECT_TRUE(bpf_program__autoload(object_->progs.on_alarm));
    return std::pair(bpf_program__autoload(object_->progs.on_alarm_leave),
                     bpf_program__autoload(object_->progs.on_pcontrol));
  };
  EXPECT_EQ(loaded("start:int3"), std::pair(false, false));
  EXPECT_EQ(loaded("start:int3,stop:exit_func:f"), std::pair(true, false));
  EXPECT_EQ(loaded("start:int3,stop:pcontrol:roi"), std::pair(false, true));
  EXPECT_EQ(loaded("start:exit_func:f,stop:pcontrol:roi"), std::pair(true, true));
  EXPECT_FALSE(bpf_program__autoattach(object_->progs.begin_living)) << "the loader runs it";
  EXPECT_FALSE(bpf_program__autoattach(object_->progs.visit_living));
}

// Their memory is allocated at once: it is less than for the maps that grow.
TEST_F(ControlTables, MapsThatAreAllocatedAtOnceAreSmaller) {
  const auto *maps = &object_->maps;
  ASSERT_NE(bpf_map__map_flags(maps->control_processes), 0u);
  ASSERT_NE(bpf_map__map_flags(maps->control_threads), 0u);
  const uint32_t processes = bpf_map__max_entries(maps->control_processes),
                 threads = bpf_map__max_entries(maps->control_threads);
  preallocate(*object_);
  EXPECT_EQ(bpf_map__map_flags(maps->control_processes), 0u);
  EXPECT_EQ(bpf_map__map_flags(maps->control_threads), 0u);
  EXPECT_EQ(bpf_map__max_entries(maps->control_processes), 4096u);
  EXPECT_EQ(bpf_map__max_entries(maps->control_threads), 32768u);
  EXPECT_LT(4096u, processes);
  EXPECT_LT(32768u, threads);
}

TEST(ControlTable, ChainsThatWaitForOthersWaitFromTheStart) {
  const control_process process =
      fresh_process(make_plan({"start:int3,name:a", "stop:int3,waitfor:a", "start:int3"}));
  EXPECT_EQ(process.broadcast[0], 0u);
  EXPECT_EQ(process.broadcast[1], uint64_t(CONTROL_WAITING) << 32);
  EXPECT_EQ(process.broadcast[2], 0u);
  EXPECT_EQ(process.threads, 0u);
  EXPECT_EQ(process.counts[0], 0u);
}

} // namespace
} // namespace ovnitrace::control
