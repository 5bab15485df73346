// SPDX-License-Identifier: BSD-2-Clause
#include "user/bpf/preflight.h"

#include "emulator/base/error.h"

#include <bpf/btf.h>
#include <fmt/core.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

namespace ovnitrace {

namespace {

constexpr int kCapPerfmon = 38, kCapBpf = 39; // include/uapi/linux/capability.h, 5.8

bool has_capability(const __user_cap_data_struct (&data)[2], int capability) {
  return data[capability / 32].effective & 1u << capability % 32;
}

bool may_load_programs() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (syscall(SYS_capget, &header, data) != 0)
    return geteuid() == 0;
  return has_capability(data, CAP_SYS_ADMIN) ||
         (has_capability(data, kCapBpf) && has_capability(data, kCapPerfmon));
}

struct FreeBtf {
  void operator()(btf *types) const { btf__free(types); }
};
using Btf = std::unique_ptr<btf, FreeBtf>;

Btf load_vmlinux() {
  Btf vmlinux(btf__load_vmlinux_btf());
  if (!vmlinux)
    throw Error(fmt::format("cannot read the kernel's type information: {}", std::strerror(errno)));
  return vmlinux;
}

/// Where a variable lies in the per-CPU section.
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

/// Where a member lies in a struct, also in its anonymous members (pcpu_hot has a union of a
/// struct).
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

void check_can_capture() {
  if (!may_load_programs())
    throw Error(
        "capturing needs root, or the capabilities CAP_BPF and CAP_PERFMON: run it with sudo, "
        "or once `sudo setcap cap_bpf,cap_perfmon+ep` on the ovnitrace binary. Converting a "
        "trace (ovnitrace convert) needs neither");
  if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
    throw Error(
        fmt::format("cannot read /sys/kernel/btf/vmlinux: {}. The kernel must be built with "
                    "CONFIG_DEBUG_INFO_BTF=y (the kernels of Debian 11, Ubuntu 20.10, RHEL 8 and "
                    "later are)",
                    std::strerror(errno)));
}

bool sched_switch_has_prev_state() {
  Btf vmlinux = load_vmlinux();
  // typedef void (*btf_trace_sched_switch)(void *, bool, prev, next[, unsigned int prev_state])
  int id = btf__find_by_name_kind(vmlinux.get(), "btf_trace_sched_switch", BTF_KIND_TYPEDEF);
  if (id <= 0)
    return false;
  const btf_type *pointer =
      btf__type_by_id(vmlinux.get(), btf__type_by_id(vmlinux.get(), id)->type);
  const btf_type *proto = btf__type_by_id(vmlinux.get(), pointer->type);
  return btf_is_func_proto(proto) && btf_vlen(proto) >= 5;
}

KernelTypes::KernelTypes() : types_(load_vmlinux().release()) {}

KernelTypes::~KernelTypes() {
  btf__free(types_);
}

bool KernelTypes::has_tracepoint(const std::string &name) const {
  return btf__find_by_name_kind(types_, ("btf_trace_" + name).c_str(), BTF_KIND_TYPEDEF) > 0;
}

int32_t KernelTypes::function_id(const std::string &name) const {
  return std::max(btf__find_by_name_kind(types_, name.c_str(), BTF_KIND_FUNC), 0);
}

int64_t preempt_count_distance() {
  Btf vmlinux = load_vmlinux();
  auto runqueues = per_cpu_offset(vmlinux.get(), "runqueues");
  auto count = per_cpu_offset(vmlinux.get(), "__preempt_count");
  if (!count)
    if (auto hot = per_cpu_offset(vmlinux.get(), "pcpu_hot")) {
      int type = btf__find_by_name_kind(vmlinux.get(), "pcpu_hot", BTF_KIND_STRUCT);
      if (auto member = member_offset(vmlinux.get(), uint32_t(std::max(type, 0)), "preempt_count"))
        count = *hot + *member;
    }
  return runqueues && count ? *count - *runqueues : 0;
}

int64_t steal_distance() {
  constexpr int64_t kSteal = 7; // CPUTIME_STEAL: its place has not changed since 2.6
  Btf vmlinux = load_vmlinux();
  auto runqueues = per_cpu_offset(vmlinux.get(), "runqueues");
  auto counts = per_cpu_offset(vmlinux.get(), "kernel_cpustat");
  int type = btf__find_by_name_kind(vmlinux.get(), "kernel_cpustat", BTF_KIND_STRUCT);
  auto member = member_offset(vmlinux.get(), uint32_t(std::max(type, 0)), "cpustat");
  return runqueues && counts && member
             ? *counts + *member + kSteal * int64_t(sizeof(uint64_t)) - *runqueues
             : 0;
}

std::string explain_bpf_failure(const std::string &what, int error, const std::string &log) {
  const char *advice = "";
  switch (error) {
  case EPERM:
  case EACCES:
    advice =
        "; it needs root, or CAP_BPF and CAP_PERFMON (a container must be given them, and kernel "
        "lockdown must not be in confidentiality mode)";
    break;
  case ENOMEM:
    advice = "; try smaller rings (--ring-size)";
    break;
  case EMFILE:
    advice =
        "; raise the limit of open files (ulimit -n): a capture needs about 64, two for each CPU, "
        "and two for each file with probes";
    break;
  case EINVAL:
  case ENOSYS:
  case ESRCH:
  case ENOENT:
  case EOPNOTSUPP:
    advice = "; the kernel must be 5.14 or later, with CONFIG_BPF_SYSCALL, CONFIG_BPF_JIT and "
             "CONFIG_DEBUG_INFO_BTF";
    break;
  }
  std::string message = fmt::format("cannot {}: {}{}", what, std::strerror(error), advice);
  if (!log.empty())
    message += "\nthe kernel and libbpf say:\n" + log;
  return message;
}

} // namespace ovnitrace
