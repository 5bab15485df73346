// SPDX-License-Identifier: BSD-2-Clause
// Replaces the times of a chunk with differences, which compress a third better, and back.
#pragma once

#include <ovnitrace/ftrace_record.h>

#include <cstdint>
#include <span>

namespace ovnitrace {

/// Replaces the times of a whole chunk with differences (docs/format.md) and marks that in its
/// EXT_format. Returns false and changes nothing if the records are not one whole chunk of this
/// version.
bool make_differences(std::span<ftrace_record> chunk);

/// Replaces differences with times and clears the mark in EXT_format, for records as they come from
/// a file. The reverse of make_differences(). Chunks that have times stay as they are.
class TimeRestorer {
public:
  /// Restores the next records of the file, in place.
  void restore(std::span<ftrace_record> records);
  /// Forgets the last time. To be called where the next records do not follow the last ones.
  void reset() { active_ = false; }

private:
  bool active_ = false;   ///< the next record holds a difference
  uint64_t last_tsc_ = 0; ///< time of the last record
};

} // namespace ovnitrace
