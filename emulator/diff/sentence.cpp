// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/diff/sentence.h"

#include "emulator/base/human.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <tuple>

namespace ovnitrace {

namespace {

using Kind = TimeCause::Kind;

constexpr size_t kMostParts = 4;
constexpr int64_t kLittle = 20; ///< causes below 1 / kLittle of the largest are summed up

/// Causes that share a part of the sentence: who waited or was blocked does not matter to it.
struct Part {
  Kind kind;
  std::string text;
  int64_t ns = 0;
};

bool is_wait(Kind kind) {
  return kind == Kind::preempted || kind == Kind::waiting;
}

/// Returns whether the causes of one side or the other have several groups that ran.
bool several_run(const std::vector<CauseChange> &causes) {
  return std::count_if(causes.begin(), causes.end(), [](const CauseChange &one) {
           return one.cause.kind == Kind::running && one.change.size() > 0;
         }) > 1;
}

/// Returns what ended a block, for the end of a sentence.
std::string woken_by(const TimeCause &cause, const Names &names) {
  if (cause.culprit.empty())
    return "";
  if (cause.culprit == "nobody yet")
    return ", not woken yet";
  return " woken by " +
         (cause.culprit == "not known" ? "an unknown waker" : names.text(cause.culprit));
}

/// Returns who ran on the CPU for which a thread waited.
std::string holder_of(const TimeCause &cause, const Names &names) {
  return cause.culprit == "not known" ? "an unknown holder" : names.text(cause.culprit);
}

std::string text_of(const TimeCause &cause, bool named, const Names &names) {
  switch (cause.kind) {
  case Kind::running:
    return named ? "running in " + names.group_text(cause.group) : "running";
  case Kind::preempted:
    return "preempted by " + holder_of(cause, names);
  case Kind::waiting:
    return cause.culprit == "idle" ? "waiting for an idle CPU"
                                   : "waiting for a CPU behind " + holder_of(cause, names);
  case Kind::blocked:
    return (cause.call.empty() ? "blocked" : "in " + cause.call) + woken_by(cause, names);
  case Kind::throttled:
    return "throttled";
  case Kind::spinning:
    return "spinning in sched_yield";
  case Kind::unknown:
    break;
  }
  return "not known";
}

/// Joins the causes into parts, the largest first.
std::vector<Part> parts_of(const Comparison &comparison, const Names &names) {
  const bool named = several_run(comparison.causes);
  std::map<std::pair<Kind, std::string>, Part> parts;
  std::map<std::string, std::map<Kind, int64_t>> waits; // by holder
  for (const CauseChange &one : comparison.causes) {
    if (is_wait(one.cause.kind)) {
      waits[one.cause.culprit][one.cause.kind] += one.change.delta();
      continue;
    }
    const std::string text = text_of(one.cause, named, names);
    parts.try_emplace({one.cause.kind, text}, Part{one.cause.kind, text}).first->second.ns +=
        one.change.delta();
  }
  std::vector<Part> list;
  for (const auto &[key, part] : parts)
    list.push_back(part);
  for (auto &[holder, ns] : waits) { // one part: a holder preempts, and lets woken threads wait
    const int64_t preempted = ns[Kind::preempted], waiting = ns[Kind::waiting];
    const Kind kind = waiting ? Kind::waiting : Kind::preempted;
    const TimeCause cause{.group = {}, .kind = kind, .call = {}, .culprit = holder};
    const bool both = preempted && waiting &&
                      holder != "idle"; // a sum must not have the name of one line of the table
    list.push_back(
        {kind, both ? "preempted or " + text_of(cause, named, names) : text_of(cause, named, names),
         preempted + waiting});
  }
  std::erase_if(list, [](const Part &part) { return part.ns == 0; });
  std::stable_sort(list.begin(), list.end(),
                   [](const Part &x, const Part &y) { return std::abs(x.ns) > std::abs(y.ns); });
  return list;
}

std::string list_of(const std::vector<Part> &parts) {
  std::vector<std::string> texts;
  int64_t rest = 0;
  for (const Part &part : parts) {
    const bool little = std::abs(part.ns) * kLittle < std::abs(parts.front().ns);
    if (texts.size() == kMostParts || little)
      rest += part.ns;
    else
      texts.push_back(signed_duration(part.ns) + " " + part.text);
  }
  if (rest)
    texts.push_back(signed_duration(rest) + " others");
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// Returns whether more runs could show what these cannot.
std::string more_runs(const Comparison &comparison) {
  const size_t needed = std::max(comparison.runs_for_cause, comparison.runs_for_group);
  if (!needed)
    return "";
  return fmt::format(" So few runs cannot show a single {}: that takes at least {} against {}.",
                     comparison.runs_for_cause ? "cause" : "line of THREADS", needed, needed);
}

} // namespace

std::string signed_duration(int64_t ns) {
  const auto size = uint64_t(std::abs(ns));
  return (ns > 0 ? "+" : ns < 0 ? "-" : "") + human_duration(size);
}

std::string cause_text(const TimeCause &cause, const Names &names) {
  std::string text = text_of(cause, false, names);
  if (cause.kind == Kind::blocked && !cause.call.empty())
    text = "blocked " + text;
  return cause.at.empty() ? text : text + ", at " + cause.at;
}

std::string sentence(const Comparison &comparison, const Names &names) {
  const Change &wall = comparison.wall;
  const std::vector<Part> parts = parts_of(comparison, names);
  const std::string of = comparison.regions ? "In the recorded regions, B" : "B";
  if (wall.delta() == 0 && parts.empty())
    return of + " takes as long as A.";
  if (comparison.parts)
    return fmt::format("Captures of a part of a run ({} in A, {} in B) show no run time. On the "
                       "critical path: {}.",
                       human_duration(wall.a), human_duration(wall.b), list_of(parts));
  const std::string change =
      wall.a ? fmt::format(" ({:+.1f} %)", 100.0 * double(wall.delta()) / double(wall.a)) : "";
  const std::string by = human_duration(wall.size()) + (wall.delta() < 0 ? " faster" : " slower");
  if (wall.shift && !wall.shown)
    return fmt::format("{} seems {}{}, which can be chance: {}.", of, by, change, list_of(parts));
  return fmt::format("{} is {}{}: {}.", of, by, change, list_of(parts));
}

std::string verdict(const Comparison &comparison, const ComparedRuns &runs) {
  if (runs.a.size() == 1 && runs.b.size() == 1)
    return "One run each: no verdict.";
  const std::string counts = fmt::format("{} against {} runs", runs.a.size(), runs.b.size());
  if (!comparison.tested)
    return counts + ": too few for a verdict; 5 against 5 are enough.";
  if (!comparison.wall.shift)
    return counts + ": no verdict, because events are missing.";
  const auto wall = [](const std::vector<RunTimes> &side) {
    std::vector<double> values;
    for (const RunTimes &run : side)
      values.push_back(double(run.wall));
    return human_duration(uint64_t(median(std::move(values))));
  };
  const Shift &shift = *comparison.wall.shift;
  return fmt::format(
      "{}: median {} against {}; shift {}, {:.0f} % interval {} to {}, "
      "Mann-Whitney p = {:.2g}.{}",
      counts, wall(runs.a), wall(runs.b), signed_duration(std::llround(shift.estimate)),
      100 * (1 - kLevel), signed_duration(std::llround(shift.interval->first)),
      signed_duration(std::llround(shift.interval->second)), shift.p, more_runs(comparison));
}

} // namespace ovnitrace
