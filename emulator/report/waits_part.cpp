// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/report/waits_part.h"

#include "emulator/why/cause_names.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <tuple>

namespace ovnitrace {

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostSums = 1000;

/// Returns what the page says about a holder.
Json holder_json(const Catalog &catalog, Culprit holder, uint32_t thread) {
  return {{"name", culprit_text(catalog, holder, catalog.threads[thread].host)},
          {"thread", holder.kind() == Culprit::Kind::thread ? Json(holder.number()) : Json()},
          {"known", holder.is_known()}};
}

/// Returns one sum for each thread and holder, over all kinds of waits.
std::vector<WaitSum> sums_of(const Explanation &why) {
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> all;
  for (const WaitSum &sum : why.waits)
    if (sum.kind != WaitKind::throttling)
      all[{sum.thread, sum.holder.code()}] += sum.ns;
  std::vector<WaitSum> sums;
  for (const auto &[key, ns] : all)
    sums.push_back({.thread = key.first, .holder = Culprit::from_code(key.second), .ns = ns});
  std::sort(sums.begin(), sums.end(), [](const WaitSum &a, const WaitSum &b) {
    return std::tuple(b.ns, a.thread, a.holder.code()) <
           std::tuple(a.ns, b.thread, b.holder.code());
  });
  return sums;
}

} // namespace

Json waits_header(const Catalog &catalog, const Explanation &why) {
  Json sums = Json::array();
  uint64_t left_out = 0;
  for (const WaitSum &sum : sums_of(why)) {
    if (sums.size() == kMostSums) {
      left_out += sum.ns;
      continue;
    }
    Json one = holder_json(catalog, sum.holder, sum.thread);
    one["waiter"] = sum.thread;
    one["ns"] = sum.ns;
    sums.push_back(std::move(one));
  }
  return {{"sums", std::move(sums)}, {"left_out", left_out}};
}

} // namespace ovnitrace
