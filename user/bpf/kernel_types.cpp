// SPDX-License-Identifier: BSD-2-Clause
#include "user/bpf/kernel_types.h"

#include "emulator/base/error.h"

#include <bpf/btf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

namespace ovnitrace {

namespace {

/// Returns where a variable lies in the per-CPU section.
std::optional<int64_t> per_cpu_offset(const btf *types, const char *variable) {
  int section_id = btf__find_by_name_kind(types, ".data..percpu", BTF_KIND_DATASEC);
  int variable_id = btf__find_by_name_kind(types, variable, BTF_KIND_VAR);
  if (section_id <= 0 || variable_id <= 0)
    return {};
  const btf_type *section = btf__type_by_id(types, uint32_t(section_id));
  const btf_var_secinfo *entries = btf_var_secinfos(section);
  for (int n = 0; n < btf_vlen(section); n++)
    if (entries[n].type == uint32_t(variable_id))
      return entries[n].offset;
  return {};
}

/// Returns where a member lies in a struct, also in its anonymous members (pcpu_hot has a union of
/// a struct).
std::optional<int64_t> member_offset(const btf *types, uint32_t id, const char *member) {
  const btf_type *type = btf__type_by_id(types, id);
  if (!type || !btf_is_composite(type))
    return {};
  for (uint32_t n = 0; n < btf_vlen(type); n++) {
    const btf_member &candidate = btf_members(type)[n];
    const char *name = btf__name_by_offset(types, candidate.name_off);
    int64_t offset = btf_member_bit_offset(type, n) / 8;
    if (name && std::strcmp(name, member) == 0)
      return offset;
    if (!name || !*name)
      if (auto inner = member_offset(types, candidate.type, member))
        return offset + *inner;
  }
  return {};
}

} // namespace

KernelTypes::KernelTypes() : types_(btf__load_vmlinux_btf()) {
  if (!types_)
    throw Error("cannot read the kernel's type information: {}", std::strerror(errno));
}

KernelTypes::~KernelTypes() {
  btf__free(types_);
}

/// Returns how many arguments a tracepoint has. Its type is a pointer to a function whose first
/// argument is the tracer's own: typedef void (*btf_trace_NAME)(void *, …);
int KernelTypes::tracepoint_arguments(const std::string &name) const {
  const int id = btf__find_by_name_kind(types_, ("btf_trace_" + name).c_str(), BTF_KIND_TYPEDEF);
  if (id <= 0)
    return -1;
  const btf_type *pointer = btf__type_by_id(types_, btf__type_by_id(types_, uint32_t(id))->type);
  const btf_type *function = pointer ? btf__type_by_id(types_, pointer->type) : nullptr;
  return function && btf_is_func_proto(function) ? btf_vlen(function) - 1 : -1;
}

int32_t KernelTypes::function_id(const std::string &name) const {
  return std::max(btf__find_by_name_kind(types_, name.c_str(), BTF_KIND_FUNC), 0);
}

bool KernelTypes::has_helper(const std::string &name) const {
  const int id = btf__find_by_name_kind(types_, "bpf_func_id", BTF_KIND_ENUM);
  const btf_type *helpers = id > 0 ? btf__type_by_id(types_, uint32_t(id)) : nullptr;
  const std::string wanted = "BPF_FUNC_" + name;
  for (int n = 0; helpers && n < btf_vlen(helpers); n++)
    if (wanted == btf__name_by_offset(types_, btf_enum(helpers)[n].name_off))
      return true;
  return false;
}

bool KernelTypes::is_realtime() const {
  // /sys/kernel/realtime is only in kernels with the patches of PREEMPT_RT.
  const int type = btf__find_by_name_kind(types_, "task_struct", BTF_KIND_STRUCT);
  return member_offset(types_, uint32_t(std::max(type, 0)), "softirq_disable_cnt").has_value();
}

/// Returns whether tracepoints can be preempted. Kernels where they can protect them by an SRCU
/// domain, which has data for each CPU.
bool KernelTypes::can_preempt_tracepoints() const {
  return per_cpu_offset(types_, "tracepoint_srcu_srcu_data").has_value();
}

int64_t KernelTypes::preempt_count_distance() const {
  auto runqueues = per_cpu_offset(types_, "runqueues");
  auto count = per_cpu_offset(types_, "__preempt_count");
  if (!count)
    if (auto hot = per_cpu_offset(types_, "pcpu_hot")) {
      int type = btf__find_by_name_kind(types_, "pcpu_hot", BTF_KIND_STRUCT);
      if (auto member = member_offset(types_, uint32_t(std::max(type, 0)), "preempt_count"))
        count = *hot + *member;
    }
  return runqueues && count ? *count - *runqueues : 0;
}

/// Returns the first bit of the count of hardware interrupts in the preempt count. It moved
/// in 7.3 (a58d7a2f53e8 "irq & spin_lock: Add counted interrupt disabling/enabling"), which also
/// added the per-CPU variable that is looked up here.
uint32_t KernelTypes::hardirq_shift() const {
  return per_cpu_offset(types_, "local_interrupt_disable_state") ? 24 : 16;
}

int64_t KernelTypes::steal_distance() const {
  constexpr int64_t kSteal = 7; // CPUTIME_STEAL: its place has not changed since 2.6
  auto runqueues = per_cpu_offset(types_, "runqueues");
  auto counts = per_cpu_offset(types_, "kernel_cpustat");
  int type = btf__find_by_name_kind(types_, "kernel_cpustat", BTF_KIND_STRUCT);
  auto member = member_offset(types_, uint32_t(std::max(type, 0)), "cpustat");
  return runqueues && counts && member
             ? *counts + *member + kSteal * int64_t(sizeof(uint64_t)) - *runqueues
             : 0;
}

} // namespace ovnitrace
