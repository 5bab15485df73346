// SPDX-License-Identifier: BSD-2-Clause
// Finds the events that can be a --trigger.
#pragma once

#include "user/bpf/family_set.h"

#include <cstdint>
#include <string>

namespace ovnitrace {

/// Returns the code of the event `name`. Throws Error (kExitUsage), with a list of all, if there is
/// no such event, or if its family is not one of the captured `families`.
uint16_t trigger_code(const std::string &name, FamilySet families);

/// Returns the names of all, with commas between them.
std::string trigger_names();

} // namespace ovnitrace
