// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/report/against.h"

#include "emulator/diff/sentence.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace ovnitrace {

namespace {

using Json = nlohmann::ordered_json;

/// Returns the thread (index in the page) and the times of the longest part with a cause, or null.
/// `first`: index of the run's first thread. `shift`: ns, from the run's clock to the page.
Json place(const RunTimes &run, const TimeCause &cause, size_t first, int64_t shift) {
  const auto found = run.longest.find(cause);
  if (found == run.longest.end())
    return Json();
  const PathSegment &segment = found->second;
  return {{"thread", first + segment.thread},
          {"from", int64_t(segment.from) + shift},
          {"to", int64_t(segment.to) + shift}};
}

} // namespace

Json against_header(const Against &against, const Catalog &catalog) {
  const auto &[runs, comparison, shift] = against;
  const RunTimes &a = runs.a.front(), &b = runs.b.front();
  const auto threads_of_a = std::count_if(catalog.threads.begin(), catalog.threads.end(),
                                          [](const ThreadInfo &one) { return one.host == 0; });
  const auto begin = int64_t(catalog.begin);
  Json causes = Json::array();
  for (const auto &[cause, change] : comparison.causes)
    causes.push_back(
        {{"thread", runs.names.group_text(cause.group)},
         {"cause", cause_text(cause, runs.names)},
         {"a", change.a},
         {"b", change.b},
         {"places", Json::array({place(a, cause, 0, -begin),
                                 place(b, cause, size_t(threads_of_a), shift - begin)})}});
  Json conditions = Json::array();
  for (const Difference &one : comparison.conditions)
    conditions.push_back(one.what + ": " + one.a + " in A, " + one.b + " in B");
  return {{"traces", {a.trace, b.trace}},
          {"a", comparison.wall.a},
          {"b", comparison.wall.b},
          {"conditions", std::move(conditions)},
          {"causes", std::move(causes)}};
}

} // namespace ovnitrace
