// SPDX-License-Identifier: BSD-2-Clause
// Writes one Paraver trace (.prv): events and communications, in time order.
#pragma once

#include "emulator/base/number_text.h"
#include "emulator/prv/output_file.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace {

/// The Paraver object of a row, both 1-based; the application is always 1.
struct PrvRow {
  uint32_t task = 1;
  uint32_t thread = 1;
};

/// A task (a process) and the node, 1-based, of each of its threads. The task lives on the node of
/// its first thread.
struct PrvTask {
  std::vector<uint32_t> thread_nodes;
};

/// What the first line of the trace says.
struct PrvHeader {
  std::vector<uint32_t> cpus_per_node; ///< empty: NODES is 0 and every line has CPU 0
  std::vector<PrvTask> tasks;
  uint64_t end = 0; ///< ns, the length of the trace as far as it is known; close() gives it
  int64_t date = 0; ///< seconds since 1970, when the trace was taken; 0: now
};

struct PrvOptions {
  bool gzip = false; ///< write NAME.gz instead of NAME
};

/// A .prv under construction. Nothing is at the final path before close(): a writer destroyed
/// without it leaves no file. Any call may throw Error for a failed earlier write.
///
/// Times never go back, with one exception: a punctual event (docs/models.md, "Channels") is
/// given at the current time minus 1 ns after events at the current time were. The two last
/// instants are therefore held until time moves on, and events of one row at one time become one
/// line in which each type is there once, with its last value.
class PrvWriter {
public:
  /// `rows` maps the row numbers of the other calls, from 0, to objects of the header. Throws Error
  /// if Paraver could not load such a trace (more than 65535 CPUs, tasks or threads).
  PrvWriter(const OutputPlace &place, const PrvHeader &header, const std::vector<PrvRow> &rows,
            PrvOptions options = {});

  /// The CPU field of the lines of `row` that begin after this call: the global CPU, 1-based, 0 is
  /// none. A CPU that is not of the row's node becomes 0, as Paraver would drop the line.
  void set_cpu(uint32_t row, uint32_t cpu) {
    Row &r = rows_[row];
    r.cpu = cpu < cpu_node_.size() && cpu_node_[cpu] == r.node ? cpu : 0;
  }

  /// The channel `type` of `row` has `value` from `time` (ns) on.
  void event(uint64_t time, uint32_t row, uint32_t type, int64_t value);

  /// A communication from `from_row`, sent at `time`, to `to_row`, received at `recv_time`. Both
  /// have the CPU that their rows have now.
  void arrow(uint64_t time, uint32_t from_row, uint32_t to_row, uint64_t recv_time, uint64_t size,
             uint32_t tag);

  /// Writes what is held, puts the length of the trace into the header (`end`, ns, or the last
  /// time written if that is later) and gives the file its name. What an earlier conversion left in
  /// the other form, compressed or not, is removed: the .row and .pcf beside it are not of it any
  /// more.
  void close(uint64_t end);

private:
  static constexpr uint32_t kNil = UINT32_MAX;

  struct Row {
    uint32_t task = 0, thread = 0, node = 0;
    uint32_t cpu = 0;
    uint32_t prefix_cpu = kNil; ///< the CPU in `prefix`
    uint32_t prefix_size = 0;
    std::array<char, 48> prefix{};               ///< "2:cpu:1:task:thread:"
    std::array<uint32_t, 2> line = {kNil, kNil}; ///< index into Instant::lines, for each instant
  };
  /// One line to be: values are a list, so that a line with many of them costs no allocation.
  struct Line {
    uint32_t row, cpu, first, last;
  };
  struct Value {
    int64_t value;
    uint32_t type, next;
  };
  struct Arrow {
    uint32_t from_row, from_cpu, to_row, to_cpu, tag;
    uint64_t recv_time, size;
  };
  /// All that was given for one time and not written yet.
  struct Instant {
    uint64_t time = 0;
    std::vector<Line> lines;
    std::vector<Value> values;
    std::vector<Arrow> arrows;
    bool empty() const { return lines.empty() && arrows.empty(); }
  };
  struct TypeText {
    uint32_t type = 0;
    uint32_t size = 0;           ///< 0: not made yet
    std::array<char, 16> text{}; ///< ":type:"
  };

  uint32_t instant_at(uint64_t time);
  void advance(uint64_t time);
  void flush(uint32_t which);
  char *put_type(char *at, uint32_t type);
  void put_arrow(const Arrow &arrow, std::string_view time);
  void prepare_prefix(Row &row, uint32_t cpu);
  void put_empty_body(uint64_t end);

  std::vector<Row> rows_;
  std::vector<uint32_t> cpu_node_; ///< by global CPU; index 0 is no CPU
  std::string date_;               ///< the header up to the length of the trace
  std::string objects_;            ///< the header from the nodes on
  uint64_t last_time_ = 0;         ///< the latest that was written
  bool empty_ = true;              ///< nothing was written yet
  std::array<Instant, 2> instants_;
  uint32_t now_ = 0; ///< which of instants_ is the later one
  std::array<TypeText, 256> types_;
  OutputPlace other_form_; ///< where the file would be with the other compression
  OutputFile file_;
};

} // namespace ovnitrace
