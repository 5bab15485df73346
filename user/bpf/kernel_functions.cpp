// SPDX-License-Identifier: BSD-2-Clause
#include "user/bpf/kernel_functions.h"

#include "user/bpf/bpf_log.h"
#include "user/bpf/kernel_types.h"

#include <ovnitrace/capture.h>

#include <bpf/libbpf.h>

#include <vector>

namespace ovnitrace {

namespace {

constexpr const char *kNames[KFUNCS] = {
    "bpf_rdonly_cast",       "bpf_iter_task_new",   "bpf_iter_task_next",
    "bpf_iter_task_destroy", "bpf_preempt_disable", "bpf_preempt_enable",
    "bpf_rcu_read_lock",     "bpf_rcu_read_unlock", "bpf_send_signal_task",
};

/// Returns which of the kfuncs a program calls there; -1: none.
int kfunc_called(const bpf_insn &instruction) {
  const bool call = instruction.code == (BPF_JMP | BPF_CALL) && instruction.src_reg == 0;
  return call && instruction.imm >= KFUNC_CALL && instruction.imm < KFUNC_CALL + KFUNCS
             ? instruction.imm - KFUNC_CALL
             : -1;
}

} // namespace

uint32_t use_kfuncs(bpf_object *object, const KernelTypes &types) {
  std::vector<int32_t> ids; // of their types; 0 where the kernel has none
  for (const char *name : kNames)
    ids.push_back(types.function_id(name));
  const bool has_private_stacks = types.has_function("bpf_jit_supports_private_stack");
  bpf_program *program = nullptr;
  bpf_object__for_each_program(program, object) {
    const bpf_insn *first = bpf_program__insns(program);
    std::vector<bpf_insn> instructions(first, first + bpf_program__insn_cnt(program));
    for (bpf_insn &instruction : instructions)
      if (const int kfunc = kfunc_called(instruction); kfunc >= 0 && ids[size_t(kfunc)]) {
        instruction.src_reg = BPF_PSEUDO_KFUNC_CALL;
        instruction.imm = ids[size_t(kfunc)];
      } else if (has_private_stacks && instruction.code == (BPF_JMP | BPF_CALL) &&
                 instruction.src_reg == 0 && instruction.imm == KFUNC_TAIL_CALL) {
        instruction.imm = BPF_FUNC_tail_call;
      }
    if (const int error = bpf_program__set_insns(program, instructions.data(), instructions.size()))
      fail_bpf("let a BPF program call functions of the kernel", error);
  }
  uint32_t there = 0;
  for (size_t kfunc = 0; kfunc < KFUNCS; kfunc++)
    there |= uint32_t(ids[kfunc] != 0) << kfunc;
  return there;
}

} // namespace ovnitrace
