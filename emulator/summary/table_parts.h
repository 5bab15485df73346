// SPDX-License-Identifier: BSD-2-Clause
// Shares between the tables of a report what they have in common.
#pragma once

#include "emulator/summary/groups.h"
#include "emulator/summary/report.h"
#include "emulator/summary/table.h"

#include <cstddef>
#include <string>
#include <vector>

namespace ovnitrace {

/// Returns whether the percentages of a table are shares of the time of all CPUs: if all threads of
/// the hosts were recorded and are shown. Otherwise they are shares of the lives of the threads.
/// Most threads of a machine sleep all the time, so their lives say little.
bool has_cpu_shares(const Catalog &catalog, const Summary &summary);

/// Appends tables to a text.
class TableParts {
protected:
  /// A line of a table of threads or of groups.
  struct Line {
    std::string name, second;
    ThreadSummary sum;
    size_t of = 1; ///< threads, or groups
  };

  TableParts(const ReportInput &input, const ReportOptions &options)
      : input_(input), catalog_(input.catalog), summary_(input.summary), options_(options) {}

  /// Adds a table, unless it is empty. `title`: "" for no title.
  void put(const char *title, const Table &table);

  std::vector<Line> thread_lines() const;
  std::vector<Line> lines_of(const std::vector<ThreadGroup> &groups) const;
  std::string thread_text(uint32_t thread) const;
  std::string cpu_text(size_t cpu) const;
  std::string others(size_t count) const; ///< "12 others"
  /// Returns seconds from the start of the trace, as dump prints and --from takes them.
  std::string at_text(uint64_t ns) const;
  Table::Row span_row(std::string name, const Spans &spans) const;
  /// Returns the share in which threads ran: see has_cpu_shares().
  std::string share_text(const ThreadSummary &sum) const;
  bool is_full(size_t lines) const { return options_.top && lines >= options_.top; }

  /// Calls `put_line` for the lines that fit, and for one that sums up the rest.
  template <class Put> void put_lines(const std::vector<Line> &lines, Put put_line) const {
    Line rest{"", "", {}, 0};
    for (size_t n = 0; n < lines.size(); n++) {
      if (!is_full(n)) {
        put_line(lines[n]);
        continue;
      }
      rest.sum.add(lines[n].sum);
      rest.of++;
    }
    if (!rest.of)
      return;
    rest.name = others(rest.of);
    put_line(rest);
  }

  const ReportInput &input_;
  const Catalog &catalog_;
  const Summary &summary_;
  const ReportOptions &options_;
  std::string text_;
};

} // namespace ovnitrace
