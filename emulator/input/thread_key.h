// SPDX-License-Identifier: BSD-2-Clause
// Which thread a record is about, while the files of a trace are looked through.
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
