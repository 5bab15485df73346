// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/ovni_export/export_trace.h"

#include "emulator/base/error.h"
#include "emulator/core/replay.h"
#include "emulator/models/registry.h"

#include <algorithm>

namespace ovnitrace::ovni {

namespace {

/// Passes the states of threads from a replay to the exporter.
class Export final : public ReplayPart, public StateObserver {
public:
  /// Borrows all.
  Export(Replay &replay, Exporter &exporter)
      : replay_(replay), exporter_(exporter), now_(replay.system().catalog().begin) {
    replay.system().observe(this);
  }

  bool before(const Event &event) {
    now_ = std::max(now_, event.time);
    return true;
  }
  void after(const Event &) { replay_.skip(); } // no channel is written
  void on_change(uint32_t thread, const StateChange &change) override {
    exporter_.change(now_, thread, change.to, change.cpu);
  }
  void on_born(uint32_t) override { exporter_.add_thread(); }

private:
  Replay &replay_;
  Exporter &exporter_;
  uint64_t now_; ///< ns: what leads to the states at the start counts as of the start
};

} // namespace

ExportResult export_trace(EventSource &source, const std::string &directory, DiagnosticSink &sink,
                          uint64_t faults_reported) {
  StreamStore store(directory);
  Exporter exporter(source.catalog(), store);
  Replay replay(source.catalog(), state_models(), {}, sink, faults_reported);
  Export part(replay, exporter);
  ReadAhead reader(source);
  replay.play(reader, part);
  exporter.finish();
  if (!exporter.streams())
    throw Error(
        "no thread of the trace has a state that an ovni trace could show: nothing to export");
  store.finish();
  replay.faults().report_unseen();
  return {exporter.counts(), exporter.streams(), replay.faults().count()};
}

} // namespace ovnitrace::ovni
