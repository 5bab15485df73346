// SPDX-License-Identifier: BSD-2-Clause
// Emitted channels, to the lines of a .prv.
#pragma once

#include "emulator/convert/layout.h"
#include "emulator/core/row_sink.h"

namespace ovnitrace {

/// The writer of a trace with the rows of a layout; what has no row there is dropped.
class PrvRows final : public RowSink {
public:
  PrvRows(const OutputPlace &place, const Layout &layout, PrvOptions options)
      : layout_(layout), writer_(place, layout.header, layout.rows, options) {}

  /// Paraver loads no trace without a record: says that the first row has nothing of `type` yet.
  void begin(uint32_t type) { writer_.event(0, 0, type, 0); }

  void set_cpu(uint32_t row, uint32_t cpu) override {
    if (uint32_t at = layout_.row_of[row]; at != kNone)
      writer_.set_cpu(at, cpu == kNone ? 0 : layout_.cpu_number[cpu]);
  }
  void event(uint64_t time, uint32_t row, uint32_t type, int64_t value) override {
    if (uint32_t at = layout_.row_of[row]; at != kNone)
      writer_.event(time, at, type, value);
  }
  void arrow(uint64_t time, uint32_t from, uint32_t to, uint64_t size, uint32_t tag) override {
    uint32_t from_at = layout_.row_of[from], to_at = layout_.row_of[to];
    if (from_at != kNone && to_at != kNone)
      writer_.arrow(time, from_at, to_at, time, size, tag);
  }
  void close(uint64_t end) { writer_.close(end); }

private:
  const Layout &layout_;
  PrvWriter writer_;
};

} // namespace ovnitrace
