// SPDX-License-Identifier: BSD-2-Clause
// What a process has mapped at an address, as a text.
#pragma once

#include "user/stacks/mappings.h"

#include <string>

namespace ovnitrace::test {

/// "path+offset" at an address of a process; "code" in no file; "?" not known.
inline std::string at(Mappings &mappings, uint32_t pid, uint64_t time, uint64_t address) {
  const Mappings::Place place = mappings.find(mappings.life(pid, time), time, address);
  if (!place.known)
    return "?";
  return place.file == Mappings::kNoFile
             ? "code"
             : mappings.files()[place.file].path + "+" + std::to_string(place.offset);
}

} // namespace ovnitrace::test
