// SPDX-License-Identifier: BSD-2-Clause
// Where channels are emitted to.
#pragma once

#include <cstdint>

namespace ovnitrace {

/// The lines of one trace: rows are threads or CPUs, by their index in the System. Times never go
/// back, and all values of one row at one time come one after the other.
class RowSink {
public:
  virtual ~RowSink() = default;
  /// Lines of `row` that follow happened on `cpu` (kNone: on none).
  virtual void set_cpu(uint32_t row, uint32_t cpu) = 0;
  virtual void event(uint64_t time, uint32_t row, uint32_t type, int64_t value) = 0;
  virtual void arrow(uint64_t time, uint32_t from_row, uint32_t to_row, uint64_t size,
                     uint32_t tag) = 0;
};

} // namespace ovnitrace
