// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/top/top_part.h"

#include "emulator/input/merge.h"
#include "emulator/input/stacks.h"
#include "emulator/input/trace_dir.h"
#include "emulator/open/open_trace.h"
#include "emulator/why/explainer.h"
#include "emulator/why/why_report.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ovnitrace {

namespace {

/// Returns a time of the clock as a time of the trace: cuts count from its start.
uint64_t since_start(const Catalog &catalog, uint64_t time) {
  return time - std::min(time, catalog.begin);
}

/// Collects the waits after a wakeup that end in an interval. A summary has only those that also
/// start in it, and would miss the longest ones.
class EndedWaits final : public SliceSink {
public:
  EndedWaits(size_t threads, TimeRange range) : latencies_(threads), range_(range) {}

  void on_slice(const Slice &slice) override {
    if (slice.is_latency() && slice.end >= range_.from)
      latencies_[slice.thread].add(slice.length());
  }
  void move_to(Summary &summary) {
    for (size_t t = 0; t < latencies_.size(); t++)
      summary.threads[t].latency = std::move(latencies_[t]);
  }

private:
  std::vector<LatencyHistogram> latencies_; ///< by thread, ns
  TimeRange range_;
};

/// Opens a part of the capture. It has no file while no recorded thread has done anything.
std::unique_ptr<EventSource> open_part(const std::string &directory, const TraceInfo &info,
                                       DiagnosticSink &sink) {
  if (!open_chunks(directory).empty())
    return open_trace({{directory}}, sink);
  std::vector<HostInput> hosts;
  hosts.push_back({.name = info.host, .path = directory, .info = info, .chunks = {}});
  return std::make_unique<MergedTrace>(std::move(hosts), sink);
}

} // namespace

TopPart read_top_part(const std::string &directory, uint64_t from, uint64_t to,
                      DiagnosticSink &sink) {
  NoDiagnostics reported_already;
  TraceInfo info = read_trace_info(directory, reported_already);
  std::unique_ptr<EventSource> source = open_part(directory, info, sink);
  Cut cut;
  cut.from = since_start(source->catalog(), from);
  cut.to = since_start(source->catalog(), to);
  EndedWaits waits(source->catalog().threads.size(), {from, to});
  AnsweredSummary sums = summarize_and_answer(*source, info, cut, &waits);
  waits.move_to(sums.summary);
  return {directory, std::move(info), std::move(source), std::move(sums)};
}

std::string explain_thread(const TopPart &part, uint32_t tid, size_t columns) {
  NoDiagnostics reported_already;
  const std::unique_ptr<EventSource> source = open_trace({{part.place}}, reported_already);
  const Catalog &catalog = source->catalog();
  Cut cut;
  cut.from = since_start(catalog, part.sums.summary.from);
  cut.to = since_start(catalog, part.sums.summary.to);
  cut.tids = {tid};
  const Stacks stacks(catalog, reported_already);
  const Explanation why = explain(*source, cut, {}, &stacks);
  return why_text({part.place, part.info, catalog, stacks, why}, {.columns = columns});
}

} // namespace ovnitrace
