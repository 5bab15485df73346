// SPDX-License-Identifier: BSD-2-Clause
// Emitted channels, to the lines of a .prv.
#pragma once

#include "emulator/convert/layout.h"
#include "emulator/convert/views.h"
#include "emulator/core/row_sink.h"

#include <vector>

namespace ovnitrace {

/// The writer of a trace with the rows of a layout; what has no row there is dropped.
class PrvRows final : public RowSink {
public:
  /// The values of `gradients`, PRV types, are measured for their scales.
  PrvRows(const OutputPlace &place, const Layout &layout, PrvOptions options,
          const std::vector<uint32_t> &gradients)
      : layout_(layout), writer_(place, layout.header, layout.rows, options), measured_(gradients),
        scales_(gradients.size()) {}

  /// Paraver loads no trace without a record: says that the first row has nothing of `type` yet.
  void begin(uint32_t type) { writer_.event(0, 0, type, 0); }

  void set_cpu(uint32_t row, uint32_t cpu) override {
    if (uint32_t at = layout_.row_of[row]; at != kNone)
      writer_.set_cpu(at, cpu == kNone ? 0 : layout_.cpu_number[cpu]);
  }
  void event(uint64_t time, uint32_t row, uint32_t type, int64_t value) override {
    if (uint32_t at = layout_.row_of[row]; at != kNone) {
      writer_.event(time, at, type, value);
      for (size_t n = 0; n < measured_.size(); n++) // a handful
        if (measured_[n] == type)
          scales_[n].add(value);
    }
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
    TraceShape shape = {length, arrows_, {}};
    for (size_t n = 0; n < measured_.size(); n++)
      shape.scales.emplace(measured_[n], scales_[n]);
    return shape;
  }

private:
  const Layout &layout_;
  PrvWriter writer_;
  const std::vector<uint32_t> measured_; ///< PRV types; apart, as each event looks through them
  std::vector<RoundScale> scales_;       ///< of each of those
  bool arrows_ = false;                  ///< there was one
};

} // namespace ovnitrace
