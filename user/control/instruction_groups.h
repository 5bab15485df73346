// SPDX-License-Identifier: BSD-2-Clause
// Lists the groups of instructions for isa-extension and isa-category: XED's name and the decoder's
// group.
#pragma once

#include <Zydis/Zydis.h>
#include <ovnitrace/control.h>

#include <string>
#include <string_view>

namespace ovnitrace::control {

/// Returns the number of the group that XED or Zydis calls so; 0: the decoder has no such group.
/// `type`: isa-extension or isa-category.
int group_of(control_type type, std::string_view name);

bool belongs_to(const ZydisDecodedInstruction &instruction, control_type type, int group);

/// Says why there is no group of that name; empty: there is one.
std::string why_no_group(control_type type, std::string_view name);

} // namespace ovnitrace::control
