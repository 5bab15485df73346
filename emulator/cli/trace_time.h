// SPDX-License-Identifier: BSD-2-Clause
// Reads a point in a trace as a person writes it: from the start of the trace, by the clock, or at
// a mark.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/input/source.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace ovnitrace {

inline constexpr std::string_view kMarkPrefix = "mark:"; ///< of a time that is a mark

struct TraceTime {
  enum class Kind : uint8_t {
    not_given,
    since_start, ///< ns: from the start of the trace
    of_day,      ///< ns: since midnight, in the local time zone
    of_epoch,    ///< ns: since 1970
    of_mark,     ///< at the mark that mark() names
  };
  Kind kind = Kind::not_given;
  uint64_t ns = 0;
  std::string text = {}; ///< as given

  /// Returns what follows `mark:`, maybe with a distance (mark_time()). REQUIRES: kind is of_mark.
  std::string mark() const { return text.substr(kMarkPrefix.size()); }
  bool is_wall() const { return kind == Kind::of_day || kind == Kind::of_epoch; }
};

/// The accepted forms, for messages.
inline constexpr const char *kTimeForms =
    "1.5s, 200ms, 30us, 100ns, 2m or 1h, counted from the start of the trace, a time by the clock, "
    "as 14:03:07.5 or @1732345678, or a mark, such as mark:ready or mark:ready-5ms";

/// Parses "1.5s", "200ms", "14:03:07.5", "14:03", "@1732345678.5" or "mark:TEXT". Returns false for
/// anything else.
bool parse_trace_time(const std::string &text, TraceTime &time);

/// The range of a trace by the clock: ns since 1970.
struct WallRange {
  int64_t begin = 0, end = 0;
};

/// Returns where `time` is, ns from the start of the trace. A time of day is on the day on which
/// the trace began, or on the next one if the trace has it only after midnight. For --from, a time
/// before the trace is its start, with a warning. Throws Error for --to before the trace. REQUIRES:
/// `time` is not a mark.
uint64_t since_start(const TraceTime &time, const char *option, const WallRange &trace);

/// Returns where the first mark with this text is, ns on the clock of the trace at `path`. If no
/// mark has the whole text, its end is read as a distance: "ready+5ms" is 5 ms after the mark
/// "ready". Throws Error if the trace has no such mark.
uint64_t mark_time(const Catalog &catalog, const std::string &text, const std::string &path);

} // namespace ovnitrace
