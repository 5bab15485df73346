// SPDX-License-Identifier: BSD-2-Clause
// Reads where a probe's arguments are, as its note spells it.
#pragma once

#include <ovnitrace/capture.h>

#include <string_view>

namespace ovnitrace {

/// Reads the three arguments of ovnitrace:event, as `4@%edi 4@$7 4@%r8d` (x86-64) or `4@x0 4@7
/// 4@x1` (arm64): unsigned numbers of 32 bits in registers or constants, which is all that usdt.h
/// writes. For anything else it returns false and leaves `arguments` unchanged.
bool parse_arguments(std::string_view text, user_argument (&arguments)[3]);

} // namespace ovnitrace
