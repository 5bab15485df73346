// SPDX-License-Identifier: BSD-2-Clause
// What libbpf and the kernel's verifier say, kept for the message of an Error.
#pragma once

#include <cstdint>
#include <string>

struct bpf_object;

namespace ovnitrace {

/// Starts to collect libbpf's warnings anew. They are printed only in the debug log, which has all
/// that libbpf says.
void collect_bpf_log();

/// The programs and maps of an object that is loaded, into the debug log.
void log_bpf_object(bpf_object *object);

/// Throws the Error of a failed call: `what` was tried, `error` is an errno, positive or negative.
[[noreturn]] void fail_bpf(const std::string &what, int error);

/// Returns in a few words why the last call failed: the verdict of the kernel's verifier, or else
/// that of `error`, an errno.
std::string why_refused(int error);

/// Runs of an object's programs that the kernel skipped because the program was running on that CPU
/// already (bpf_prog_info::recursion_misses), and that no twin has made up for.
uint64_t skipped_runs_of(bpf_object *object);

} // namespace ovnitrace
