// SPDX-License-Identifier: BSD-2-Clause
// Makes rules of unwinding (include/ovnitrace/unwind.h) from call-frame information.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>

namespace ovnitrace {

/// Returns the rule for a frame of x86-64; UNWIND_STOP if no rule describes it.
uint64_t frame_rule_x86(Dwarf_Frame *frame);
/// Returns the rule for a frame of arm64; UNWIND_STOP if no rule describes it. The frame of a
/// signal is one of them: the information on it is not enough.
uint64_t frame_rule_arm64(Dwarf_Frame *frame);

} // namespace ovnitrace
