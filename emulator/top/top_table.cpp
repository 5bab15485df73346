// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/top/top_table.h"

#include "emulator/base/clock.h"
#include "emulator/base/human.h"
#include "emulator/base/short_line.h"
#include "emulator/input/call_name.h"
#include "emulator/input/chosen_cpus.h"
#include "emulator/summary/groups.h"
#include "emulator/summary/names.h"
#include "emulator/summary/table.h"
#include "emulator/why/cause_names.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ovnitrace {

namespace {

constexpr size_t kWide = 110;        // columns: from there on there is room for the rarer ones
constexpr size_t kMostCpuShares = 8; // more CPUs are only counted

/// Returns the share of an interval, with one digit: "12.3".
std::string share(uint64_t ns, uint64_t length) {
  return length ? fmt::format("{:.1f}", 100 * double(ns) / double(length)) : "-";
}

std::string per_second(uint64_t count, uint64_t length) {
  return length ? human_count(uint64_t(std::llround(double(count) * 1e9 / double(length)))) : "-";
}

/// What a line shows beside the name.
struct Line {
  std::string label;
  uint32_t tid = 0; ///< 0: a group
  std::string blocked_in;
  const ThreadSummary *sum = nullptr;
};

/// Returns, for each thread, the call in which it was blocked longest, empty if it was not blocked.
std::vector<std::string> longest_blocks(const TopPart &part) {
  const Catalog &catalog = part.catalog();
  std::vector<std::string> calls(catalog.threads.size());
  std::vector<uint64_t> longest(catalog.threads.size());
  for (const BlockSum &sum : part.sums.why.blocks)
    if (sum.ns > longest[sum.thread]) {
      longest[sum.thread] = sum.ns;
      calls[sum.thread] = block_name(part.info.machine, sum.block);
    }
  return calls;
}

class Columns {
public:
  Columns(const TopView &view, uint64_t length, bool any_throttled)
      : wide_(view.columns >= kWide), throttled_(any_throttled), length_(length),
        left_(wide_ && view.by == TopBy::thread ? 2 : 1) {}

  Table table(TopBy by) const {
    Table::Row head = {by == TopBy::thread ? "THREAD" : by == TopBy::process ? "PROCESS" : "NAME"};
    if (left_ == 2)
      head.push_back("BLOCKED IN");
    for (const char *name : {"RUN %", "PREEMPT", "WOKEN", "BLOCK"})
      head.push_back(name);
    if (throttled_)
      head.push_back("THROTTLE");
    head.push_back("SW/s");
    if (wide_)
      head.push_back("p50");
    head.push_back("p99");
    head.push_back("MAX");
    return Table(std::move(head), left_);
  }

