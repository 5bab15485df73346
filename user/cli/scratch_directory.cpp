// SPDX-License-Identifier: BSD-2-Clause
#include "user/cli/scratch_directory.h"

#include "emulator/base/error.h"
#include "emulator/base/identity.h"
#include "emulator/base/messages.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>

namespace ovnitrace {

ScratchDirectory::ScratchDirectory(const char *place) {
  const EffectiveIdentity as_owner(calling_user());
  const char *wanted = std::getenv("TMPDIR");
  path_ = std::string(wanted && *wanted ? wanted : place) + "/ovnitrace-XXXXXX";
  if (!mkdtemp(path_.data()))
    throw Error("cannot make a directory for the trace as " + path_ + ": " + std::strerror(errno) +
                "; name another place with TMPDIR");
}

ScratchDirectory::~ScratchDirectory() {
  try {
    const EffectiveIdentity as_owner(calling_user());
    std::filesystem::remove_all(path_);
  } catch (const std::exception &error) {
    print_text(std::string("cannot remove the trace: ") + error.what());
  }
}

} // namespace ovnitrace
