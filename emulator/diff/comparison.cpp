// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/diff/comparison.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace ovnitrace {

namespace {

using Runs = std::vector<RunTimes>;

/// Returns the middle half of the runs by wall time; of fewer than four, all.
std::vector<size_t> middle_of(const Runs &runs) {
  std::vector<size_t> order(runs.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t x, size_t y) { return runs[x].wall < runs[y].wall; });
  const auto out = ptrdiff_t(runs.size() / 4);
  return {order.begin() + out, order.end() - out};
}

/// Divides each sum by `runs`, so that the results add up to the quotient of `total`: those with
/// the largest remainders are rounded up.
std::vector<uint64_t> means(const std::vector<uint64_t> &sums, uint64_t total, uint64_t runs) {
  std::vector<uint64_t> result(sums.size());
  std::vector<size_t> order(sums.size());
  std::iota(order.begin(), order.end(), 0);
  uint64_t rest = total / runs;
  for (size_t n = 0; n < sums.size(); n++) {
    result[n] = sums[n] / runs;
    rest -= result[n];
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t x, size_t y) { return sums[x] % runs > sums[y] % runs; });
  for (size_t n = 0; n < rest; n++)
    result[order[n]]++;
  return result;
}

uint64_t value_of(const Times &times, const TimeCause &cause) {
  const auto at = times.find(cause);
  return at == times.end() ? 0 : at->second;
}

uint64_t sum_of(const Times &times) {
  return std::accumulate(times.begin(), times.end(), uint64_t(0),
                         [](uint64_t sum, const auto &part) { return sum + part.second; });
}

/// The times of one side: of each run, or of one group in each run.
struct Side {
  std::vector<Times> runs;
  std::vector<size_t> middle;

  std::vector<double> values(const TimeCause &cause) const {
    std::vector<double> values;
    for (const Times &run : runs)
      values.push_back(double(value_of(run, cause)));
    return values;
  }
  std::vector<double> sums() const {
    std::vector<double> sums;
    for (const Times &run : runs)
      sums.push_back(double(sum_of(run)));
    return sums;
  }
  uint64_t total() const {
    uint64_t total = 0;
    for (const size_t run : middle)
      total += sum_of(runs[run]);
    return total;
  }
  std::vector<uint64_t> middle_means(const std::vector<TimeCause> &causes) const {
    std::vector<uint64_t> sums;
    for (const TimeCause &cause : causes) {
      uint64_t sum = 0;
      for (const size_t run : middle)
        sum += value_of(runs[run], cause);
      sums.push_back(sum);
    }
    return means(sums, total(), middle.size());
  }
};

/// Compares two sides.
class Comparer {
public:
  Comparer(const Side &a, const Side &b, const RankTest &test, bool tested)
      : a_(a), b_(b), test_(test), tested_(tested) {}

  Change sum() const {
    Change change{.a = a_.total() / a_.middle.size(), .b = b_.total() / b_.middle.size()};
    if (tested_)
      change.shift = test_.compare(a_.sums(), b_.sums());
    return change;
  }
  /// Returns the changes of the causes, the largest first.
  std::vector<CauseChange> causes() const {
    std::set<TimeCause> all;
    for (const Side *side : {&a_, &b_})
      for (const Times &run : side->runs)
        for (const auto &[cause, ns] : run)
          all.insert(cause);
    const std::vector<TimeCause> list(all.begin(), all.end());
    const std::vector<uint64_t> before = a_.middle_means(list), after = b_.middle_means(list);
    std::vector<CauseChange> changes;
    for (size_t n = 0; n < list.size(); n++) {
      CauseChange one{list[n], {.a = before[n], .b = after[n]}};
      if (tested_)
        one.change.shift = test_.compare(a_.values(list[n]), b_.values(list[n]));
      changes.push_back(std::move(one));
    }
    const auto size = [](const CauseChange &one) {
      return std::pair(one.change.size(), std::max(one.change.a, one.change.b));
    };
    std::stable_sort(changes.begin(), changes.end(),
                     [&](const CauseChange &x, const CauseChange &y) { return size(x) > size(y); });
    return changes;
  }

private:
  const Side &a_, &b_;
  const RankTest &test_;
  bool tested_;
};

constexpr uint64_t kSmall = 100; ///< causes of less than this part of the whole are not judged

/// Marks what is shown. If the whole is shown to differ, each cause is judged alone. If it is not,
/// so many causes are judged that one could differ by chance: the level is divided among them.
/// Returns how many runs of each side that level takes; 0: there are enough, or nothing is judged.
size_t judge(std::vector<Change *> changes, const Change &whole, const ComparedRuns &runs) {
  const uint64_t least = std::max(whole.a, whole.b) / kSmall;
  std::erase_if(changes,
                [&](const Change *one) { return !one->shift || std::max(one->a, one->b) < least; });
  const double level = kLevel / (whole.shown ? 1.0 : double(std::max<size_t>(changes.size(), 1)));
  for (Change *one : changes)
    one->shown = one->shift->p <= level;
  if (changes.empty() || least_p(runs.a.size(), runs.b.size()) <= level)
    return 0;
  size_t enough = 1;
  while (least_p(enough, enough) > level)
    enough++;
  return enough;
}

