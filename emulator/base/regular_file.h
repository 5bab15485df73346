// SPDX-License-Identifier: BSD-2-Clause
// Opens files that others own.
#pragma once

#include "emulator/base/unique_fd.h"

#include <sys/stat.h>

#include <string>

namespace ovnitrace {

/// Opens the regular file at `path` for reading. Returns nothing, and sets errno, if it is anything
/// else or may not be read. Opening does nothing to the file, even if it is a device or a pipe.
UniqueFd open_regular(const std::string &path);

/// Does the same, but only if the file has an execute bit. Most files that a command line names are
/// no business of ours.
UniqueFd open_program(const std::string &path);

/// Does the same as open_regular(), only for an absolute path, and fills `status`. A relative path
/// in a trace would let the trace bring the file.
UniqueFd open_absolute(const std::string &path, struct stat &status);

/// Opens the regular file at the absolute `path` as a process sees it whose root folder is `root`:
/// no link leads out of there. Fills `status`.
UniqueFd open_inside(int root, const std::string &path, struct stat &status);

} // namespace ovnitrace
