// SPDX-License-Identifier: BSD-2-Clause
// Makes the rows of the tables from the stream of slices.
#pragma once

#include "emulator/dump/dump_line.h"
#include "emulator/slices/slice.h"
#include "emulator/tables/tables.h"

#include <array>
#include <cstdint>
#include <functional>

namespace ovnitrace {

/// Times are in ns from the start of the trace, tids as the kernel numbers them (0: the idle task),
/// CPUs by their number. What is not known is nothing.
class TraceTables final : public SliceSink {
public:
  /// Borrows both. Called now and then with the events so far, if there is one.
  using Progress = std::function<void(uint64_t events)>;
  TraceTables(const Catalog &catalog, TableSink &sink, Progress progress = {});

  /// The tables thread and peer: to be called once, before the stream.
  void put_names();

  void on_event(const Event &event, const System &system) override;
  void on_slice(const Slice &slice) override;

  uint64_t rows(TableId table) const { return rows_[size_t(table)]; }

private:
  void put(TableId table, std::span<const Cell> cells);
  Cell since_start(uint64_t time) const { return int64_t(time - catalog_.begin); }
  Cell cpu_number(uint32_t cpu) const;

  const Catalog &catalog_;
  TableSink &sink_;
  Progress progress_;
  DumpLine details_;
  std::array<uint64_t, kTables> rows_{};
};

} // namespace ovnitrace
