// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/times_table.h"

#include "emulator/base/human.h"
#include "emulator/summary/groups.h"
#include "emulator/summary/names.h"
#include "emulator/summary/table.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace ovnitrace {

namespace {

constexpr size_t kUsualLines = 10;

constexpr struct {
  const char *word;
  uint64_t (*value)(const ThreadTime &);
} kSorts[] = {
    {"waiting", [](const ThreadTime &time) { return time.waiting; }},
    {"running", [](const ThreadTime &time) { return time.running; }},
    {"blocked", [](const ThreadTime &time) { return time.blocked; }},
    {"unknown", [](const ThreadTime &time) { return time.unknown; }},
    {"life", [](const ThreadTime &time) { return time.life(); }},
    {"latency", [](const ThreadTime &time) { return time.latency_share; }},
};

constexpr const char *kHeads[] = {"THREAD", "PROCESS", "NAME"}; // by WhyBy

struct Line {
  std::string name;
  size_t threads = 0;
  ThreadTime time = {};
};

using Key = std::tuple<uint32_t, uint32_t, std::string>; ///< host, number, name

std::vector<Line> lines_of(const WhyInput &input, WhyBy by) {
  const std::vector<uint32_t> mains = main_threads(input.catalog);
  std::map<Key, size_t> places;
  std::vector<Line> lines;
  for (uint32_t t = 0; t < input.why.threads.size(); t++) {
    if (!input.why.shown[t])
      continue;
    const ThreadInfo &thread = input.catalog.threads[t];
    const Key key = by == WhyBy::thread    ? Key(0, t, "")
                    : by == WhyBy::process ? Key(0, mains[t], "")
                                           : Key(0, 0, thread.name);
    const auto [at, is_new] = places.try_emplace(key, lines.size());
    if (is_new)
      lines.push_back({by == WhyBy::thread ? thread_label(thread)
                       : by == WhyBy::process
                           ? name_and_number(short_name(process_name(
                                                 input.catalog, input.catalog.threads[mains[t]])),
                                             "process", thread.pid)
                       : thread.name.empty() ? "without a name"
                                             : short_name(thread.name)});
    lines[at->second].time.add(input.why.threads[t]);
    lines[at->second].threads++;
  }
  return lines;
}

} // namespace

std::vector<std::string> why_sort_words() {
  std::vector<std::string> words;
  for (const auto &sort : kSorts)
    words.push_back(sort.word);
  return words;
}

std::string times_table(const WhyInput &input, const WhyOptions &options) {
  const bool grouped = options.by != WhyBy::thread;
  std::vector<Line> lines = lines_of(input, options.by);
  const auto sort = std::find_if(std::begin(kSorts), std::end(kSorts),
                                 [&](const auto &known) { return options.sort == known.word; });
  if (sort != std::end(kSorts))
    std::stable_sort(lines.begin(), lines.end(), [&](const Line &a, const Line &b) {
      return sort->value(a.time) > sort->value(b.time);
    });
  Table::Row head{kHeads[size_t(options.by)]};
  if (grouped)
    head.push_back("THREADS");
  const bool latency = options.sort == "latency";
  if (latency)
    head.insert(head.end(), {"LATENCY\nSHARE", "%"});
  head.insert(head.end(), {"RUNNING", "%", "WAITING", "%", "BLOCKED", "%", "NOT KNOWN"});
  Table table(std::move(head));
  const auto put = [&](const Line &line) {
    const ThreadTime &time = line.time;
    Table::Row row{line.name};
    if (grouped)
      row.push_back(human_count(line.threads));
    if (latency)
      row.insert(row.end(), {human_duration(time.latency_share),
                             human_percent(time.latency_share, input.why.covered)});
    row.insert(row.end(), {human_duration(time.running), human_percent(time.running, time.life()),
                           human_duration(time.waiting), human_percent(time.waiting, time.life()),
                           human_duration(time.blocked), human_percent(time.blocked, time.life()),
                           human_duration(time.unknown)});
    table.add(std::move(row));
  };
  const size_t top = options.top.value_or(kUsualLines);
  const size_t most = top && lines.size() > top + 1 ? top : lines.size(); // one more is no longer
  Line rest;
  for (size_t n = 0; n < lines.size(); n++) {
    if (n < most) {
      put(lines[n]);
      continue;
    }
    rest.time.add(lines[n].time);
    rest.threads += lines[n].threads;
  }
  if (most < lines.size()) {
    rest.name = human_count(lines.size() - most) + " others";
    put(rest);
  }
  return table.text(options.columns);
}

} // namespace ovnitrace
