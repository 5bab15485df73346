// SPDX-License-Identifier: BSD-2-Clause
// The times of a chunk as differences, with which it compresses to two thirds.
#pragma once

#include <ovnitrace/ftrace_record.h>

#include <cstdint>
#include <span>

namespace ovnitrace {

/// Puts differences in the place of the times of a whole chunk (docs/format.md), and says so in its
/// EXT_format. False, and nothing is done, if these records are no whole chunk of this version.
bool make_differences(std::span<ftrace_record> chunk);

/// Puts times in the place of differences, wherever a chunk has them, and takes that off its
/// EXT_format: the reverse of make_differences(), for records as they come from a file.
class TimeRestorer {
public:
  /// The next records.
  void restore(std::span<ftrace_record> records);
  /// What follows is not in one piece with what was before.
  void reset() { active_ = false; }

private:
  bool active_ = false;   ///< the next record has a difference
  uint64_t last_tsc_ = 0; ///< of the record before
};

} // namespace ovnitrace
