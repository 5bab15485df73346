// SPDX-License-Identifier: BSD-2-Clause
// Which thread a record is about, while the files of a trace are looked through.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ovnitrace {

struct ThreadKey {
  uint32_t node, tid;
  uint64_t birth; ///< ns, on the clock of the trace
  bool operator==(const ThreadKey &) const = default;
};

struct HashOfThread {
  size_t operator()(const ThreadKey &key) const {
    return (key.birth ^ (uint64_t(key.node) << 32 | key.tid)) * 0x9e3779b97f4a7c15 >> 16;
  }
};

} // namespace ovnitrace
