// SPDX-License-Identifier: BSD-2-Clause
// Collects what libbpf and the kernel's verifier print, for the message of an Error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

struct bpf_object;
struct bpf_object_skeleton;

namespace ovnitrace {

/// Forgets what was collected, and collects libbpf's warnings from now on. They are printed only in
/// the debug log, which has everything that libbpf prints.
void collect_bpf_log();

/// Loads the programs of a skeleton. Returns 0 or a negative errno. libbpf alone succeeds without
/// the variables of the programs if it had no memory when it tried whether the kernel maps them.
int load_skeleton(bpf_object_skeleton *skeleton);

/// Writes the programs and maps of a loaded object into the debug log.
void log_bpf_object(bpf_object *object);

/// Throws the Error of a failed call: `what` was tried, `error` is an errno, positive or negative.
[[noreturn]] void fail_bpf(const std::string &what, int error);

/// Returns in a few words why the last call failed: the verdict of the kernel's verifier, or else
/// that of `error`, an errno.
std::string why_refused(int error);

/// Counts the runs of an object's programs that the kernel skipped because the program was already
/// running on that CPU (bpf_prog_info::recursion_misses). Runs that a twin has made up for do not
/// count, nor those of the program `except`.
uint64_t skipped_runs_of(bpf_object *object, std::string_view except = {});

} // namespace ovnitrace
