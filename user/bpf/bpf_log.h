// SPDX-License-Identifier: BSD-2-Clause
// What libbpf and the kernel's verifier say, kept for the message of an Error.
#pragma once

#include <cstdint>
#include <string>

struct bpf_object;

namespace ovnitrace {

/// Begins to collect libbpf's warnings anew; nothing is printed.
void collect_bpf_log();

/// Throws the Error of a failed call: `what` was tried, `error` is an errno, positive or negative.
[[noreturn]] void fail_bpf(const std::string &what, int error);

/// Runs of an object's programs that the kernel skipped because the program was running on that CPU
/// already (bpf_prog_info::recursion_misses).
uint64_t skipped_runs_of(bpf_object *object);

} // namespace ovnitrace
