// SPDX-License-Identifier: BSD-2-Clause
#include "user/bpf/cause_capture.h"

#include "emulator/base/error.h"
#include "emulator/base/messages.h"
#include "user/bpf/bpf_log.h"
#include "user/bpf/kernel_functions.h"
#include "user/bpf/kernel_types.h"

#include "causes.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace ovnitrace {

namespace {

constexpr uint8_t kLoadConstant = BPF_LD | BPF_DW | BPF_IMM; // NOLINT(misc-redundant-expression)

/// Replaces a constant of 64 bits in a program. Returns whether it is there.
bool replace_constant(bpf_program *program, uint64_t constant, uint64_t value) {
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

} // namespace

CauseCapture::CauseCapture(const Capture &capture) : skeleton_(nullptr, causes_bpf__destroy) {
  collect_bpf_log();
  if (!load(capture))
    do_without(errno);
}

/// Returns false, with errno set, if the kernel refuses the programs.
bool CauseCapture::load(const Capture &capture) {
  skeleton_.reset(causes_bpf__open());
  causes_bpf *const o = skeleton_.get();
  if (!o)
    return false;
  capture.describe(*o->rodata);
  const KernelTypes types;
  set_preempt_count(*o->rodata, types);
  o->rodata->kfuncs = use_kfuncs(o->obj, types);
  if (capture.share_maps(o->obj) != 0)
    return false;
  const bool sees_end = types.has_tracepoint("block_io_done");
  o->rodata->sees_end = sees_end;
  bpf_program__set_autoload(o->progs.on_block_io_done, sees_end);
  bpf_program__set_autoload(o->progs.on_irq_handler_exit, !sees_end);
  bpf_program__set_autoload(o->progs.on_softirq_exit, !sees_end);
  // With PREEMPT_RT these timers expire in a thread, where the staging area is not ours.
  quota_timers timers = {};
  if (!capture.find_quota_timers(timers) && is_machine_failure(errno))
    return false;
  const bool can_cast = o->rodata->kfuncs & 1u << KFUNC_RDONLY_CAST;
  bpf_program *const on_timer =
      can_cast ? o->progs.on_hrtimer_expire_exit : o->progs.on_hrtimer_expire_exit_uncast;
  sees_refills_ = !types.is_realtime() && timers.deadline &&
                  replace_constant(on_timer, DEADLINE_TIMER, timers.deadline) &&
                  replace_constant(on_timer, QUOTA_TIMER_PERIOD, timers.period) &&
                  replace_constant(on_timer, QUOTA_TIMER_SLACK, timers.slack);
  for (bpf_program *program :
       {o->progs.on_hrtimer_expire_exit, o->progs.on_hrtimer_expire_exit_uncast})
    bpf_program__set_autoload(program, sees_refills_ && program == on_timer);
  if (int error = load_skeleton(o->skeleton)) {
    errno = -error;
    return false;
  }
  log_bpf_object(o->obj);
  return true;
}

void CauseCapture::do_without(int error) {
  constexpr const char *kWarning =
      "warning: devices and refills of CPU quotas and budgets are not recorded: {}";
  if (is_machine_failure(error)) // otherwise, this kernel does not have them
    print(kWarning, std::strerror(error));
  else
    log_debug(kWarning, std::strerror(error));
  skeleton_.reset();
}

void CauseCapture::attach() {
  if (!skeleton_)
    return;
  collect_bpf_log();
  if (int error = causes_bpf__attach(skeleton_.get()))
    do_without(-error);
}

void CauseCapture::detach() {
  if (skeleton_)
    causes_bpf__detach(skeleton_.get());
}

bool CauseCapture::sees_refills() const {
  return skeleton_ && sees_refills_;
}

const uint32_t *CauseCapture::devices() const {
  return skeleton_ ? skeleton_->bss->devices : nullptr;
}

} // namespace ovnitrace
