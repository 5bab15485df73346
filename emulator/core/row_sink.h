// SPDX-License-Identifier: BSD-2-Clause
// Takes what channels emit.
#pragma once

#include "emulator/base/typed_value.h"

#include <cstdint>
#include <span>

namespace ovnitrace {

/// The lines of one trace. Rows are threads or CPUs, by their index in the System. Times never
/// decrease.
class RowSink {
public:
  virtual ~RowSink() = default;
  /// Takes the changed values of `row`, which is on `cpu` from now on (kNone: on none).
  virtual void line(uint64_t time, uint32_t row, uint32_t cpu,
                    std::span<const TypedValue> values) = 0;
  /// Takes a value of `row`, on the CPU of its last line.
  virtual void punctual(uint64_t time, uint32_t row, const TypedValue &value) = 0;
  virtual void arrow(uint64_t time, uint32_t from_row, uint32_t to_row, uint64_t size,
                     uint32_t tag) = 0;
};

} // namespace ovnitrace
