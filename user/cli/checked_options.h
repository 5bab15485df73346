// SPDX-License-Identifier: BSD-2-Clause
// What the options of recording ask for together.
#pragma once

#include "user/cli/record_options.h"

namespace ovnitrace {

/// What they ask for, with the defaults. Throws Error (kExitUsage) where they are out of range or
/// do not go together.
RecordOptions checked(const RecordArguments &arguments);

} // namespace ovnitrace
