// SPDX-License-Identifier: BSD-2-Clause
// How much one CPU logged.
#pragma once

#include <cstdint>

namespace ovnitrace {

struct CpuCount {
  uint64_t events = 0;        ///< transitions logged, lost ones included
  uint64_t lost = 0;          ///< of them, found no room in the ring
  uint64_t family_events = 0; ///< of the other families, lost ones included
  uint64_t family_lost = 0;
};

} // namespace ovnitrace
