// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/report/write_report.h"

#include "emulator/base/error.h"
#include "emulator/core/program_threads.h"
#include "emulator/critical/path_text.h"
#include "emulator/report/against.h"
#include "emulator/report/page.h"
#include "emulator/report/page_header.h"
#include "emulator/report/slice_packer.h"
#include "emulator/report/varint.h"
#include "emulator/report/why_part.h"
#include "emulator/slices/slicer.h"
#include "emulator/summary/summarizer.h"
#include "emulator/why/answered_summary.h"
#include "emulator/why/explainer.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>

namespace ovnitrace {

namespace {

/// Columns are at most so many times larger than the page that they become. No more is kept.
constexpr uint64_t kRatio = 4;
constexpr int kMostPasses = 8;
constexpr uint64_t kMixedBytes = 24; ///< of a mixed slice in all columns, about
constexpr uint64_t kPathPart = 8;    ///< of the page that the critical path may take
constexpr uint64_t kWhyPart = 8;     ///< of the page that causes for every range may take

/// Passes one stream to two sinks.
class Tee final : public SliceSink {
public:
  Tee(SliceSink &a, SliceSink &b) : a_(a), b_(b) {}
  void on_event(const Event &event, const System &system) override {
    a_.on_event(event, system);
    b_.on_event(event, system);
  }
  void on_slice(const Slice &slice) override {
    a_.on_slice(slice);
    b_.on_slice(slice);
  }
  void on_cpu(const CpuSpan &span) override {
    a_.on_cpu(span);
    b_.on_cpu(span);
  }

private:
  SliceSink &a_, &b_;
};

/// Returns for each segment of a path its length in ns, thread and cause (indices), as varints.
/// Returns nothing if that takes more than `most_bytes`.
std::optional<std::string> pack_path(CriticalPath &path, uint64_t most_bytes) {
  std::string bytes;
  path.for_each([&](const PathSegment &segment) {
    if (bytes.size() > most_bytes)
      return;
    put_varint(bytes, segment.length());
    put_varint(bytes, segment.thread);
    put_varint(bytes, uint64_t(segment.cause));
  });
  if (bytes.size() > most_bytes)
    return {};
  return bytes;
}

/// Returns whose path it is, its start and end (ns from the start of the trace).
nlohmann::ordered_json path_header(const CriticalPath &path, const Catalog &catalog) {
  return {{"thread", path.thread},
          {"from", path.from - catalog.begin},
          {"to", path.to - catalog.begin},
          {"segments", path.segments.count()}};
}

nlohmann::ordered_json cause_names() {
  nlohmann::ordered_json causes = nlohmann::ordered_json::array();
  for (uint32_t cause = 0; cause < kCauses; cause++)
    causes.push_back(cause_label(Cause(cause)));
  return causes;
}

/// Joins a column of all threads, and frees it there.
PagePart column(const char *name, PackedTrace &trace, std::string PackedThread::*member) {
  PagePart part{name, {}};
  for (PackedThread &thread : trace.threads) {
    part.second += thread.*member;
    std::string().swap(thread.*member);
  }
  return part;
}

std::string load_bytes(const PackedTrace &trace) {
  std::string bytes;
  for (const std::vector<uint64_t> &steps : trace.load)
    for (uint64_t ns : steps)
      put_varint(bytes, ns);
  return bytes;
}

/// The path as a part of the page, and its header.
struct PathPart {
  nlohmann::ordered_json header;
  std::string bytes;
};

/// What is the same in each pass.
struct Found {
  Explanation why; ///< of the cut
  nlohmann::ordered_json waits, causes, against;
  std::string cause_bytes;
  PathPart path;
};

/// Packs the paths that fit. Returns whether at least the first one does.
bool find_paths(PathPart &part, const WriteReportOptions &options, const Catalog &catalog) {
  const uint64_t most = options.most_bytes / kPathPart;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (CriticalPath &path : options.paths) {
    const std::optional<std::string> bytes = pack_path(path, most - part.bytes.size());
    if (!bytes)
      break;
    part.bytes += *bytes;
    list.push_back(path_header(path, catalog));
  }
  if (list.empty())
    return false;
  part.header = {{"paths", std::move(list)}, {"causes", cause_names()}};
  return true;
}

void find_whys(Found &found, const TraceInfo &info, EventSource &source,
               const WriteReportOptions &options) {
  const Catalog &catalog = source.catalog();
  check_cut(options.cut, catalog);
  Explainer explainer(catalog, options.cut, started_threads(catalog), options.stacks);
  WhyPart part(catalog, info, options.cut, explainer, options.most_bytes / kWhyPart * kRatio);
  Cut whole; // who ran while a thread waited need not be of the cut
  whole.to = options.cut.to;
  const SliceView views[] = {{whole, explainer}, {options.cut, part}};
  replay_slices(source, views);
  found.why = explainer.finish();
  found.waits = waits_header(catalog, found.why);
  found.causes = part.header(found.why.priorities.throttled_real_time > 0);
  found.cause_bytes = part.bytes();
}

std::string deflate_trace(const ReportInput &input, PackedTrace trace, const Found &found) {
  const PathPart &path = found.path;
  nlohmann::ordered_json header = page_header(input, trace);
  header["waits"] = found.waits;
  header["why"] = found.causes;
  if (!found.against.is_null())
    header["against"] = found.against;
  if (!path.header.is_null())
    header["critical_path"] = path.header;
  std::vector<PagePart> parts;
  parts.emplace_back("summary", json_report(input, {.one_line = true}));
  parts.emplace_back("load", load_bytes(trace));
  parts.push_back(column("kind", trace, &PackedThread::kind));
  parts.push_back(column("length", trace, &PackedThread::length));
  parts.push_back(column("cpu", trace, &PackedThread::cpu));
  parts.push_back(column("why", trace, &PackedThread::why));
  parts.push_back(column("peer", trace, &PackedThread::peer));
  parts.push_back(column("mix", trace, &PackedThread::mix));
  parts.emplace_back("order", std::move(trace.order));
  parts.emplace_back("events", std::move(trace.events));
  parts.emplace_back("dark", std::move(trace.dark));
  parts.emplace_back("critical_path", path.bytes);
  parts.emplace_back("causes", found.cause_bytes);
  return deflate_parts(std::move(header), parts);
}

uint64_t slices_of(const ThreadSummary &thread) {
  return 2 * thread.switches() + thread.wakeups + 1;
}

uint64_t waited(const ThreadSummary &thread) {
  return thread.time[size_t(ThreadState::Cooling)] + thread.time[size_t(ThreadState::Warming)];
}

/// Plans full detail for the threads that waited longest, up to `share` of all slices. Detail of
/// the others is limited to a quarter of the page.
PackPlan coarser(const Summary &summary, double share, uint64_t most_bytes) {
  std::vector<uint32_t> threads(summary.threads.size());
  std::iota(threads.begin(), threads.end(), 0);
  std::stable_sort(threads.begin(), threads.end(), [&](uint32_t a, uint32_t b) {
    return waited(summary.threads[a]) > waited(summary.threads[b]);
  });
  uint64_t all = 0;
  for (const ThreadSummary &thread : summary.threads)
    all += slices_of(thread);
  auto left = uint64_t(double(all) * share);
  PackPlan plan;
  plan.coarse.resize(threads.size());
  uint64_t coarse = 0;
  for (uint32_t thread : threads) {
    const uint64_t slices = slices_of(summary.threads[thread]);
    plan.coarse[thread] = slices > left;
    coarse += slices > left;
    left -= slices > left ? 0 : slices;
  }
  const uint64_t steps = most_bytes / 4 / kMixedBytes / std::max<uint64_t>(coarse, 1);
  plan.grain = (summary.to - summary.from) / std::clamp<uint64_t>(steps, 8, 20000) + 1;
  plan.most_bytes = most_bytes * kRatio;
  return plan;
}

struct Pass {
  std::string deflated;
  Summary summary;
  WriteReportResult result;
  bool fits = false;
};

Pass pass_over(const std::string &path, const TraceInfo &info, EventSource &source,
               const WriteReportOptions &options, PackPlan plan, const Found &found) {
  check_cut(options.cut, source.catalog());
  Summarizer summarizer(source.catalog(), options.cut);
  SlicePacker packer(source.catalog(), options.cut, std::move(plan), options.stacks);
  Tee both(summarizer, packer);
  replay_slices(source, options.cut, both);
  Pass pass;
  pass.summary = summarizer.finish();
  add_explained(pass.summary, found.why);
  if (packer.overflown())
    return pass;
  PackedTrace trace = packer.finish();
  pass.result.slices = trace.slices;
  pass.result.events = pass.summary.events;
  pass.result.threads =
      uint64_t(std::count(pass.summary.shown.begin(), pass.summary.shown.end(), uint8_t(1)));
  pass.result.coarse_threads = trace.coarse_threads;
  pass.result.grain = trace.grain;
  pass.deflated = deflate_trace({path, info, source.catalog(), pass.summary, options.answer},
                                std::move(trace), found);
  pass.result.bytes = page_bytes(pass.deflated.size());
  pass.fits = pass.result.bytes <= options.most_bytes;
  return pass;
}

} // namespace

WriteReportResult write_report(const std::string &path, const TraceInfo &info,
                               const std::function<std::unique_ptr<EventSource>()> &open,
                               const WriteReportOptions &options) {
  Found found;
  {
    const std::unique_ptr<EventSource> source = open();
    find_whys(found, info, *source, options);
    if (options.against)
      found.against = against_header(*options.against, source->catalog());
  }
  bool path_left_out = false;
  if (!options.paths.empty())
    path_left_out = !find_paths(found.path, options, open()->catalog());
  PackPlan plan;
  plan.most_bytes = options.most_bytes * kRatio;
  double share = 1;
  Pass pass;
  for (int n = 0; n < kMostPasses && !pass.fits; n++) {
    pass = pass_over(path, info, *open(), options, std::move(plan), found);
    const uint64_t bytes = pass.result.bytes;
    share *= bytes ? std::min(0.75, 0.8 * double(options.most_bytes) / double(bytes)) : 0.25;
    plan = coarser(pass.summary, n + 2 < kMostPasses ? share : 0, options.most_bytes);
  }
  if (!pass.fits)
    throw Error("the report of {} does not fit into {} bytes, even without detail: give a larger "
                "--max-size, or a part of the trace with --from, --to, --pid or --comm",
                path, options.most_bytes);
  pass.result.path_left_out = path_left_out;
  AtomicFile file(options.place);
  write_page(file, pass.deflated);
  file.commit();
  return pass.result;
}

} // namespace ovnitrace
