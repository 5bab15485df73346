// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/critical/path_sums.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace ovnitrace {

std::vector<PathSum> sum_up(CriticalPath &path) {
  const auto kind = [](const PathSegment &s) {
    return std::tuple(s.thread, s.cause, s.call, s.device, s.interrupt, s.peer.tid, s.peer.thread);
  };
  std::map<decltype(kind(PathSegment())), PathSum> kinds;
  PathSegment before;
  path.for_each([&](const PathSegment &segment) {
    PathSum &sum = kinds[kind(segment)];
    sum.like = segment;
    sum.ns += segment.length();
    sum.count++;
    sum.stretches += segment.cause != Cause::waiting || before.cause != Cause::waiting ||
                     segment.thread != before.thread;
    before = segment;
  });
  std::vector<PathSum> sums;
  for (const auto &[key, sum] : kinds)
    sums.push_back(sum);
  std::stable_sort(sums.begin(), sums.end(),
                   [](const PathSum &a, const PathSum &b) { return a.ns > b.ns; });
  return sums;
}

} // namespace ovnitrace
