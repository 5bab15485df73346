// SPDX-License-Identifier: BSD-2-Clause
// Checks the options of recording together.
#pragma once

#include "user/cli/record_options.h"

namespace ovnitrace {

/// Returns what they ask for, with the defaults. Throws Error (kExitUsage) if they are out of range
/// or exclude each other.
RecordOptions checked(const RecordArguments &arguments);

} // namespace ovnitrace
