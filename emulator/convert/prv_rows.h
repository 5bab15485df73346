// SPDX-License-Identifier: BSD-2-Clause
// Writes emitted channels to the lines of a .prv.
#pragma once

#include "emulator/convert/layout.h"
#include "emulator/convert/views.h"
#include "emulator/core/row_sink.h"

namespace ovnitrace {

/// Writes a trace with the rows of a layout. Drops threads and CPUs without a row.
class PrvRows final : public RowSink {
public:
  PrvRows(const OutputPlace &place, const Layout &layout, const PrvOptions &options)
      : layout_(layout), writer_(place, layout.header, layout.rows, options) {}

  /// Writes that the first row has nothing of `type` yet. Paraver does not load a trace without a
  /// record.
  void begin(uint32_t type) { writer_.punctual(0, 0, {0, type}); }

  /// Prefetches what a line of this row needs. Always inline: GCC would drop a call, as it has no
  /// effect.
  [[gnu::always_inline]] void prefetch(uint32_t row) const {
    if (const uint32_t at = layout_.row_of[row]; at != kNone)
      writer_.prefetch(at);
  }
  void line(uint64_t time, uint32_t row, uint32_t cpu,
            std::span<const TypedValue> values) override {
    if (const uint32_t at = layout_.row_of[row]; at != kNone)
      writer_.line(time, at, cpu == kNone ? 0 : layout_.cpu_number[cpu], values);
  }
  void punctual(uint64_t time, uint32_t row, const TypedValue &value) override {
    if (const uint32_t at = layout_.row_of[row]; at != kNone)
      writer_.punctual(time, at, value);
  }
  /// Writes a line of a row that is not a thread or a CPU, by its place in the layout.
  void line_of_row(uint64_t time, uint32_t row, std::span<const TypedValue> values) {
    writer_.line(time, row, 0, values);
  }
  void arrow(uint64_t time, uint32_t from, uint32_t to, uint64_t size, uint32_t tag) override {
    uint32_t from_at = layout_.row_of[from], to_at = layout_.row_of[to];
    if (from_at != kNone && to_at != kNone) {
      writer_.arrow(time, from_at, to_at, time, size, tag);
      arrows_ = true;
    }
  }
  /// Ends the trace, which lasts `length` ns.
  TraceShape close(uint64_t length) {
    writer_.close(length);
    return {length, arrows_, writer_.scales()};
  }

private:
  const Layout &layout_;
  PrvWriter writer_;
  bool arrows_ = false; ///< an arrow was written
};

} // namespace ovnitrace
