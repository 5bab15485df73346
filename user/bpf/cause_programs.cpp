// SPDX-License-Identifier: BSD-2-Clause
#include "user/bpf/cause_programs.h"

#include "user/bpf/kernel_functions.h"
#include "user/bpf/kernel_types.h"

#include "causes.skel.h"

#include <bpf/libbpf.h>

#include <vector>

namespace ovnitrace {

bool replace_constant(bpf_program *program, uint64_t constant, uint64_t value) {
  constexpr uint8_t kLoadConstant = BPF_LD | BPF_DW | BPF_IMM; // NOLINT(misc-redundant-expression)
  const bpf_insn *first = bpf_program__insns(program);
  std::vector<bpf_insn> code(first, first + bpf_program__insn_cnt(program));
  bool found = false;
  for (size_t n = 0; n + 1 < code.size(); n++)
    if (code[n].code == kLoadConstant && code[n].src_reg == 0 && code[n].imm == int32_t(constant) &&
        code[n + 1].imm == int32_t(constant >> 32)) {
      code[n].imm = int32_t(value);
      code[n + 1].imm = int32_t(value >> 32);
      found = true;
    }
  return found && bpf_program__set_insns(program, code.data(), code.size()) == 0;
}

bool prepare_causes(causes_bpf &o, const KernelTypes &types, const quota_timers &timers) {
  set_preempt_count(*o.rodata, types);
  o.rodata->kfuncs = use_kfuncs(o.obj, types);
  const bool sees_end = types.has_tracepoint("block_io_done");
  o.rodata->sees_end = sees_end;
  bpf_program__set_autoload(o.progs.on_block_io_done, sees_end);
  bpf_program__set_autoload(o.progs.on_irq_handler_exit, !sees_end);
  bpf_program__set_autoload(o.progs.on_softirq_exit, !sees_end);
  const bool can_cast = o.rodata->kfuncs & 1u << KFUNC_RDONLY_CAST;
  bpf_program *const on_timer =
      can_cast ? o.progs.on_hrtimer_expire_exit : o.progs.on_hrtimer_expire_exit_uncast;
  // With PREEMPT_RT these timers expire in a thread, where the staging area is not ours.
  const bool sees_refills = !types.is_realtime() && timers.deadline &&
                            replace_constant(on_timer, DEADLINE_TIMER, timers.deadline) &&
                            replace_constant(on_timer, QUOTA_TIMER_PERIOD, timers.period) &&
                            replace_constant(on_timer, QUOTA_TIMER_SLACK, timers.slack);
  for (bpf_program *program :
       {o.progs.on_hrtimer_expire_exit, o.progs.on_hrtimer_expire_exit_uncast})
    bpf_program__set_autoload(program, sees_refills && program == on_timer);
  return sees_refills;
}

} // namespace ovnitrace
