// SPDX-License-Identifier: BSD-2-Clause
// Tries how this machine steps over `cpuid`. On x86-64 only.
#pragma once

namespace ovnitrace::control {

/// Returns whether a single step over `cpuid` stops behind it. Hypervisors emulate the instruction,
/// and PVM forgets the stop. The kernel executes a probed instruction in a single step, in a place
/// of its own. Without the stop, the program would execute what lies behind that place, and crash.
///
/// Steps over one in this thread, once. SIGTRAP has another handler meanwhile.
bool stops_after_cpuid();

} // namespace ovnitrace::control
