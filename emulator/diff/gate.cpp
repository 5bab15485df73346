// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/diff/gate.h"

#include "emulator/base/error.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace ovnitrace {

namespace {

using Runs = std::vector<RunTimes>;

constexpr std::array<std::pair<std::string_view, double>, 4> kUnits = {
    {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};

bool parse_limit(std::string_view text, Gate &gate) {
  const bool change = text.starts_with('+') || text.starts_with('-');
  text.remove_prefix(text.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), gate.most);
  if (error != std::errc())
    return false;
  text.remove_prefix(size_t(end - text.data()));
  gate.limit = text == "%" ? Gate::Limit::percent
               : change    ? Gate::Limit::change
                           : Gate::Limit::value;
  if (text == "%")
    return change;
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(),
                                 [&](const auto &row) { return row.first == text; });
  if (unit == kUnits.end())
    return false;
  gate.most *= unit->second;
  return true;
}

std::vector<double> values_of(const Gate &gate, const Runs &runs, const Names &names) {
  std::vector<double> values;
  for (const RunTimes &run : runs)
    values.push_back(double(gate.quantity.value(run, names)));
  return values;
}

/// Returns the groups that the gate can be about. The path may lead through other threads than
/// those that are compared.
std::set<std::string> groups_of(const Gate &gate, const RunTimes &run) {
  std::set<std::string> groups;
  if (gate.quantity.of == Quantity::Of::path)
    for (const auto &[cause, ns] : run.path)
      groups.insert(cause.group);
  else
    for (const auto &[group, threads] : run.threads)
      groups.insert(group);
  return groups;
}

/// Returns whether the gate is about threads whose events were lost.
bool is_lossy(const Gate &gate, const Runs &runs, const Names &names) {
  if (gate.quantity.of == Quantity::Of::wall)
    return loses_path_end(runs);
  if (gate.quantity.of == Quantity::Of::path)
    return loses_any(runs);
  return std::any_of(runs.begin(), runs.end(), [&](const RunTimes &run) {
    return std::any_of(run.lossy.begin(), run.lossy.end(), [&](const std::string &group) {
      return gate.quantity.has_group(group, names);
    });
  });
}

void check_group(const Gate &gate, const ComparedRuns &runs) {
  for (const Runs *side : {&runs.a, &runs.b})
    for (const RunTimes &run : *side)
      for (const std::string &group : groups_of(gate, run))
        if (gate.quantity.has_group(group, runs.names))
          return;
  throw UsageError("--gate '" + gate.text + "': no run has threads of the group '" +
                   gate.quantity.group + "'");
}

} // namespace

Gate parse_gate(const std::string &text) {
  Gate gate{.text = text};
  const size_t less = text.rfind('<');
  const std::optional<Quantity> quantity = parse_quantity(std::string_view(text).substr(0, less));
  if (less == text.npos || !quantity || !parse_limit(std::string_view(text).substr(less + 1), gate))
    throw UsageError("--gate '" + text +
                     "': a gate is QUANTITY[@GROUP]<LIMIT, such as 'wall<+5%', 'wait.p99<+10%', "
                     "'blocked.futex@worker-*<+2ms' or 'running<1.5s' (docs/diff.md#gates)");
  gate.quantity = *quantity;
  return gate;
}

GateResult check_gate(const Gate &gate, const ComparedRuns &runs) {
  check_group(gate, runs);
  const std::vector<double> a = values_of(gate, runs.a, runs.names),
                            b = values_of(gate, runs.b, runs.names);
  GateResult result{.text = gate.text, .a = median(a), .b = median(b)};
  if (is_lossy(gate, runs.a, runs.names) || is_lossy(gate, runs.b, runs.names)) {
    result.why = "events are missing";
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
