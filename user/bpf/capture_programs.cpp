// SPDX-License-Identifier: BSD-2-Clause
#include "user/bpf/capture_programs.h"

#include "user/bpf/kernel_functions.h"
#include "user/bpf/kernel_types.h"
#include "user/bpf/selection_programs.h"
#include "user/bpf/twins.h"

#include "ovnitrace.skel.h"

#include <bpf/libbpf.h>

#include <algorithm>

namespace ovnitrace {

namespace {

/// Returns whether holders of CPUs must be recorded. If every thread is recorded, their switches
/// already say who has a CPU.
bool wants_holders(const CaptureParameters &parameters) {
  return parameters.transitions &&
         (!parameters.trace_all || parameters.selection.any() || parameters.regions);
}

/// Returns whether the kernel side can walk stacks by call-frame information: bpf_loop() is in
/// 5.17.
bool can_unwind([[maybe_unused]] const KernelTypes &types) {
#if defined(__x86_64__) || defined(__aarch64__)
  return types.has_helper("loop");
#else
  return false;
#endif
}

} // namespace

bool visits_living(const CaptureParameters &parameters) {
  return !parameters.targets.empty() || (parameters.trace_all && parameters.selection.any());
}

void prepare_capture(ovnitrace_bpf &o, const CaptureParameters &parameters, uint32_t cpus,
                     const KernelTypes &types) {
  set_preempt_count(*o.rodata, types);
  o.rodata->kfuncs = use_kfuncs(o.obj, types);
  o.rodata->old_hierarchy = old_hierarchy();
  prepare_selection(o, parameters.selection, parameters.trace_all, types);
  o.rodata->has_twins = choose_twins(o.obj, types);
  o.rodata->possible_cpus = cpus <= FTRACE_AFFINITY_MOST ? cpus : 0;
  o.rodata->only_targets = parameters.only_targets;
  o.rodata->has_transitions = parameters.transitions;
  o.rodata->targets = uint32_t(std::min<size_t>(parameters.targets.size(), CAPTURE_TARGETS));
  std::copy_n(parameters.targets.begin(), o.rodata->targets, o.rodata->target_pids);
  bpf_map__set_max_entries(o.maps.stages, cpus);
  bpf_map__set_max_entries(o.maps.rings, cpus);
  o.rodata->stacks_wanted = parameters.stacks;
  o.rodata->stack_depth = parameters.stack_depth;
  if (parameters.stacks) {
    bpf_map__set_max_entries(o.maps.stack_slots, CAPTURE_STACKS);
    bpf_map__set_max_entries(o.maps.walked_stacks, WALKED_STACKS);
    bpf_map__set_max_entries(o.maps.stack_scratch, cpus);
    bpf_map__set_max_entries(o.maps.stack_memory, cpus);
  }
  o.rodata->unwinds = parameters.stacks & STACKS_USER && can_unwind(types);
  if (o.rodata->unwinds) {
    bpf_map__set_max_entries(o.maps.unwind_rules, UNWIND_RULES);
    bpf_map__set_max_entries(o.maps.unwind_walks, cpus);
    bpf_map__set_max_entries(o.maps.copy_scratch, cpus);
    bpf_map__set_max_entries(o.maps.stack_copies, STACK_COPY_RING);
  }
  if (parameters.stacks & STACKS_WAKEUP)
    bpf_map__set_max_entries(o.maps.waker_stacks, FTRACE_TID_MASK + 1);
  const bool modern = types.tracepoint_arguments("sched_switch") >= 4; // with prev_state, 5.18
  o.rodata->wants_holders = wants_holders(parameters);
  if (parameters.regions)
    bpf_map__set_max_entries(o.maps.regions, CAPTURE_REGIONS);
  bpf_program__set_autoload(o.progs.on_switch, parameters.transitions && modern);
  bpf_program__set_autoload(o.progs.on_switch_3_arguments, parameters.transitions && !modern);
  for (bpf_program *program :
       {o.progs.on_waking, o.progs.on_wakeup, o.progs.on_wakeup_new, o.progs.on_migrate})
    bpf_program__set_autoload(program, parameters.transitions);
  bpf_program__set_autoload(o.progs.on_exec_cmdline, parameters.cmdlines);
  if (parameters.cmdlines)
    bpf_map__set_max_entries(o.maps.cmdlines, CAPTURE_CMDLINES_BYTES);
  // Without these a trace does not say who queued what a kernel worker did.
  o.rodata->has_work_items = parameters.transitions &&
                             types.has_tracepoint("workqueue_queue_work") &&
                             types.has_tracepoint("workqueue_execute_start");
  for (bpf_program *program : {o.progs.on_queue_work, o.progs.on_execute_work})
    bpf_program__set_autoload(program, o.rodata->has_work_items);
  if (o.rodata->has_work_items) {
    bpf_map__set_max_entries(o.maps.work_items, CAPTURE_WORK_ITEMS);
    bpf_map__set_max_entries(o.maps.workers, CAPTURE_WORKERS);
  }
  const bool visits = visits_living(parameters);
  bpf_program__set_autoload(o.progs.snapshot, parameters.trace_all || visits);
  bpf_program *program = nullptr;
  if (parameters.only_looks)
    bpf_object__for_each_program(program, o.obj) bpf_program__set_autoload(program, false);
  bpf_program__set_autoload(o.progs.mark_targets, visits);
  bpf_program__set_autoload(o.progs.list_traced, parameters.only_looks);
  for (bpf_program *iterator : {o.progs.mark_targets, o.progs.snapshot, o.progs.list_traced})
    bpf_program__set_autoattach(iterator, false);
}

const stack_slot *written_stack(const stack_slot *table, uint32_t place_and_1) {
  if (!table || place_and_1 == 0 || place_and_1 > CAPTURE_STACKS)
    return nullptr;
  const stack_slot *slot = &table[place_and_1 - 1];
  const uint64_t count = __atomic_load_n(&slot->count, __ATOMIC_ACQUIRE);
  return count > 0 && count <= CAPTURE_STACK_DEPTH ? slot : nullptr;
}

} // namespace ovnitrace
