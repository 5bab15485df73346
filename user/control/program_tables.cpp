// SPDX-License-Identifier: BSD-2-Clause
#include "user/control/program_tables.h"

#include "control.skel.h"

#include <bpf/libbpf.h>

#include <cstring>

namespace ovnitrace::control {

void fill_tables(const Plan &plan, const ProgramOptions &options, control_bpf &object) {
  auto &data = *object.rodata;
  std::memcpy(const_cast<control_alarm *>(data.alarms), plan.alarm_table.data(),
              plan.alarm_table.size() * sizeof(control_alarm));
  std::memcpy(const_cast<control_chain *>(data.chains), plan.chain_table.data(),
              plan.chain_table.size() * sizeof(control_chain));
  data.alarm_count = uint32_t(plan.alarm_table.size());
  data.chain_count = uint32_t(plan.chain_table.size());
  data.starts_open = !plan.has_start();
  for (size_t a = 0; a < plan.alarm_table.size(); a++) {
    const control_alarm &alarm = plan.alarm_table[a];
    const uint64_t bit = 1ull << a;
    if (alarm.flags & CONTROL_IMMEDIATE)
      data.immediate_alarms |= bit;
    if (alarm.type == CONTROL_ICOUNT)
      data.count_mask |= bit;
    if (alarm.type == CONTROL_EXIT_FUNC)
      data.exit_mask |= bit;
  }
  data.has_regions = true;
  data.region_by_thread = options.region_by_thread;
  data.continues_uid = options.continues_uid;
  object.bss->holds = options.holds;
}

void choose_programs(const Plan &plan, control_bpf &object) {
  bpf_program__set_autoload(object.progs.on_alarm_leave, plan.has(CONTROL_EXIT_FUNC));
  bpf_program__set_autoload(object.progs.on_pcontrol, plan.has(CONTROL_PCONTROL));
  for (bpf_program *iterator : {object.progs.begin_living, object.progs.visit_living})
    bpf_program__set_autoattach(iterator, false);
}

void preallocate(control_bpf &object) {
  constexpr uint32_t kProcesses = 4096, kThreads = 32768;
  bpf_map__set_map_flags(object.maps.control_processes, 0);
  bpf_map__set_max_entries(object.maps.control_processes, kProcesses);
  bpf_map__set_map_flags(object.maps.control_threads, 0);
  bpf_map__set_max_entries(object.maps.control_threads, kThreads);
}

control_process fresh_process(const Plan &plan) {
  control_process process = {};
  for (size_t c = 0; c < plan.chain_table.size(); c++)
    if (plan.chain_table[c].waits)
      process.broadcast[c] = uint64_t(CONTROL_WAITING) << CONTROL_POSITION_SHIFT;
  return process;
}

} // namespace ovnitrace::control
