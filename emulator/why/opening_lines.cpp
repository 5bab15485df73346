// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/opening_lines.h"

#include "emulator/base/clock.h"
#include "emulator/base/human.h"
#include "emulator/summary/names.h"
#include "emulator/why/wait_lines.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace ovnitrace {

namespace {

using Sums = std::vector<std::pair<std::string, uint64_t>>;

/// Returns "At 14:03:07.512, ", by the local clock; empty if the trace does not say when it was.
std::string time_of_hit(const TraceInfo &info, uint64_t time) {
  if (info.to_wall_ns <= 0)
    return "";
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  const int64_t wall = int64_t(time) + info.to_wall_ns;
  return fmt::format("At {:%H:%M:%S}.{:03}, ", local_time(time_t(wall / kNsPerSecond)),
                     wall % kNsPerSecond / 1'000'000);
}

/// Sums up known holders by name, most time first.
class ByName {
public:
  explicit ByName(const WhyInput &input) : input_(input) {}

  void add(Culprit holder, uint32_t host, uint64_t ns) {
    if (holder.is_known() && holder.kind() != Culprit::Kind::others)
      sums_[name_of(input_.catalog, holder, host)] += ns;
  }
  Sums sums() const {
    Sums sums(sums_.begin(), sums_.end());
    std::stable_sort(sums.begin(), sums.end(),
                     [](const auto &a, const auto &b) { return a.second > b.second; });
    return sums;
  }

private:
  const WhyInput &input_;
  std::map<std::string, uint64_t> sums_;
};

} // namespace

std::string hit_line(const WhyInput &input) {
  if (input.why.hit.empty())
    return "";
  const LongWait &hit = input.why.hit.front();
  const std::string at = time_of_hit(input.info, input.why.hit_time);
  return at + (at.empty() ? "The trigger hit: " : "the trigger hit: ") +
         (input.why.hit_is_block ? block_line(input, hit) : wait_line(input, hit)) + '.';
}

std::string tail_line(const WhyInput &input) {
  constexpr size_t kMostNamed = 3;
  const TailSums &tail = input.why.tail;
  ByName all(input), slowest(input);
  for (const WaitSum &sum : input.why.held)
    if (wants_cpu(sum.kind))
      all.add(sum.holder, input.catalog.threads[sum.thread].host, sum.ns);
  for (const TailSums::Holder &holder : tail.holders)
    slowest.add(holder.culprit, holder.host, holder.ns);
  const Sums whole = all.sums(), sums = slowest.sums();
  if (sums.empty() || whole.front().first == sums.front().first)
    return "";
  std::string names;
  for (size_t n = 0; n < sums.size() && n < kMostNamed; n++)
    names += fmt::format("{}{} for {}", n ? ", " : "", name_or_none(sums[n].first),
                         human_duration(sums[n].second));
  return fmt::format("The slowest {} of the waits ({}, {} or longer) were behind {}{}.",
                     human_percent(tail.count, tail.all), human_count(tail.count, "wait", "waits"),
                     human_duration(tail.shortest), names,
                     sums.size() > kMostNamed ? " and others" : "");
}

} // namespace ovnitrace
