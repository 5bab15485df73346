// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/path_report.h"

#include "emulator/base/human.h"
#include "emulator/base/short_line.h"
#include "emulator/critical/path_sums.h"
#include "emulator/critical/path_text.h"
#include "emulator/summary/report.h"
#include "emulator/summary/table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ovnitrace {

namespace {

constexpr size_t kThread = 24, kCause = 36; // characters

/// What else is known of a cause: in which call, and who held the CPU.
std::string details(const PathSegment &like, const Catalog &catalog, std::string_view machine) {
  if (like.cause == Cause::waiting)
    return like.peer.thread == kNone ? std::string()
                                     : ": " + thread_label(catalog.threads[like.peer.thread]);
  const std::string_view call = call_text(like, machine);
  return call.empty() || like.cause == Cause::blocked ? std::string()
                                                      : fmt::format(", in {}", call);
}

} // namespace

std::string path_text(CriticalPath &path, const Catalog &catalog, std::string_view machine,
                      size_t top) {
  const uint64_t length = path.to - path.from;
  const std::vector<PathSum> sums = sum_up(path);
  std::string text = fmt::format("Critical path of {}: {} until {} from the start of the trace\n\n",
                                 thread_label(catalog.threads[path.thread]), human_duration(length),
                                 human_duration(path.to - catalog.begin));
  Table table({"THREAD", "CAUSE", "TIME", "SHARE", "TIMES"}, 2);
  PathSum rest;
  for (size_t n = 0; n < sums.size(); n++) {
    const PathSum &sum = sums[n];
    if (top && n >= top && sums.size() > top + 1) {
      rest.ns += sum.ns;
      rest.count += sum.count;
      continue;
    }
    const std::string cause =
        cause_text(sum.like, catalog, machine) + details(sum.like, catalog, machine);
    table.add({short_line(thread_label(catalog.threads[sum.like.thread]), kThread),
               short_line(cause, kCause), human_duration(sum.ns), human_percent(sum.ns, length),
               human_count(sum.count)});
  }
  if (rest.count)
    table.add({"the rest", "", human_duration(rest.ns), human_percent(rest.ns, length),
               human_count(rest.count)});
  return text + table.text();
}

void add_path_json(nlohmann::ordered_json &json, CriticalPath &path, const Catalog &catalog,
                   std::string_view machine) {
  using Json = nlohmann::ordered_json;
  Json rows = Json::array();
  for (const PathSum &sum : sum_up(path)) {
    const PathSegment &like = sum.like;
    Json row = {{"tid", catalog.threads[like.thread].tid},
                {"name", catalog.threads[like.thread].name},
                {"cause", cause_text(like, catalog, machine)},
                {"ns", sum.ns},
                {"count", sum.count}};
    if (const std::string_view call = call_text(like, machine); !call.empty())
      row["call"] = call;
    if (like.cause == Cause::waiting && like.peer.thread != kNone) {
      row["holder_tid"] = catalog.threads[like.peer.thread].tid;
      row["holder"] = catalog.threads[like.peer.thread].name;
    }
    rows.push_back(std::move(row));
  }
  json["critical_path_of"] = {{"tid", catalog.threads[path.thread].tid},
                              {"name", catalog.threads[path.thread].name},
                              {"from_ns", path.from - catalog.begin},
                              {"to_ns", path.to - catalog.begin}};
  json["critical_path"] = std::move(rows);
}

} // namespace ovnitrace
