// SPDX-License-Identifier: BSD-2-Clause
// Lets one object follow how far traces are read, for a display.
#pragma once

#include "emulator/input/source.h"

#include <cstdint>

namespace ovnitrace {

/// Is called by a ReadAhead, in the thread that uses it, and by the search of a critical path.
class ReadWatcher {
public:
  virtual ~ReadWatcher() = default;
  /// Takes the time of the last event that was read, and how many were read since the last call.
  virtual void reads(const Catalog &catalog, uint64_t time, uint64_t events) = 0;
  /// Takes the part, from 0 to 1, of the critical paths that is walked.
  virtual void walks(double part) = 0;
  virtual void ends() = 0; ///< this pass is over

  /// The one that follows from now on; nullptr: nobody. Not owned.
  static inline ReadWatcher *current = nullptr;
};

} // namespace ovnitrace
