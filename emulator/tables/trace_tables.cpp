// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/tables/trace_tables.h"

#include "emulator/base/printable.h"
#include "emulator/format/event_names.h"
#include "emulator/format/value_names.h"
#include "emulator/input/call_name.h"
#include "emulator/input/thread_group.h"
#include "emulator/models/user_thread.h"
#include "emulator/slices/slicer.h"
#include "emulator/summary/groups.h"

#include <ovnitrace/ftrace_codes.h>

#include <string>

namespace ovnitrace {

namespace {

Cell text(std::string_view value) {
  return value.empty() ? Cell() : Cell(value);
}

/// Returns a tid as an event names it.
Cell tid_of(const Peer &peer) {
  return peer.tid == kNone ? Cell() : Cell(peer.tid);
}

/// Returns who woke the thread of a slice: not the thread that an interrupt interrupted.
Cell waker_of(const Slice &slice) {
  return slice.context == FTRACE_WAKER_TASK ? tid_of(slice.waker) : Cell();
}

/// Returns a pid; 0 is not known.
Cell pid_of(uint32_t pid) {
  return pid ? Cell(pid) : Cell();
}

Cell value_name(ValueNames names, uint8_t value) {
  return value == kNotKnown ? Cell() : text(name_of(names, value));
}

} // namespace

TraceTables::TraceTables(const Catalog &catalog, const Cut &cut, TableSink &sink)
    : catalog_(catalog), sink_(sink), range_(range_of(cut, catalog)),
      kept_(kept_threads(cut, catalog)), details_(catalog) {}

void TraceTables::put(TableId table, std::span<const Cell> cells) {
  sink_.row(table, cells);
  rows_[size_t(table)]++;
}

Cell TraceTables::cpu_number(uint32_t cpu) const {
  return cpu < catalog_.cpus.size() ? Cell(catalog_.cpus[cpu].index) : Cell();
}

void TraceTables::put_names() {
  const std::vector<uint32_t> mains = main_threads(catalog_);
  for (uint32_t t = 0; t < catalog_.threads.size(); t++) {
    const ThreadInfo &thread = catalog_.threads[t];
    if (!kept_[t])
      continue;
    const std::string process = printable_line(process_name(catalog_, catalog_.threads[mains[t]]));
    const std::string name = printable_line(thread.name),
                      host = printable_line(catalog_.hosts[thread.host].name);
    static const Cgroup unknown = {};
    const Cgroup *const known = cgroup_of(catalog_, thread, catalog_.end);
    const Cgroup &cgroup = known ? *known : unknown;
    const Cell cells[] = {t,
                          thread.tid,
                          pid_of(thread.pid),
                          text(name),
                          text(process),
                          text(host),
                          text(cgroup.path),
                          text(cgroup.unit),
                          text(cgroup.container),
                          text(cgroup.pod)};
    put(TableId::thread, cells);
  }
  for (const HostInfo &host : catalog_.hosts)
    for (const PeerName &peer : host.peers) {
      const std::string name = printable_line(peer.name), host_name = printable_line(host.name);
      const Cell cells[] = {peer.tid, pid_of(peer.pid), text(name), since_start(peer.since_ns),
                            text(host_name)};
      put(TableId::peer, cells);
    }
  for (const HostInfo &host : catalog_.hosts)
    for (const CaptureMark &mark : host.marks) {
      const std::string name = printable_line(host.name);
      const Cell cells[] = {since_start(mark.time_ns), text(mark.text), text(name)};
      if (mark.time_ns >= range_.from && mark.time_ns <= range_.to)
        put(TableId::mark, cells);
    }
}

void TraceTables::on_event(const Event &event, const System &system) {
  if (!was_captured(event) || !has_happened(event))
    return;
  uint32_t thread = thread_of(event, system);
  if (thread != kNone && !kept_[thread])
    thread = kNone; // it has no row
  char details[DumpLine::kMaxBytes];
  const std::string_view json(details, size_t(details_.put_json_details(details, event) - details));
  const std::string name = event.kind <= UINT8_MAX ? std::string() : kind_name(event.kind);
  const Cell cells[] = {since_start(event.time), cpu_number(event.cpu),
                        thread == kNone ? Cell() : Cell(thread),
                        name.empty() ? event_name(event.kind) : std::string_view(name),
                        json == "{}" ? Cell() : Cell(json)};
  put(TableId::event, cells);
}

void TraceTables::on_slice(const Slice &slice) {
  const Cell cells[] = {slice.thread,
                        cpu_number(slice.cpu),
                        name_of(kStateNames, uint32_t(slice.state)),
                        since_start(slice.start),
                        since_start(slice.end),
                        value_name(kReasonNames, slice.reason),
                        text(call_name(catalog_, slice.thread, slice.call)),
                        tid_of(slice.next),
                        waker_of(slice)};
  put(TableId::slice, cells);
  if (!slice.is_woken())
    return;
  const Cell wakeup[] = {since_start(slice.start), waker_of(slice),
                         catalog_.threads[slice.thread].tid,
                         value_name(kWakerContextNames, slice.context)};
  put(TableId::wakeup, wakeup);
}

TableRows put_tables(EventSource &source, const Cut &cut, TableSink &sink) {
  check_cut(cut, source.catalog());
  TraceTables tables(source.catalog(), cut, sink);
  tables.put_names();
  replay_slices(source, cut, tables);
  return tables.rows();
}

} // namespace ovnitrace