  Table::Row row(const Line &line) const {
    const ThreadSummary &sum = *line.sum;
    const auto time = [&](ThreadState state) { return sum.time[size_t(state)]; };
    Table::Row row = {line.label};
    if (left_ == 2)
      row.push_back(line.blocked_in);
    for (const uint64_t ns : {sum.running(), sum.preempted_time(), time(ThreadState::Warming),
                              time(ThreadState::Paused)})
      row.push_back(share(ns, length_));
    if (throttled_)
      row.push_back(share(sum.throttled_time(), length_));
    row.push_back(per_second(sum.switches(), length_));
    const auto latency = [&](uint64_t ns) {
      return sum.latency.count() ? human_duration(ns) : std::string("-");
    };
    if (wide_)
      row.push_back(latency(sum.latency.percentile(50)));
    row.push_back(latency(sum.latency.percentile(99)));
    row.push_back(latency(sum.latency.max()));
    return row;
  }

private:
  bool wide_, throttled_;
  uint64_t length_;
  size_t left_;
};

/// Returns "2 CPUs 67 % busy (98, 36)", with the share of each one unless there are many. If other
/// threads ran, too, without being recorded: "used 67 % of 2 CPUs (98, 36)". A CPU that was not
/// recorded has "-", and does not count.
std::string cpus_text(const TopPart &part) {
  const Summary &summary = part.sums.summary;
  const uint64_t length = part.length();
  uint64_t busy = 0;
  size_t count = 0;
  std::string each;
  for (size_t n = 0; n < summary.cpus.size(); n++) {
    const bool recorded = records_cpu(part.info, part.catalog().cpus[n].index);
    busy += recorded ? summary.cpus[n].busy : 0;
    count += recorded;
    const double percent = length ? 100 * double(summary.cpus[n].busy) / double(length) : 0;
    each += (each.empty() ? "" : ", ") + (recorded ? fmt::format("{:.0f}", percent) : "-");
  }
  const std::string cpus = human_count(count, "CPU", "CPUs");
  const double percent = length && count ? 100 * double(busy) / double(length * count) : 0;
  const size_t all = summary.cpus.size();
  return (part.info.all_threads ? fmt::format("{} {:.0f} % busy", cpus, percent)
                                : fmt::format("used {:.0f} % of {}", percent, cpus)) +
         (all > 1 && all <= kMostCpuShares ? " (" + each + ")" : "");
}

std::vector<std::string> head_lines(const TopPart &part) {
  const Summary &summary = part.sums.summary;
  const uint64_t length = part.length();
  uint64_t switches = 0, waited = 0, idle_known = 0, idle = 0, threads = 0;
  for (size_t t = 0; t < summary.threads.size(); t++) {
    if (!summary.shown[t])
      continue;
    threads++;
    switches += summary.threads[t].switches();
    waited += part.sums.why.threads[t].waiting;
    idle_known += part.sums.why.threads[t].idle_known;
    const IdleTimes &times = part.sums.why.threads[t].idle;
    idle += times.total() - times[IdleCause::affinity];
  }
  return {fmt::format("{}   {}   {} switches/s   {}", human_count(threads, "thread", "threads"),
                      cpus_text(part), per_second(switches, length),
                      "events lost: " +
                          lost_text(summary.lost, summary.lost_more, human_count(summary.lost))),
          waited && !idle_known
              ? fmt::format("waited {} for a CPU; whether a CPU was idle meanwhile is not known",
                            human_duration(waited))
              : fmt::format(
                    "waited {} for a CPU, {} of it while a CPU was idle that the thread may use",
                    human_duration(waited), human_duration(idle))};
}

const char *word_of(TopBy by) {
  return by == TopBy::thread ? "thread" : by == TopBy::process ? "process" : "name";
}

} // namespace

std::string top_title(const TopView &view, time_t time, uint64_t interval, bool frozen) {
  return fmt::format("top  {:%H:%M:%S}{}  every {}  by {}  sorted by {}{}{}", local_time(time),
                     frozen ? " FROZEN" : "", human_duration(interval), word_of(view.by), view.sort,
                     view.filter.empty() ? "" : "  names: ", view.filter);
}

void apply_filter(Summary &summary, const Catalog &catalog, const std::string &filter) {
  for (size_t t = 0; t < summary.threads.size(); t++)
    summary.shown[t] =
        summary.threads[t].alive() > 0 && catalog.threads[t].name.find(filter) != std::string::npos;
}

TopTable top_table(TopPart &part, const TopView &view) {
  Summary &summary = part.sums.summary;
  const Catalog &catalog = part.catalog();
  apply_filter(summary, catalog, view.filter);
  std::vector<Line> lines;
  std::vector<ThreadGroup> groups;
  if (view.by == TopBy::thread) {
    const std::vector<std::string> blocks = longest_blocks(part);
    for (const uint32_t t : sorted_threads(summary, view.sort))
      lines.push_back({thread_label(catalog.threads[t]), catalog.threads[t].tid, blocks[t],
                       &summary.threads[t]});
  } else {
    groups = view.by == TopBy::process ? by_process(catalog, summary, view.sort)
                                       : by_name(catalog, summary, view.sort);
    for (const ThreadGroup &group : groups)
      lines.push_back({view.by == TopBy::process
                           ? name_and_number(short_name(group.name), "process", group.pid)
                           : fmt::format("{} ({})", short_name(group.name),
                                         human_count(group.threads, "thread", "threads")),
                       0,
                       {},
                       &group.sum});
  }
  const Columns columns(view, part.length(),
                        std::any_of(lines.begin(), lines.end(), [](const Line &line) {
                          return line.sum->throttled_time() > 0;
                        }));
  Table table = columns.table(view.by);
  TopTable result{head_lines(part), {}, {}};
  for (const Line &line : lines) {
    table.add(columns.row(line));
    result.tids.push_back(line.tid);
  }
  const std::string text = table.text(view.columns);
  for (size_t at = 0, end; (end = text.find('\n', at)) != text.npos; at = end + 1)
    result.lines.push_back(short_line(text.substr(at, end - at), view.columns));
  for (std::string &line : result.head)
    line = short_line(line, view.columns);
  result.head.push_back(std::move(result.lines.front()));
  result.lines.erase(result.lines.begin());
  return result;
}

} // namespace ovnitrace
