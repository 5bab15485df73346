// SPDX-License-Identifier: BSD-2-Clause
// Opens files that may be anybody's.
#pragma once

#include "emulator/base/unique_fd.h"

#include <sys/stat.h>

#include <string>

namespace ovnitrace {

/// Opens the regular file at `path` for reading, without waiting, and fills `status`. The result is
/// empty if there is no such file or the path is not absolute. A device is not even opened, as that
/// can have effects.
UniqueFd open_regular(const std::string &path, struct stat &status);

} // namespace ovnitrace
