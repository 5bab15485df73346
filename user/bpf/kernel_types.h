// SPDX-License-Identifier: BSD-2-Clause
// Says what the running kernel has. It reads the kernel's type information (BTF) and never its
// version, because distributions backport.
#pragma once

#include <cstdint>
#include <string>

struct btf;

namespace ovnitrace {

class KernelTypes {
public:
  /// Reads the kernel's BTF. Throws Error if that fails.
  KernelTypes();
  /// Takes ownership of types, which may be of any kernel.
  explicit KernelTypes(btf *types) : types_(types) {}
  ~KernelTypes();
  KernelTypes(const KernelTypes &) = delete;
  KernelTypes &operator=(const KernelTypes &) = delete;

  bool has_tracepoint(const std::string &name) const { return tracepoint_arguments(name) >= 0; }
  /// Returns how many arguments a tracepoint has; -1: there is no such tracepoint.
  int tracepoint_arguments(const std::string &name) const;
  bool has_function(const std::string &name) const { return function_id(name) != 0; }
  /// Returns the id of a function's type, for calls from BPF programs; 0 without such a function.
  int32_t function_id(const std::string &name) const;
  /// Returns whether BPF programs can call bpf_NAME().
  bool has_helper(const std::string &name) const;

  /// Returns whether the kernel has PREEMPT_RT: timers expire in threads.
  bool is_realtime() const;
  /// Returns whether programs of tracepoints can be preempted (bpf/twins.bpf.h).
  bool can_preempt_tracepoints() const;
  /// Returns how far after a CPU's runqueue its preemption count lies, in bytes; 0 if BTF does not
  /// say (bpf/kernel_diffs.h says what for).
  int64_t preempt_count_distance() const;
  /// Returns the lowest bit of the preemption count that counts interrupts (bpf/kernel_diffs.h).
  uint32_t hardirq_shift() const;
  /// Returns how many bytes a CPU's count of stolen time is from its runqueue
  /// (bpf/families/power.bpf.h); 0: not known.
  int64_t steal_distance() const;

private:
  btf *types_;
};

/// Sets what bpf/kernel_diffs.h needs for wakeup_context(), in the read-only data of a BPF object
/// that is not loaded yet.
template <class Rodata> void set_preempt_count(Rodata &data, const KernelTypes &types) {
  data.preempt_count_distance = types.preempt_count_distance();
  data.hardirq_shift = types.hardirq_shift();
}

} // namespace ovnitrace
