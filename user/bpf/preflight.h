// SPDX-License-Identifier: BSD-2-Clause
// Why a kernel or a caller cannot capture, said before libbpf would say it less clearly.
#pragma once

#include <cstdint>
#include <string>

struct btf;

namespace ovnitrace {

/// Throws Error if the caller lacks the capabilities or the kernel lacks BTF.
void check_can_capture();

/// How far after a CPU's runqueue its preemption count lies, in bytes, from the kernel's BTF; 0 if
/// that does not say (bpf/kernel_diffs.h says what for).
int64_t preempt_count_distance();

/// The same of where the kernel counts the time that was stolen from the CPU (bpf/families/power).
int64_t steal_distance();

/// Whether the sched_switch tracepoint of this kernel has the prev_state argument (5.18 and later),
/// asked of its BTF. Throws Error if it cannot be read.
bool sched_switch_has_prev_state();

/// What the running kernel has, asked of its BTF. The constructor throws Error if it cannot be
/// read.
class KernelTypes {
public:
  KernelTypes();
  ~KernelTypes();
  KernelTypes(const KernelTypes &) = delete;
  KernelTypes &operator=(const KernelTypes &) = delete;

  bool has_tracepoint(const std::string &name) const;
  bool has_function(const std::string &name) const { return function_id(name) != 0; }
  /// The id of its type, for calls from BPF programs; 0: there is none.
  int32_t function_id(const std::string &name) const;

private:
  btf *types_;
};

/// The message for a failure of the bpf() system call: what was tried, why, what to do.
std::string explain_bpf_failure(const std::string &what, int error, const std::string &libbpf_log);

} // namespace ovnitrace