Side paths_of(const Runs &runs) {
  Side side{.runs = {}, .middle = middle_of(runs)};
  for (const RunTimes &run : runs)
    side.runs.push_back(run.path);
  return side;
}

/// Returns the times of the threads of one group.
Side lives_of(const Runs &runs, const std::string &group) {
  Side side{.runs = {}, .middle = middle_of(runs)};
  for (const RunTimes &run : runs) {
    const auto from = run.life.lower_bound({.group = group, .kind = TimeCause::Kind::running});
    auto to = from;
    while (to != run.life.end() && to->first.group == group)
      ++to;
    side.runs.emplace_back(from, to);
  }
  return side;
}

std::set<std::string> groups_of(const Runs &runs) {
  std::set<std::string> groups;
  for (const RunTimes &run : runs)
    for (const auto &[group, threads] : run.threads)
      groups.insert(group);
  return groups;
}

size_t threads_of(const RunTimes &run, const std::string &group) {
  const auto at = run.threads.find(group);
  return at == run.threads.end() ? 0 : at->second;
}

} // namespace

bool loses(const Runs &runs, const std::string &group) {
  return std::any_of(runs.begin(), runs.end(),
                     [&](const RunTimes &run) { return run.lossy.contains(group); });
}

bool loses_path_end(const Runs &runs) {
  return std::any_of(runs.begin(), runs.end(), [](const RunTimes &run) {
    return run.lossy.contains(run.of) || run.lossy.contains(run.last);
  });
}

bool loses_any(const Runs &runs) {
  return std::any_of(runs.begin(), runs.end(),
                     [](const RunTimes &run) { return !run.lossy.empty(); });
}

Comparison compare(const ComparedRuns &runs) {
  const auto &[a, b, names, programs] = runs;
  Comparison all;
  const RankTest test(a.size(), b.size());
  all.tested = test.can_show();
  for (const std::vector<RunTimes> *side : {&a, &b})
    for (const RunTimes &run : *side) {
      all.parts |= run.part;
      all.regions |= run.regions;
    }
  const Side paths_a = paths_of(a), paths_b = paths_of(b);
  const bool wall_seen = !loses_path_end(a) && !loses_path_end(b);
  all.wall = Comparer(paths_a, paths_b, test, all.tested && wall_seen).sum();
  all.wall.shown = all.wall.shift && all.wall.shift->p <= kLevel;
  all.causes =
      Comparer(paths_a, paths_b, test, all.tested && !loses_any(a) && !loses_any(b)).causes();
  std::vector<Change *> of_path, of_groups;
  for (CauseChange &one : all.causes)
    of_path.push_back(&one.change);
  all.runs_for_cause = judge(of_path, all.wall, runs);

  const std::set<std::string> in_a = groups_of(a), in_b = groups_of(b);
  std::set_difference(in_a.begin(), in_a.end(), in_b.begin(), in_b.end(),
                      std::back_inserter(all.only_a));
  std::set_difference(in_b.begin(), in_b.end(), in_a.begin(), in_a.end(),
                      std::back_inserter(all.only_b));
  std::vector<std::string> both;
  std::set_intersection(in_a.begin(), in_a.end(), in_b.begin(), in_b.end(),
                        std::back_inserter(both));
  for (const std::string &group : both) {
    const Side lives_a = lives_of(a, group), lives_b = lives_of(b, group);
    const Comparer comparer(lives_a, lives_b, test,
                            all.tested && !loses(a, group) && !loses(b, group));
    all.groups.push_back({group, threads_of(a.front(), group), threads_of(b.front(), group),
                          comparer.sum(), comparer.causes()});
  }
  for (GroupChange &group : all.groups) {
    of_groups.push_back(&group.life);
    for (CauseChange &one : group.causes)
      of_groups.push_back(&one.change);
  }
  all.runs_for_group = judge(of_groups, all.wall, runs);
  std::stable_sort(all.groups.begin(), all.groups.end(),
                   [](const GroupChange &x, const GroupChange &y) {
                     const auto most = [](const GroupChange &group) {
                       return group.causes.empty() ? 0 : group.causes.front().change.size();
                     };
                     return most(x) > most(y);
                   });
  all.conditions = differences(a, b, names);
  for (const auto &[old, now] : programs)
    all.conditions.insert(all.conditions.begin(),
                          Difference{"program (the name in B stands for both)", old, now});
  return all;
}

} // namespace ovnitrace
