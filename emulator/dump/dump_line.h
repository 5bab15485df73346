// SPDX-License-Identifier: BSD-2-Clause
// One event as a line of text.
#pragma once

#include "emulator/input/source.h"

#include <string>
#include <vector>

namespace ovnitrace {

/// Formats events as `ovnitrace dump` prints them. Columns are aligned and separated by spaces; the
/// first three hold none:
///   1. seconds since the begin of the trace, 9 decimals
///   2. number of the CPU, - if there is none
///   3. name of the event, as docs/format.md and the manual of FTrace write it
///   4. thread: `comm (tid)`, - if there is none
///   5. details, each `key=value` (Details): numbers in decimal, addresses in hexadecimal, what
///      has a name by its name
class DumpLine {
public:
  /// Borrows the catalog.
  explicit DumpLine(const Catalog &catalog);

  /// Bytes that a line takes at most.
  static constexpr size_t kMaxBytes = 512;

  /// Writes the line of an event at `at` and returns its end. Allocates nothing.
  char *put(char *at, const Event &event) const;

private:
  char *put_details(char *at, const Event &event) const;

  const Catalog &catalog_;
  std::vector<std::string> threads_; ///< `comm (tid)`, padded
};

} // namespace ovnitrace
