// SPDX-License-Identifier: BSD-2-Clause
// One event as a line of text, or as an object of JSON.
#pragma once

#include "emulator/dump/detail_writer.h"
#include "emulator/input/source.h"

namespace ovnitrace {

/// Formats events as `ovnitrace dump` prints them. Columns are aligned and separated by blanks;
/// none holds one:
///   1. seconds since the start of the trace, 9 decimals
///   2. number of the CPU, - if there is none
///   3. name of the event, as docs/format.md and the manual of FTrace write it
///   4. thread: `comm(tid)`, - if there is none; a blank in a name is '_'
///   5. details, each `key=value`: next, waker (a thread), reason, context, priority, cpu, state,
///   …;
///      par1 and par2 where the format does not say what they are
class DumpLine {
public:
  /// Borrows the catalog.
  explicit DumpLine(const Catalog &catalog);

  /// Bytes that a line takes at most.
  static constexpr size_t kMaxBytes = 1024;

  /// Writes the line of an event at `at` and returns its end. Allocates nothing.
  char *put(char *at, const Event &event) const;
  /// The same as one JSON object in a line: time_ns (since the start of the trace), cpu, event,
  /// tid, pid, name (none of the three where there is no thread) and details.
  char *put_json(char *at, const Event &event) const;
  /// Its details alone, as that object has them: `{}` where there is none.
  char *put_json_details(char *at, const Event &event) const;

private:
  uint32_t host_of(const Event &event) const;

  const Catalog &catalog_;
  ThreadTexts threads_;
};

} // namespace ovnitrace
