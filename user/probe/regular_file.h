// SPDX-License-Identifier: BSD-2-Clause
// Opens files that others own.
#pragma once

#include "emulator/base/unique_fd.h"

#include <string>

namespace ovnitrace {

/// The regular file at `path`, to be read; nothing, and errno, if it is anything else or may not be
/// read. To open it does nothing to it, also if it is a device or a pipe.
UniqueFd open_regular(const std::string &path);

/// The same, if somebody may execute it: what a command line names is mostly no business of ours.
UniqueFd open_program(const std::string &path);

} // namespace ovnitrace
