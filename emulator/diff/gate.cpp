// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/diff/gate.h"

#include "emulator/base/error.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

namespace ovnitrace {

namespace {

using Kind = TimeCause::Kind;
using Runs = std::vector<RunTimes>;

constexpr std::array<std::pair<std::string_view, Kind>, 6> kKinds = {{
    {"running", Kind::running},
    {"preempted", Kind::preempted},
    {"waiting", Kind::waiting},
    {"blocked", Kind::blocked},
    {"throttled", Kind::throttled},
    {"unknown", Kind::unknown},
}};
constexpr std::array<std::pair<std::string_view, double>, 3> kPercentiles = {
    {{"p50", 50}, {"p99", 99}, {"max", 100}}};
constexpr std::array<std::pair<std::string_view, double>, 4> kUnits = {
    {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};

template <class Table> auto find(const Table &table, std::string_view word) {
  return std::find_if(table.begin(), table.end(),
                      [&](const auto &row) { return row.first == word; });
}

/// Takes `start` away from the front of a text. Returns whether it was there.
bool take(std::string_view &text, std::string_view start) {
  if (!text.starts_with(start))
    return false;
  text.remove_prefix(start.size());
  return true;
}

/// Parses "running", "blocked" or "blocked.futex".
bool parse_kind(std::string_view text, Gate &gate) {
  if (take(text, "blocked.") && !text.empty()) {
    gate.kind = Kind::blocked;
    gate.call = text;
    return true;
  }
  const auto row = find(kKinds, text);
  if (row == kKinds.end())
    return false;
  gate.kind = row->second;
  return true;
}

bool parse_quantity(std::string_view text, Gate &gate) {
  if (text == "wall")
    return gate.group.empty();
  if (take(text, "wait.")) {
    gate.of = Gate::Of::wait;
    const auto row = find(kPercentiles, text);
    if (row == kPercentiles.end())
      return false;
    gate.percentile = row->second;
    return true;
  }
  gate.of = take(text, "path.") ? Gate::Of::path : Gate::Of::life;
  return parse_kind(text, gate);
}

bool parse_limit(std::string_view text, Gate &gate) {
  const bool change = text.starts_with('+') || text.starts_with('-');
  take(text, "+");
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), gate.most);
  if (error != std::errc())
    return false;
  text.remove_prefix(size_t(end - text.data()));
  gate.limit = text == "%" ? Gate::Limit::percent
               : change    ? Gate::Limit::change
                           : Gate::Limit::value;
  if (text == "%")
    return change;
  const auto unit = find(kUnits, text);
  if (unit == kUnits.end())
    return false;
  gate.most *= unit->second;
  return true;
}

bool has_group(const Gate &gate, const std::string &group, const Names &names) {
  return gate.group.empty() || fnmatch(gate.group.c_str(), names.group_text(group).c_str(), 0) == 0;
}

uint64_t sum_of(const Gate &gate, const Times &times, const Names &names) {
  uint64_t sum = 0;
  for (const auto &[cause, ns] : times)
    if (cause.kind == gate.kind && has_group(gate, cause.group, names) &&
        (gate.call.empty() || cause.call == gate.call))
      sum += ns;
  return sum;
}

uint64_t value_of(const Gate &gate, const RunTimes &run, const Names &names) {
  switch (gate.of) {
  case Gate::Of::wall:
    return run.wall;
  case Gate::Of::life:
    return sum_of(gate, run.life, names);
  case Gate::Of::path:
    return sum_of(gate, run.path, names);
  case Gate::Of::wait:
    break;
  }
  LatencyHistogram waits;
  for (const auto &[group, lengths] : run.waits)
    if (has_group(gate, group, names))
      waits.add(lengths);
  return gate.percentile == 100 ? waits.max() : waits.percentile(gate.percentile);
}

std::vector<double> values_of(const Gate &gate, const Runs &runs, const Names &names) {
  std::vector<double> values;
  for (const RunTimes &run : runs)
    values.push_back(double(value_of(gate, run, names)));
  return values;
}

/// Returns whether the gate is about threads whose events were lost.
bool is_lossy(const Gate &gate, const Runs &runs, const Names &names) {
  if (gate.of == Gate::Of::wall)
    return loses(runs, runs.front().of);
  if (gate.of == Gate::Of::path)
    return loses_any(runs);
  return std::any_of(runs.begin(), runs.end(), [&](const RunTimes &run) {
    return std::any_of(run.lossy.begin(), run.lossy.end(),
                       [&](const std::string &group) { return has_group(gate, group, names); });
  });
}

void check_group(const Gate &gate, const ComparedRuns &runs) {
  for (const Runs *side : {&runs.a, &runs.b})
    for (const RunTimes &run : *side)
      for (const auto &[group, threads] : run.threads)
        if (has_group(gate, group, runs.names))
          return;
  throw Error("--gate '" + gate.text + "': no run has threads of the group '" + gate.group + "'",
              kExitUsage);
}

} // namespace

Gate parse_gate(const std::string &text) {
  Gate gate{.text = text};
  const size_t less = text.rfind('<');
  const std::string_view front = std::string_view(text).substr(0, less);
  const size_t at = front.find('@');
  if (at != front.npos)
    gate.group = front.substr(at + 1);
  if (less == text.npos || (at != front.npos && gate.group.empty()) ||
      !parse_quantity(front.substr(0, at), gate) ||
      !parse_limit(std::string_view(text).substr(less + 1), gate))
    throw Error("--gate '" + text +
                    "': a gate is QUANTITY[@GROUP]<LIMIT, such as 'wall<+5%', 'wait.p99<+10%', "
                    "'blocked.futex@worker-*<+2ms' or 'running<1.5s' (docs/diff.md#gates)",
                kExitUsage);
  return gate;
}

GateResult check_gate(const Gate &gate, const ComparedRuns &runs) {
  check_group(gate, runs);
  const std::vector<double> a = values_of(gate, runs.a, runs.names),
                            b = values_of(gate, runs.b, runs.names);
  GateResult result{.text = gate.text, .a = median(a), .b = median(b)};
  if (is_lossy(gate, runs.a, runs.names) || is_lossy(gate, runs.b, runs.names)) {
    result.why = "events were lost";
    return result;
  }
  if (gate.limit == Gate::Limit::value) {
    result.passed = result.b < gate.most;
    return result;
  }
  const RankTest test(a.size(), b.size());
  const Shift shift = test.compare(a, b);
  const double most = gate.limit == Gate::Limit::percent ? result.a * gate.most / 100 : gate.most;
  result.passed = shift.estimate < most || (shift.estimate == 0 && gate.most >= 0);
  if (!result.passed && gate.most >= 0 && test.can_show() && shift.p > kLevel) {
    result.passed = true;
    result.why = "no difference is shown";
  }
  return result;
}

} // namespace ovnitrace
