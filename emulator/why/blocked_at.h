// SPDX-License-Identifier: BSD-2-Clause
// Says where in its program a thread blocked.
#pragma once

#include "emulator/input/stacks.h"
#include "emulator/slices/slice.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace {

/// Returns the innermost function of the program on a stack with its source line: "worker_loop
/// app.c:42", and then its callers, `depth` elements at most. One of them may be "[frames
/// missing]". Skips functions of the C library, OpenMP and MPI, through which programs call the
/// kernel. If the stack has no part of the program, the first is the
/// innermost function of the kernel outside the scheduler. Empty if the stack does not exist.
std::vector<std::string> blocked_at(const StackTable &stacks, uint32_t number, size_t depth);

/// The name of a block in a page fault outside a system call.
inline constexpr std::string_view kPageFault = "page fault";

/// Returns whether a slice is blocked in a page fault: outside a system call, with the kernel's
/// handler of page faults on its stack. False if `stacks` is null.
bool is_page_fault(const Stacks *stacks, const ThreadInfo &thread, const Slice &slice);

/// Returns all functions of a stack, from the innermost outward.
std::vector<std::string> functions_of(const StackTable &stacks, uint32_t number);

} // namespace ovnitrace
