// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/compare_report.h"

#include "emulator/base/error.h"
#include "emulator/cli/measure_runs.h"
#include "emulator/cli/run.h"
#include "emulator/cli/trace_inputs.h"
#include "emulator/cli/trace_time.h"
#include "emulator/input/merge.h"
#include "emulator/input/trace_dir.h"

namespace ovnitrace {

namespace {

HostInput host(const char *name, const std::string &trace, int64_t shift, DiagnosticSink &sink) {
  HostInput input = open_trace_dir(trace, read_trace_info(trace, sink), shift);
  input.name = name;
  input.info.boot_id.clear(); // two runs side by side: each has CPUs of its own
  return input;
}

/// Returns when a mark was, ns on the clock of the trace.
uint64_t time_of(const std::string &mark, const std::string &trace) {
  NoDiagnostics reported_when_measured;
  const std::unique_ptr<EventSource> source = open_trace({{trace}}, reported_when_measured);
  return mark_time(source->catalog(), mark, trace);
}

} // namespace

Against compare_with(const std::string &trace, const AgainstArguments &against,
                     const RunQuery &query, DiagnosticSink &sink) {
  for (const std::string &path : {trace, against.trace})
    if (!is_trace_dir(path))
      throw UsageError("--against compares two trace directories, but " + path + " is not one");
  Against result;
  result.runs = measure_runs({{trace}, {against.trace}, {}}, query, sink);
  result.comparison = compare(result.runs);
  const RunTimes &a = result.runs.a.front(), &b = result.runs.b.front();
  result.shift = against.mark.empty() ? int64_t(a.from) - int64_t(b.from)
                                      : int64_t(time_of(against.mark, trace)) -
                                            int64_t(time_of(against.mark, against.trace));
  return result;
}

std::function<std::unique_ptr<EventSource>()> pair_reopener(const std::string &trace,
                                                            const std::string &against,
                                                            int64_t shift, DiagnosticSink &sink) {
  return reopener(
      [=](DiagnosticSink &faults) -> std::unique_ptr<EventSource> {
        std::vector<HostInput> hosts;
        hosts.push_back(host("A", trace, 0, faults));
        hosts.push_back(host("B", against, shift, faults));
        return std::make_unique<MergedTrace>(std::move(hosts), faults);
      },
      sink);
}

} // namespace ovnitrace
