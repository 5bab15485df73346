// SPDX-License-Identifier: BSD-2-Clause
// Makes the rows of the tables from slices.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/dump/dump_line.h"
#include "emulator/slices/slice.h"
#include "emulator/tables/tables.h"

#include <array>
#include <cstdint>
#include <vector>

namespace ovnitrace {

using TableRows = std::array<uint64_t, kTables>; ///< number of rows, by TableId

/// Makes rows. Times are ns from the start of the trace, tids as the kernel numbers them (0: the
/// idle task), CPUs by number. What is not known is absent.
class TraceTables final : public SliceSink {
public:
  /// Borrows the catalog and the sink. REQUIRES: check_cut() accepts `cut`.
  TraceTables(const Catalog &catalog, const Cut &cut, TableSink &sink);

  /// Writes the tables thread, peer and mark. To be called once, before the stream.
  void put_names();

  void on_event(const Event &event, const System &system) override;
  void on_slice(const Slice &slice) override;

  const TableRows &rows() const { return rows_; }

private:
  void put(TableId table, std::span<const Cell> cells);
  Cell since_start(uint64_t time) const { return int64_t(time - catalog_.begin); }
  Cell cpu_number(uint32_t cpu) const;

  const Catalog &catalog_;
  TableSink &sink_;
  const TimeRange range_;
  const std::vector<uint8_t> kept_; ///< by thread
  DumpLine details_;
  TableRows rows_{};
};

/// Replays a trace for its tables: first those of names, then the others. Slices and wakeups are
/// written when the slice ends. Throws Error.
TableRows put_tables(EventSource &source, const Cut &cut, TableSink &sink);

} // namespace ovnitrace
