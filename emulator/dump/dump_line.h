// SPDX-License-Identifier: BSD-2-Clause
// Formats an event as a line of text, or as a JSON object.
#pragma once

#include "emulator/dump/detail_writer.h"
#include "emulator/input/source.h"

namespace ovnitrace {

/// Formats events as `ovnitrace dump` prints them. Columns are aligned, separated by blanks, and
/// have no blanks inside:
///  1. seconds since the start of the trace, 9 decimals
///  2. number of the CPU, - if it has none
///  3. name of the event, as docs/format.md and the manual of FTrace write it
///  4. thread: `comm(tid)`, - if it has none; a blank in a name is '_'
///  5. details, each `key=value`: next, waker (a thread), reason, context, priority, cpu, state, …;
///     par1 and par2 if the format does not say what they are
class DumpLine {
public:
  /// Borrows the catalog.
  explicit DumpLine(const Catalog &catalog);

  /// Adds the next thread of the catalog.
  void add_thread() { threads_.add_thread(); }
  /// Takes a new name of a thread from the catalog.
  void name_thread(uint32_t thread) { threads_.name_thread(thread); }

  /// The most bytes of a line.
  static constexpr size_t kMaxBytes = 1024;

  /// Writes the line of an event at `at` and returns its end. Allocates nothing.
  char *put(char *at, const Event &event) const;
  /// Writes a JSON object in a line instead: time_ns (since the start of the trace), cpu, event,
  /// tid, pid, name and details. An event without a thread has no tid, pid and name.
  char *put_json(char *at, const Event &event) const;
  /// Writes only the details of that object, `{}` if there are no details.
  char *put_json_details(char *at, const Event &event) const;

private:
  uint32_t host_of(const Event &event) const;

  const Catalog &catalog_;
  ThreadTexts threads_;
};

} // namespace ovnitrace
