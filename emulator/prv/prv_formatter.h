// SPDX-License-Identifier: BSD-2-Clause
// Formats lines given as numbers to the text of a .prv.
#pragma once

#include "emulator/output/output_file.h"
#include "emulator/prv/line_block.h"
#include "emulator/prv/round_scale.h"
#include "emulator/prv/time_text.h"

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace ovnitrace {

/// The Paraver object of a row, both 1-based. The application is always 1.
struct PrvRow {
  uint32_t task = 1;
  uint32_t thread = 1;
};

/// Formats the lines of a trace. Keeps the texts of rows and of frequent values to copy them.
class PrvFormatter {
public:
  /// `rows`: the objects, and the node (1-based) of each. `cpu_node`: the node of each global CPU,
  /// from 1. `measured`: PRV types whose values are counted.
  PrvFormatter(const std::vector<PrvRow> &rows, const std::vector<uint32_t> &nodes,
               std::vector<uint32_t> cpu_node, const std::vector<uint32_t> &measured);

  /// Appends all instants of a block. Times never decrease.
  void format(const LineBlock &block, OutputFile &file);

  bool empty() const { return empty_; }             ///< no line and no arrow so far
  uint64_t last_time() const { return last_time_; } ///< of the last line or arrow, ns
  const std::map<uint32_t, RoundScale> &scales() const { return scales_; } ///< by PRV type

private:
  struct alignas(64) Row {       // one cache line
    std::array<char, 32> prefix; ///< "2:cpu:1:task:thread:", each number at most 65535
    uint32_t prefix_size;
    uint32_t cpu; ///< in the prefix, as it was given
    uint32_t node;
    PrvRow object;
  };
  /// The text ":type:value". Longer ones are not kept.
  struct ValueText {
    int64_t value;
    uint32_t type;
    uint32_t size = 0; ///< 0: unused
    std::array<char, 16> text;
  };
  /// A type whose values are counted and mostly differ.
  struct Measured {
    uint32_t type;
    RoundScale *scale;
  };

  void prefetch_rows(const LineBlock &block) const;
  static char *put_object(char *at, const Row &row);
  bool maybe_measured(uint32_t type) const {
    return maybe_measured_[type % maybe_measured_.size()];
  }
  /// Returns the row with the prefix for a CPU.
  const Row &row_on(uint32_t number, uint32_t cpu) {
    Row &row = rows_[number];
    if (row.cpu != cpu)
      prepare_prefix(row, cpu);
    return row;
  }
  void prepare_prefix(Row &row, uint32_t cpu);
  char *put_value(char *at, const TypedValue &value);
  char *put_new_value(char *at, const TypedValue &value, ValueText &kept);
  char *put_measured(char *at, const TypedValue &value);
  template <class Value>
  void put_line(uint32_t row, uint32_t cpu, std::span<const Value> values, OutputFile &file);
  void put_arrow(const LineHead &from, const ArrowBody &body, OutputFile &file);
  void merge_lines(LineReader lines, OutputFile &file);

  static constexpr uint32_t kTextBits = 12;
  std::vector<Row> rows_;
  std::vector<uint32_t> cpu_node_;
  std::vector<ValueText> texts_{1 << kTextBits}; ///< by a hash of type and value
  std::map<uint32_t, RoundScale> scales_;        ///< of the measured types
  std::vector<Measured> measured_;
  std::array<bool, 512> maybe_measured_{}; ///< by type % size: whether a measured type is there
  TimeText time_text_;
  uint64_t time_ = 0; ///< of the current instant
  uint64_t last_time_ = 0;
  bool empty_ = true;
};

} // namespace ovnitrace
