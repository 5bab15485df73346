// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/living_processes.h"

#include "emulator/base/to_number.h"

#include <filesystem>

namespace ovnitrace {

std::vector<uint32_t> living_processes(std::error_code &error) {
  std::vector<uint32_t> pids;
  for (std::filesystem::directory_iterator at("/proc", error), end; !error && at != end;
       at.increment(error))
    if (const auto pid = to_number<uint32_t>(at->path().filename().native()))
      pids.push_back(*pid);
  return pids;
}

} // namespace ovnitrace
