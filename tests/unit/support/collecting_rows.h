// SPDX-License-Identifier: BSD-2-Clause
// Keeps what channels emit.
#pragma once

#include "emulator/core/row_sink.h"
#include "emulator/format/event.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ovnitrace::test {

/// The (time, value) pairs of one channel of one row.
using Timeline = std::vector<std::pair<uint64_t, int64_t>>;

class CollectingRows : public RowSink {
public:
  struct Line {
    uint64_t time;
    uint32_t row, type;
    int64_t value;
  };
  struct Drawn {
    uint64_t time;
    uint32_t from, to, tag;
    bool operator==(const Drawn &) const = default;
  };

  void line(uint64_t time, uint32_t row, uint32_t cpu,
            std::span<const TypedValue> values) override {
    cpu_of[row] = cpu;
    for (const TypedValue &value : values)
      punctual(time, row, value);
  }
  void punctual(uint64_t time, uint32_t row, const TypedValue &value) override {
    lines.push_back({time, row, value.type, value.value});
  }
  void arrow(uint64_t time, uint32_t from, uint32_t to, uint64_t, uint32_t tag) override {
    arrows.push_back({time, from, to, tag});
  }

  Timeline timeline(uint32_t row, uint32_t type) const {
    Timeline found;
    for (const Line &line : lines)
      if (line.row == row && line.type == type)
        found.push_back({line.time, line.value});
    return found;
  }
  /// The values alone.
  std::vector<int64_t> values(uint32_t row, uint32_t type) const {
    std::vector<int64_t> found;
    for (const auto &[time, value] : timeline(row, type))
      found.push_back(value);
    return found;
  }

  std::vector<Line> lines;
  std::vector<Drawn> arrows;
  std::map<uint32_t, uint32_t> cpu_of;
};

} // namespace ovnitrace::test
