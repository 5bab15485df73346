// SPDX-License-Identifier: BSD-2-Clause
// Reads the events of one chunk file (docs/format.md). The file may contain anything.
#pragma once

#include "emulator/format/switch_record.h"
#include "emulator/input/bindings.h"
#include "emulator/input/host_input.h"
#include "emulator/input/record_buffer.h"
#include "emulator/input/source.h"
#include "emulator/input/thread_table.h"
#include "emulator/input/tick_clock.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <vector>

namespace ovnitrace {

/// The CPUs of one host of a catalog, by number.
class CpuTable {
public:
  CpuTable(const Catalog &catalog, uint32_t host) {
    for (uint32_t i = 0; i < catalog.cpus.size(); i++) {
      const CpuInfo &cpu = catalog.cpus[i];
      if (cpu.host != host)
        continue;
      if (index_.size() <= cpu.index)
        index_.resize(size_t(cpu.index) + 1, kNone);
      index_[cpu.index] = i;
    }
  }

  /// Returns the index of the CPU with this number, kNone if there is no such CPU.
  uint32_t find(uint32_t number) const { return number < index_.size() ? index_[number] : kNone; }

private:
  std::vector<uint32_t> index_;
};

/// Resolves the threads, CPUs and times of a host's files.
struct HostTables {
  HostTables(const Catalog &catalog, uint32_t host)
      : threads(catalog, host), cpus(catalog, host), times(catalog.hosts[host].times),
        begin(catalog.begin), end(catalog.end) {
    if (times.first > times.last) // without events, it is not known when it was
      times = {.first = begin, .last = end};
    times.last = std::max(times.last, begin);
  }

  ThreadTable threads;
  CpuTable cpus;
  HostTimes times; ///< ns: of this host, within those of all; no event is later than `last`
  uint64_t begin;  ///< ns: of all hosts
  uint64_t end;    ///< ns: of all hosts
};

/// The events of one file, in order, with thread, CPU and peer resolved. Memory is bounded.
/// Everything that is wrong is reported, and:
/// - an event whose time goes back, or is after the end of the trace, gets the time of the event
/// before;
/// - an event of a context that no record bound to a thread is dropped;
/// - bytes that are not a record of the format are skipped;
/// - where records are missing there is a blackout (FTRACE_BLACKOUT_MISSING), from the event before
///   to the next one, or to the end of the trace if the file does not end with trace_stop. If
///   trace.json says how many events could not be written, both ends of the blackout have their
///   number as parameter 2;
/// - while other hosts have events, before the first and after the last event of this host, there
///   is a blackout (FTRACE_BLACKOUT_OUTSIDE).
class ChunkFile {
public:
  /// Borrows all of them. `file` is the index into Catalog::files.
  ChunkFile(const ChunkInput &input, uint16_t file, int64_t clock_offset_ns,
            const HostTables &tables, size_t block_records, DiagnosticSink &sink);

  /// Reads the next event. Returns false at the end.
  bool next(Event &event);

private:
  bool read(Event &event);
  void take_time(const ftrace_record &record, uint64_t tsc);
  bool begin_switch(Event &event, const ftrace_record &record, uint8_t code);
  void go_on(Event &event);
  void leave(Event &event, const ftrace_record &record, const SwitchParts &parts);
  void dispatch(Event &event, const ftrace_record &record, const SwitchParts &parts);
  void fill(Event &event, const ftrace_record &record, uint8_t code, uint32_t thread) const;
  bool next_beside_gap(Event &event, uint64_t since, bool more);
  void add_gap(uint64_t begin, const Event *next);
  void add_blackout(uint32_t kind, uint64_t time, uint16_t what, uint32_t lost = 0);
  bool refill();
  void finish();
  uint64_t checked_time(const ftrace_record &record, uint64_t time);
  void report_unbound(const ftrace_record &record, uint8_t code, uint16_t context);
  void control(const ftrace_record &record, uint8_t code);
  void begin_chunk(const ftrace_record &record);
  void chunk_number(const ftrace_record &record);
  void bind(const ftrace_record &record);
  void bind_birth(const ftrace_record &record);
  void end_chunk(const ftrace_record *last);
  void skip_extension(const ftrace_record &record);
  uint64_t offset_of(const ftrace_record *record) const;
  void warn(uint64_t offset, std::string what);
  /// Does the same where events are missing.
  void report_gap(uint64_t offset, std::string what);

  const ChunkInput &input_;
  const HostTables &tables_;
  DiagnosticSink &sink_;
  RecordBuffer buffer_;
  const ftrace_record *block_ = nullptr;
  const ftrace_record *position_ = nullptr;
  const ftrace_record *block_end_ = nullptr;
  /// An EXT_switch whose events are not all read; null: none.
  const ftrace_record *switch_ = nullptr;
  bool has_left_ = false; ///< the thread of switch_ has left its CPU: the next thread gets it
  TickClock clock_;
  uint64_t time_ = 0; ///< of the last event
  Bindings bindings_;
  uint32_t cpu_; ///< index of the CPU of this chunk
  uint16_t file_;
  bool stopped_ = false; ///< trace_stop was read
  bool any_event_ = false;
  bool gap_ = false;                    ///< events are missing after the last one
  bool ended_ = false;                  ///< the whole file was read
  std::deque<Event> waiting_;           ///< blackouts, and the event after them
  std::set<uint32_t> unknown_families_; ///< of extensions: reported already

  // About the current chunk:
  bool in_chunk_ = false;
  uint64_t chunk_begin_ = 0;      ///< offset of its first record
  uint64_t rate_offset_ = ~0ull;  ///< of the last cycles_per_msec
  uint32_t declared_records_ = 0; ///< by its numevents, 0: not given
  bool any_number_ = false;       ///< a chunk gave its number
  uint64_t next_number_ = 0;      ///< of the chunk that should follow
};

} // namespace ovnitrace
