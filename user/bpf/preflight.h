// SPDX-License-Identifier: BSD-2-Clause
// Explains why this kernel or user cannot capture, before libbpf would fail with a less clear
// message.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ovnitrace {

class KernelTypes;

/// Throws Error if the caller lacks the capabilities or the kernel lacks BTF.
void check_can_capture();

/// Returns whether CLOCK_MONOTONIC is the machine's: a time namespace may have an offset to it.
bool has_machine_clock(const std::string &offsets = "/proc/self/timens_offsets");

/// Returns whether a pid means the same process here as in the kernel's programs. It does not in a
/// container with a PID namespace of its own.
bool in_initial_pid_namespace();

/// Throws Error in another PID namespace. `option` is what needs the kernel's pids.
void require_kernel_pids(const char *option);

/// What a kernel may be too old for: the rows of the table in preflight.cpp.
enum class KernelPart : uint8_t { recording, pcontrol, idle_trigger };

/// Throws Error if the running kernel lacks what `part` needs; it names the first that has it.
void require_kernel(KernelPart part, const KernelTypes &types);

/// Returns why the kernel's verifier refused a program, the last line that it says of it; empty if
/// `log` has no refusal.
std::string verifier_verdict(std::string_view log);

/// Returns the message for a failure of the bpf() system call: what was tried, why, what to do.
std::string explain_bpf_failure(const std::string &what, int error, const std::string &libbpf_log);

} // namespace ovnitrace
