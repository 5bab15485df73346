// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/ovni_export/export_trace.h"

#include "emulator/base/error.h"
#include "emulator/core/replay.h"
#include "emulator/input/read_ahead.h"
#include "emulator/models/registry.h"

#include <vector>

namespace ovnitrace::ovni {

namespace {

/// Notes which rows were emitted at all; the System has their values.
class ChangedRows final : public RowSink {
public:
  void line(uint64_t, uint32_t row, uint32_t, std::span<const TypedValue>) override { add(row); }
  void punctual(uint64_t, uint32_t row, const TypedValue &) override { add(row); }
  void arrow(uint64_t, uint32_t, uint32_t, uint64_t, uint32_t) override {}
  std::vector<uint32_t> rows;

private:
  void add(uint32_t row) {
    if (rows.empty() || rows.back() != row)
      rows.push_back(row);
  }
};

/// Passes the states after an instant from the replay to the exporter.
void settle(uint64_t time, Replay &replay, Exporter &exporter, ChangedRows &threads) {
  ChangedRows cpus;
  replay.emit(time, threads, cpus);
  for (const uint32_t row : threads.rows) {
    const Thread &thread = replay.system().threads()[row];
    exporter.change(time, row, thread.state, thread.cpu);
  }
  threads.rows.clear();
}

} // namespace

ExportResult export_trace(EventSource &source, const std::string &directory, DiagnosticSink &sink,
                          uint64_t faults_reported, const Progress &progress) {
  StreamStore store(directory);
  Exporter exporter(source.catalog(), store);
  std::vector<Model> models;
  models.push_back(ovni_model());
  Replay replay(source.catalog(), std::move(models), {}, sink, faults_reported);

  ChangedRows threads;
  uint64_t time = source.catalog().begin;
  uint64_t events = 0;
  ReadAhead reader(source);
  for (std::span<const Event> batch = reader.next(); !batch.empty(); batch = reader.next()) {
    for (const Event &event : batch) {
      if (event.time > time) {
        settle(time, replay, exporter, threads);
        time = event.time;
      }
      replay.handle(event);
    }
    if (events += batch.size(); progress)
      progress(time, events);
  }
  settle(time, replay, exporter, threads);
  exporter.finish();
  if (!exporter.streams())
    throw Error("no thread of the trace has a state that an ovni trace could show: nothing to "
                "export");
  store.finish();
  replay.faults().report_unseen();
  return {exporter.counts(), exporter.streams(), replay.faults().count()};
}

} // namespace ovnitrace::ovni
