// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/symbols/open_regular.h"

#include <fcntl.h>
#include <fmt/format.h>

namespace ovnitrace {

UniqueFd open_regular(const std::string &path, struct stat &status) {
  const UniqueFd place(path.starts_with('/') ? ::open(path.c_str(), O_PATH | O_CLOEXEC) : -1);
  if (!place || fstat(place.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return UniqueFd();
  const std::string same = fmt::format("/proc/self/fd/{}", place.get());
  return UniqueFd(::open(same.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

} // namespace ovnitrace
