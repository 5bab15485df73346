// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/slowest.h"

#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "emulator/base/short_line.h"
#include "emulator/critical/path.h"
#include "emulator/summary/names.h"
#include "emulator/why/explainer.h"
#include "emulator/why/path_report.h"
#include "emulator/why/time_tree.h"
#include "emulator/why/why_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace ovnitrace {

namespace {

constexpr size_t kMostParts = 3, kMostLines = 5; // of a tree, of a path

/// A section with its explanation.
struct Explained {
  const SlowestInput &input;
  const LongSection &section;
  const Catalog &catalog;
  const Stacks &stacks;
  const Explanation &why;
  CriticalPath &path;
};

/// Calls `take(n, explained)` for each section, n from 1.
template <class Take> void explain_each(const SlowestInput &input, Take take) {
  std::vector<LongSection> sections =
      longest_sections(*input.open(), input.cut, input.number, input.most);
  if (sections.empty())
    throw Error("no section {} starts and ends in this part of the trace", input.number);
  for (size_t n = 0; n < sections.size(); n++) {
    const std::unique_ptr<EventSource> source = input.open();
    const Catalog &catalog = source->catalog();
    Cut cut;
    cut.from = sections[n].from - catalog.begin;
    cut.to = sections[n].to - catalog.begin;
    cut.tids = {catalog.threads[sections[n].thread].tid};
    NoDiagnostics silent;
    const Stacks stacks(catalog, silent);
    const Explanation why = explain(*source, cut, {}, &stacks);
    PathQuery query;
    query.thread = sections[n].thread;
    CriticalPath path = critical_path(*input.open(), input.info, cut, query);
    take(n + 1, Explained{input, sections[n], catalog, stacks, why, path});
  }
}

} // namespace

std::vector<LongSection> longest_sections(EventSource &source, const Cut &cut, uint32_t number,
                                          size_t most) {
  LongSections sections(number, most, kept_threads(cut, source.catalog()));
  Cut times;
  times.from = cut.from;
  times.to = cut.to;
  check_cut(cut, source.catalog());
  replay_slices(source, times, sections);
  return sections.found();
}

std::string slowest_text(const SlowestInput &input) {
  std::string text;
  explain_each(input, [&](size_t n, const Explained &of) {
    const WhyInput why = {input.path, input.info, of.catalog, of.stacks, of.why};
    const std::string head = fmt::format(
        "{}. Section {} of {}: {}, from {:.6f} s of the trace on", n, input.number,
        thread_label(of.catalog.threads[of.section.thread]), human_duration(of.section.length()),
        double(of.section.from - of.catalog.begin) / 1e9);
    text += (n > 1 ? "\n" : "") + wrapped(head, input.columns) + "\n\n";
    text += tree_text(time_tree(why), kMostParts, input.columns) + '\n';
    text += path_text(of.path, of.catalog, kMostLines, false, input.columns);
  });
  return text;
}

nlohmann::ordered_json slowest_json(const SlowestInput &input) {
  using Json = nlohmann::ordered_json;
  Json all = Json::array();
  explain_each(input, [&](size_t, const Explained &of) {
    const ThreadInfo &thread = of.catalog.threads[of.section.thread];
    const ThreadTime &time = of.why.threads[of.section.thread];
    Json one = {{"tid", thread.tid},
                {"name", thread.name},
                {"from_ns", of.section.from - of.catalog.begin},
                {"to_ns", of.section.to - of.catalog.begin},
                {"running_ns", time.running},
                {"waiting_ns", time.waiting},
                {"blocked_ns", time.blocked},
                {"unknown_ns", time.unknown}};
    add_path_json(one, of.path, of.catalog);
    all.push_back(std::move(one));
  });
  return {{"section", input.number}, {"slowest", std::move(all)}};
}

} // namespace ovnitrace
