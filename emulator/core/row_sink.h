// SPDX-License-Identifier: BSD-2-Clause
// Where channels are emitted to.
#pragma once

#include "emulator/base/typed_value.h"

#include <cstdint>
#include <span>

namespace ovnitrace {

/// The lines of one trace: rows are threads or CPUs, by their index in the System. Times never go
/// back.
class RowSink {
public:
  virtual ~RowSink() = default;
  /// What changed in `row`, which is on `cpu` (kNone: on none) from now on.
  virtual void line(uint64_t time, uint32_t row, uint32_t cpu,
                    std::span<const TypedValue> values) = 0;
  /// A value of `row` on the CPU that its last line gave it.
  virtual void punctual(uint64_t time, uint32_t row, const TypedValue &value) = 0;
  virtual void arrow(uint64_t time, uint32_t from_row, uint32_t to_row, uint64_t size,
                     uint32_t tag) = 0;
};

} // namespace ovnitrace
