// SPDX-License-Identifier: BSD-2-Clause
// Emitted channels, to the lines of a .prv.
#pragma once

#include "emulator/convert/layout.h"
#include "emulator/convert/views.h"
#include "emulator/core/row_sink.h"

#include <array>
#include <vector>

namespace ovnitrace {

/// The writer of a trace with the rows of a layout; what has no row there is dropped.
class PrvRows final : public RowSink {
public:
  /// The values of `gradients`, PRV types, are measured for their scales.
  PrvRows(const OutputPlace &place, const Layout &layout, PrvOptions options,
          const std::vector<uint32_t> &gradients)
      : layout_(layout), writer_(place, layout.header, layout.rows, options), measured_(gradients),
        scales_(gradients.size()) {
    for (size_t n = gradients.size(); n-- > 0;)
      first_[gradients[n] % first_.size()] = uint16_t(n + 1);
  }

  /// Paraver loads no trace without a record: says that the first row has nothing of `type` yet.
  void begin(uint32_t type) { writer_.event(0, 0, type, 0); }

  void set_cpu(uint32_t row, uint32_t cpu) override {
    if (uint32_t at = layout_.row_of[row]; at != kNone)
      writer_.set_cpu(at, cpu == kNone ? 0 : layout_.cpu_number[cpu]);
  }
  void event(uint64_t time, uint32_t row, uint32_t type, int64_t value) override {
    const uint32_t at = layout_.row_of[row];
    if (at == kNone)
      return;
    if (first_[type % first_.size()]) [[unlikely]]
      return measured_event(time, at, type, value);
    writer_.event(time, at, type, value);
  }
  /// Of a row that is no thread's and no CPU's, by its place in the layout.
  void event_of_row(uint64_t time, uint32_t row, uint32_t type, int64_t value) {
    writer_.event(time, row, type, value);
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
  /// Of a type that is perhaps measured. Apart, so that the others are passed on in a few
  /// instructions.
  [[gnu::noinline]] void measured_event(uint64_t time, uint32_t at, uint32_t type, int64_t value) {
    writer_.event(time, at, type, value);
    for (size_t n = first_[type % first_.size()] - 1u; n < measured_.size(); n++)
      if (measured_[n] == type)
        return scales_[n].add(value);
  }

  const Layout &layout_;
  PrvWriter writer_;
  /// 1 + the first place in measured_ of a type with this remainder, 0: there is none. Most types
  /// are sorted out by it.
  std::array<uint16_t, 512> first_{};
  const std::vector<uint32_t> measured_; ///< PRV types
  std::vector<RoundScale> scales_;       ///< of each of those
  bool arrows_ = false;                  ///< there was one
};

} // namespace ovnitrace
