// Opens files that others own.
#pragma once

#include "emulator/unique_fd.h"

#include <string>

namespace ovnitrace {

/// The regular file at `path`, to be read; nothing, and errno, if it is anything else or may not be read. To
/// open it does nothing to it, also if it is a device or a pipe.
UniqueFd open_regular(const std::string &path);

} // namespace ovnitrace
