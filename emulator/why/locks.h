// SPDX-License-Identifier: BSD-2-Clause
// Sums up waits by futex, with who waited and who ended the waits.
#pragma once

#include "emulator/input/stacks.h"
#include "emulator/why/explanation.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace ovnitrace {

/// A futex of one process. A futex that processes share is one for each of them.
struct Lock {
  uint32_t pid = 0, futex = 0;
  bool inherits = false; ///< a PI futex
  uint64_t count = 0, gave_up = 0, ns = 0, max = 0;
  uint32_t host = 0;
  uint32_t max_stack = kNone;      ///< where a thread blocked in the longest wait; kNone: not known
  std::set<uint32_t> threads = {}; ///< that waited, by index in the Catalog
  std::vector<const LockSum *> parts = {}; ///< most time first
};

/// Returns the function of the program that blocked in the longest wait for it; empty if that is
/// not known.
std::string longest_wait_at(const Lock &lock, const Stacks &stacks);

/// Returns the futexes, most time first. Borrows the sums of `why`.
std::vector<Lock> locks_of(const Catalog &catalog, const Explanation &why);

} // namespace ovnitrace
