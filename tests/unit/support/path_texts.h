// SPDX-License-Identifier: BSD-2-Clause
// A critical path as texts.
#pragma once

#include "emulator/critical/path.h"
#include "emulator/open/open_trace.h"
#include "tests/unit/support/collecting_sink.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace ovnitrace::test {

/// For trace.json: who gets the CPU of a thread is who has it, since nobody waited for another one.
inline constexpr char kHolders[] = R"({"version": 1, "cpu_holders": true})";

/// "tid running 100-200 peer=tid": the path in order.
inline std::vector<std::string> path_of(const std::string &dir, const PathQuery &query,
                                        const Cut &cut = {}, const TraceInfo &info = {}) {
  constexpr const char *kNames[kCauses] = {
      "running", "waiting", "throttled", "timer",  "io",      "network", "interrupt", "outside",
      "blocked", "ended",   "unknown",   "worker", "unowned", "spins",   "not_woken"};
  CollectingSink sink;
  const auto source = open_trace({{dir}}, sink);
  CriticalPath path = critical_path(*source, info, cut, query);
  const std::vector<ThreadInfo> &threads = source->catalog().threads;
  std::vector<std::string> texts;
  path.for_each([&](const PathSegment &segment) {
    const uint32_t peer =
        segment.peer.thread != kNone ? threads[segment.peer.thread].tid : segment.peer.tid;
    texts.push_back(fmt::format("{} {} {}-{}{}", threads[segment.thread].tid,
                                kNames[size_t(segment.cause)], segment.from, segment.to,
                                peer == kNone ? "" : fmt::format(" peer={}", peer)));
  });
  return texts;
}

} // namespace ovnitrace::test
