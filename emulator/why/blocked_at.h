// SPDX-License-Identifier: BSD-2-Clause
// Where in its program a thread blocked, in a few words.
#pragma once

#include "emulator/input/stacks.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace {

/// The innermost function of the program on a stack with its source line: "worker_loop app.c:42".
/// Functions of the C library are passed over, as they stand between every program and the kernel.
/// Of a stack without the program's part, the innermost function of the kernel that is none of the
/// scheduler. Empty where there is no such stack.
std::string blocked_at(const StackTable &stacks, uint32_t number);

/// All its functions, from the innermost outward.
std::vector<std::string> functions_of(const StackTable &stacks, uint32_t number);

} // namespace ovnitrace
