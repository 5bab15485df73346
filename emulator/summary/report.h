// SPDX-License-Identifier: BSD-2-Clause
// What `ovnitrace info` says of a trace, as text and as JSON.
#pragma once

#include "emulator/base/json_stream.h"
#include "emulator/core/cut.h"
#include "emulator/input/source.h"
#include "emulator/input/trace_dir.h"
#include "emulator/summary/summary.h"

#include <cstddef>
#include <string>

namespace ovnitrace {

/// All that a report is made from; borrowed.
struct ReportInput {
  const std::string &path;
  const TraceInfo &info;
  const Catalog &catalog;
  const Summary &summary;
};

struct ReportOptions {
  std::string sort = "running"; ///< one of sort_words()
  size_t top = 0;               ///< lines of a table at most, the rest is one more; 0: all
  bool one_line = false;        ///< of JSON
};

/// For people: what the trace is, then its tables, none wider than 100 columns, then what the
/// states mean.
std::string text_report(const ReportInput &input, const ReportOptions &options = {});

/// For programs: one object, times in ns. Keys are never renamed. It has everything, whatever the
/// top.
std::string json_report(const ReportInput &input, const ReportOptions &options = {});
/// The same, written while it is made.
void write_json_report(const ReportInput &input, const ReportOptions &options,
                       const JsonStream::Write &write);

/// The tables alone.
std::string tables(const ReportInput &input, const ReportOptions &options);

/// What it all comes to in a few lines, as `ovnitrace stat` prints it, and a table of the threads
/// that ran longest, `top` at most.
std::string totals(const ReportInput &input, size_t top);

/// "name (tid)", or "thread tid" where it has no name; as much of a name as a table has room for.
std::string thread_label(const ThreadInfo &thread);

/// How many events were lost, as far as it is known; `counted` is the text of those that were.
std::string lost_text(uint64_t lost, bool more, const std::string &counted);

/// What parameter 1 of interrupt_start says: "IRQ 3", or the name of a vector or softirq.
std::string interrupt_name(uint16_t par1);

/// What the kernel calls an idle state of a CPU, by index in the Catalog; its number where it has
/// no name.
std::string idle_state_name(const Catalog &catalog, uint32_t cpu, uint32_t state);

/// The name of who did something to a thread; empty if it is not known.
std::string peer_name(const ReportInput &input, const PairCount &pair);

} // namespace ovnitrace
