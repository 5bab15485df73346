// SPDX-License-Identifier: BSD-2-Clause
// Writes one Paraver trace (.prv): events and communications, in time order.
#pragma once

#include "emulator/base/cores.h"
#include "emulator/base/relay.h"
#include "emulator/output/output_file.h"
#include "emulator/prv/line_block.h"
#include "emulator/prv/prv_formatter.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace ovnitrace {

/// A task (a process) and the node, 1-based, of each of its threads. The task belongs to the node
/// of its first thread.
struct PrvTask {
  std::vector<uint32_t> thread_nodes;
};

/// The contents of the first line of the trace.
struct PrvHeader {
  std::vector<uint32_t> cpus_per_node; ///< empty: NODES is 0, and every line has CPU 0
  std::vector<PrvTask> tasks;
  uint64_t end = 0; ///< ns, the length of the trace if it is known; close() sets it
  int64_t date = 0; ///< seconds since 1970 of the capture; 0: not known, and 1970 is written
};

struct PrvOptions {
  bool gzip = false;                   ///< write NAME.gz instead of NAME
  std::vector<uint32_t> measured = {}; ///< PRV types whose values are counted
};

/// A .prv that is being written. There is nothing at the final path before close(); without it, no
/// file is left. Threads of its own write the file, and any call may throw Error for an earlier
/// failed write.
///
/// Times never decrease. Everything about a row at one time becomes one line, with each type once
/// and its last value.
class PrvWriter {
public:
  /// `rows` maps the row numbers of the other calls, from 0, to objects of the header. Throws Error
  /// if Paraver could not load such a trace (more than 65535 CPUs, tasks or threads).
  PrvWriter(const OutputPlace &place, const PrvHeader &header, const std::vector<PrvRow> &rows,
            const PrvOptions &options = {});

  /// Sets channels of `row` to these values from `time` (ns) on. `cpu` is the global CPU, 1-based,
  /// 0 for no CPU. A line that has already begun at this time keeps its CPU. A CPU outside the
  /// row's node becomes 0, because Paraver would drop the line.
  void line(uint64_t time, uint32_t row, uint32_t cpu, std::span<const TypedValue> values,
            bool punctual = false) {
    if (time != now_)
      advance(time);
    Row &r = rows_[row];
    r.cpu = cpu;
    merged_ |= r.time == time || arrows_;
    r.time = time;
    relay_.current().line(row, cpu, values, punctual);
  }

  /// Prefetches what a line of this row needs.
  void prefetch(uint32_t row) const { __builtin_prefetch(&rows_[row], 1); }

  /// Adds a value of a row on the CPU of its last line. All values of one type and time are
  /// written.
  void punctual(uint64_t time, uint32_t row, const TypedValue &value) {
    line(time, row, rows_[row].cpu, {&value, 1}, true);
  }

  /// Adds a communication from `from_row`, sent at `time`, to `to_row`, received at `recv_time`, on
  /// the CPUs of their last lines.
  void arrow(uint64_t time, uint32_t from_row, uint32_t to_row, uint64_t recv_time, uint64_t size,
             uint32_t tag) {
    if (time != now_)
      advance(time);
    arrows_ = true;
    relay_.current().arrow(from_row, rows_[from_row].cpu,
                           {uint16_t(to_row), uint16_t(rows_[to_row].cpu), tag, recv_time, size});
  }

  /// Writes everything, sets the length of the trace in the header (`end`, ns, or the last time
  /// written if that is later) and gives the file its name. Removes the other form, compressed or
  /// not, of an earlier conversion: the new .row and .pcf do not match it.
  void close(uint64_t end);

  /// Returns the scales of the measured types, by type. To be called after close().
  const std::map<uint32_t, RoundScale> &scales() const { return formatter_.scales(); }

private:
  static constexpr uint64_t kNoTime = UINT64_MAX;

  struct Row {
    uint64_t time = kNoTime; ///< of its last line
    uint32_t cpu = 0;        ///< of its last line
  };

  void advance(uint64_t time);
  void put_empty_body(uint64_t end);

  std::string date_;       ///< the header, up to the length of the trace
  std::string objects_;    ///< the header, from the nodes on
  OutputPlace other_form_; ///< the file's place with the other compression
  std::vector<Row> rows_;
  uint64_t now_ = 0;      ///< of the current instant
  bool merged_ = false;   ///< a row has several lines at this time, or a line follows an arrow
  bool arrows_ = false;   ///< there is an arrow at this time
  const bool has_thread_; ///< whether a thread formats
  alignas(kApart) PrvFormatter formatter_; ///< used by the relay's thread, as what follows
  OutputFile file_;
  alignas(kApart) Relay<LineBlock> relay_;
};

} // namespace ovnitrace
