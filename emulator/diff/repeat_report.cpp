// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/diff/repeat_report.h"

#include "emulator/base/human.h"
#include "emulator/diff/quantity.h"
#include "emulator/diff/sentence.h"
#include "emulator/diff/statistics.h"
#include "emulator/summary/table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace ovnitrace {

namespace {

using Json = nlohmann::ordered_json;
using Runs = std::vector<RunTimes>;

constexpr const char *kQuantities[] = {"wall",      "running",  "waiting",  "preempted", "blocked",
                                       "throttled", "wait.p50", "wait.p99", "wait.max"};
constexpr size_t kMostCauses = 10;

/// What several runs say of one time.
struct Spread {
  double median = 0, least = 0, most = 0; ///< ns
  double deviation = 0; ///< ns: half of the runs are at most so far from the median

  explicit Spread(const std::vector<double> &values)
      : median(ovnitrace::median(values)), least(*std::min_element(values.begin(), values.end())),
        most(*std::max_element(values.begin(), values.end())) {
    std::vector<double> distances;
    for (const double value : values)
      distances.push_back(std::abs(value - median));
    deviation = ovnitrace::median(std::move(distances));
  }
};

Spread spread_of(const char *word, const Runs &runs, const Names &names) {
  const Quantity quantity = *parse_quantity(word);
  std::vector<double> values;
  for (const RunTimes &run : runs)
    values.push_back(double(quantity.value(run, names)));
  return Spread(values);
}

Spread spread_of(const TimeCause &cause, const Runs &runs) {
  std::vector<double> values;
  for (const RunTimes &run : runs) {
    const auto at = run.path.find(cause);
    values.push_back(at == run.path.end() ? 0 : double(at->second));
  }
  return Spread(values);
}

/// Returns the causes of all paths, the largest median first.
std::vector<std::pair<TimeCause, Spread>> causes_of(const Runs &runs) {
  std::set<TimeCause> all;
  for (const RunTimes &run : runs)
    for (const auto &[cause, ns] : run.path)
      all.insert(cause);
  std::vector<std::pair<TimeCause, Spread>> causes;
  for (const TimeCause &cause : all)
    causes.emplace_back(cause, spread_of(cause, runs));
  std::stable_sort(causes.begin(), causes.end(), [](const auto &x, const auto &y) {
    return std::pair(x.second.median, x.second.most) > std::pair(y.second.median, y.second.most);
  });
  return causes;
}

std::string duration(double ns) {
  return human_duration(uint64_t(std::llround(ns)));
}

void add_line(Table &table, Table::Row row, const Spread &spread) {
  row.insert(
      row.end(),
      {duration(spread.median), duration(spread.least), duration(spread.most),
       spread.median > 0 ? fmt::format("{:.1f} %", 100 * spread.deviation / spread.median) : "-"});
  table.add(std::move(row));
}

void add_numbers(Json &row, const Spread &spread) {
  row["median_ns"] = spread.median;
  row["least_ns"] = spread.least;
  row["most_ns"] = spread.most;
  row["deviation_ns"] = spread.deviation;
}

} // namespace

std::string repeat_text(const Runs &runs, const Names &names, size_t columns) {
  Table times({human_count(runs.size(), "RUN", "RUNS"), "MEDIAN", "LEAST", "MOST", "SPREAD"});
  for (const char *word : kQuantities)
    add_line(times, {word}, spread_of(word, runs, names));
  Table causes({"CRITICAL PATH", "CAUSE", "MEDIAN", "LEAST", "MOST", "SPREAD"}, 2);
  size_t lines = 0;
  for (const auto &[cause, spread] : causes_of(runs))
    if (spread.median > 0 && lines++ < kMostCauses)
      add_line(causes, {names.group_text(cause.group), cause_text(cause, names)}, spread);
  return times.text(columns) + "\n" + causes.text(columns);
}

void write_repeat_json(const Runs &runs, const Names &names, const JsonStream::Write &write) {
  JsonStream out(write);
  out.member("schema", kJsonSchema);
  Json list = Json::array();
  for (const RunTimes &run : runs)
    list.push_back({{"wall_ns", run.wall}, {"lost", run.lost}});
  out.member("runs", list);
  Json times = Json::array();
  for (const char *word : kQuantities) {
    Json row = {{"quantity", word}};
    add_numbers(row, spread_of(word, runs, names));
    times.push_back(std::move(row));
  }
  out.member("quantities", times);
  Json causes = Json::array();
  for (const auto &[cause, spread] : causes_of(runs)) {
    Json row = {{"cause", kind_word(cause.kind)},
                {"thread", names.group_text(cause.group)},
                {"call", cause.call.empty() ? Json() : Json(cause.call)},
                {"culprit", cause.culprit.empty() ? Json() : Json(names.text(cause.culprit))}};
    add_numbers(row, spread);
    causes.push_back(std::move(row));
  }
  out.member("causes", causes);
  out.end();
}

} // namespace ovnitrace
