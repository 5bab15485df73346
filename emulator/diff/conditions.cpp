// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/diff/conditions.h"

#include "emulator/base/human.h"
#include "emulator/base/printable.h"
#include "emulator/diff/statistics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>

namespace ovnitrace {

namespace {

constexpr double kSameFrequency = 0.03; ///< differences of less are usual
constexpr double kLittleStolen = 0.01;  ///< of the CPUs' time

std::string or_unknown(const std::string &text) {
  return text.empty() ? "not known" : printable_line(text);
}

std::string threads_of(const TraceInfo &info) {
  if (info.all_threads)
    return "all of the machine";
  if (info.attached_pids.empty())
    return "of the program";
  return info.with_children ? "of running processes" : "of running processes, without children";
}

using Runs = std::vector<RunTimes>;

/// Returns the different values of a condition: "6.1.0, 6.12.0".
std::string values_of(const Runs &runs, size_t condition) {
  std::set<std::string> values;
  for (const RunTimes &run : runs)
    values.insert(run.conditions[condition].value);
  return fmt::format("{}", fmt::join(values, ", "));
}

/// Returns the threads whose critical paths are compared.
std::string paths_of(const Runs &runs, const Names &names) {
  std::set<std::string> threads;
  for (const RunTimes &run : runs)
    threads.insert(names.group_text(run.of));
  return fmt::format("{}", fmt::join(threads, ", "));
}

double median_of(const Runs &runs, const std::function<double(const RunTimes &)> &value) {
  std::vector<double> values;
  for (const RunTimes &run : runs)
    values.push_back(value(run));
  return median(std::move(values));
}

std::string lost_of(const Runs &runs) {
  uint64_t lost = 0;
  for (const RunTimes &run : runs)
    lost += run.lost;
  return human_count(lost);
}

} // namespace

std::vector<Condition> conditions_of(const TraceInfo &info) {
  const size_t cpus = info.topology.empty() ? info.cpus : info.topology.size();
  return {{"host", or_unknown(info.host)},
          {"kernel", or_unknown(info.kernel)},
          {"architecture", or_unknown(info.machine)},
          {"CPUs", cpus ? human_count(cpus) : "not known"},
          {"command", or_unknown(fmt::format("{}", fmt::join(info.command, " ")))},
          {"user", or_unknown(info.user)},
          {"recorded threads", threads_of(info)},
          {"families of events", or_unknown(info.families)},
          {"stacks", info.stacks.empty() ? "none" : printable_line(info.stacks)},
          {"buffer", or_unknown(buffer_option(info))},
          {"regions", info.chains.empty() ? "none" : human_count(info.chains.size())},
          {"ovnitrace", or_unknown(info.tracer)}};
}

std::vector<Difference> differences(const Runs &a, const Runs &b, const Names &names) {
  std::vector<Difference> found;
  for (size_t n = 0; n < a.front().conditions.size(); n++) {
    const std::string first = values_of(a, n), second = values_of(b, n);
    const bool mixed = a.front().conditions[n].value != first;
    if (first != second || mixed)
      found.push_back({a.front().conditions[n].what, first, second});
  }
  const std::string path_a = paths_of(a, names), path_b = paths_of(b, names);
  if (path_a != path_b)
    found.push_back({"thread of the critical path", path_a, path_b});
  const auto khz = [](const RunTimes &run) { return double(run.khz); };
  const double of_a = median_of(a, khz), of_b = median_of(b, khz);
  if (of_a > 0 && of_b > 0 && std::abs(of_b / of_a - 1) > kSameFrequency)
    found.push_back({"mean frequency", fmt::format("{:.2f} GHz", of_a / 1e6),
                     fmt::format("{:.2f} GHz", of_b / 1e6)});
  const auto stolen = [](const RunTimes &run) { return run.stolen; };
  const double taken_a = median_of(a, stolen), taken_b = median_of(b, stolen);
  if (std::max(taken_a, taken_b) > kLittleStolen)
    found.push_back({"time stolen from the CPUs", fmt::format("{:.1f} %", 100 * taken_a),
                     fmt::format("{:.1f} %", 100 * taken_b)});
  if (lost_of(a) != "0" || lost_of(b) != "0")
    found.push_back({"lost events", lost_of(a), lost_of(b)});
  return found;
}

} // namespace ovnitrace
