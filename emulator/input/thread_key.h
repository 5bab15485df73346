// SPDX-License-Identifier: BSD-2-Clause
// Identifies a thread while the files of a trace are scanned.
#pragma once

#include <compare>
#include <cstdint>

namespace ovnitrace {

struct ThreadKey {
  uint32_t host, tid;
  uint64_t birth; ///< ns, on the clock of the trace
  auto operator<=>(const ThreadKey &) const = default;
};

} // namespace ovnitrace
