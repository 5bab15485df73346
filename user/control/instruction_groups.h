// SPDX-License-Identifier: BSD-2-Clause
// Groups of instructions for isa-extension and isa-category: XED's names, the decoder's groups.
#pragma once

#include <Zydis/Zydis.h>
#include <ovnitrace/control.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace ovnitrace::control {

/// What the decoder says of an instruction that belongs to a group.
struct Group {
  enum class Kind : uint8_t { none, extension, category, set } kind = Kind::none;
  int number = 0;
};

/// Finds a group by XED's name or by Zydis'; Kind::none for an unknown name. `type`: isa-extension
/// or isa-category.
Group group_of(control_type type, std::string_view name);

bool belongs_to(const ZydisDecodedInstruction &instruction, const Group &group);

/// Says why there is no group of that name; empty: there is one.
std::string why_no_group(control_type type, std::string_view name);

} // namespace ovnitrace::control
