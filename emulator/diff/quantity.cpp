// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/diff/quantity.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <utility>

namespace ovnitrace {

namespace {

using Kind = TimeCause::Kind;

/// The words, by Kind.
constexpr std::array kKinds = {"running",   "preempted", "waiting", "blocked",
                               "throttled", "spinning",  "unknown"};
static_assert(kKinds.size() == size_t(Kind::unknown) + 1, "each kind has a word");
constexpr std::array<std::pair<std::string_view, double>, 3> kPercentiles = {
    {{"p50", 50}, {"p99", 99}, {"max", 100}}};

/// Takes `start` away from the front of a text. Returns whether it was there.
bool take(std::string_view &text, std::string_view start) {
  if (!text.starts_with(start))
    return false;
  text.remove_prefix(start.size());
  return true;
}

/// Parses "running", "blocked" or "blocked.futex".
bool parse_kind(std::string_view text, Quantity &quantity) {
  if (take(text, "blocked.") && !text.empty()) {
    quantity.kind = Kind::blocked;
    quantity.call = text;
    return true;
  }
  const auto word = std::find(kKinds.begin(), kKinds.end(), text);
  quantity.kind = Kind(word - kKinds.begin());
  return word != kKinds.end();
}

bool parse_name(std::string_view text, Quantity &quantity) {
  if (text == "wall")
    return quantity.group.empty();
  if (take(text, "wait.")) {
    quantity.of = Quantity::Of::wait;
    for (const auto &[word, percentile] : kPercentiles)
      if (text == word)
        quantity.percentile = percentile;
    return quantity.percentile > 0;
  }
  quantity.of = take(text, "path.") ? Quantity::Of::path : Quantity::Of::life;
  return parse_kind(text, quantity);
}

/// Returns whether a cause counts. A preempted thread waits for a CPU, too.
bool is_of(Kind cause, Kind kind) {
  return cause == kind || (kind == Kind::waiting && cause == Kind::preempted);
}

uint64_t sum_of(const Quantity &of, const Times &times, const Names &names) {
  uint64_t sum = 0;
  for (const auto &[cause, ns] : times)
    if (is_of(cause.kind, of.kind) && of.has_group(cause.group, names) &&
        (of.call.empty() || cause.call == of.call))
      sum += ns;
  return sum;
}

} // namespace

const char *kind_word(Kind kind) {
  return kKinds[size_t(kind)];
}

std::optional<Quantity> parse_quantity(std::string_view text) {
  Quantity quantity;
  const size_t at = text.find('@');
  if (at != text.npos) {
    quantity.group = text.substr(at + 1);
    if (quantity.group.empty())
      return {};
  }
  return parse_name(text.substr(0, at), quantity) ? std::optional(quantity) : std::nullopt;
}

bool Quantity::has_group(const std::string &of_run, const Names &names) const {
  return group.empty() || fnmatch(group.c_str(), names.group_text(of_run).c_str(), 0) == 0;
}

uint64_t Quantity::value(const RunTimes &run, const Names &names) const {
  switch (of) {
  case Of::wall:
    return run.wall;
  case Of::life:
    return sum_of(*this, run.life, names);
  case Of::path:
    return sum_of(*this, run.path, names);
  case Of::wait:
    break;
  }
  LatencyHistogram waits;
  for (const auto &[name, lengths] : run.waits)
    if (has_group(name, names))
      waits.add(lengths);
  return percentile == 100 ? waits.max() : waits.percentile(percentile);
}

} // namespace ovnitrace
