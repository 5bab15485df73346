// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/trigger_hit.h"

#include "emulator/slices/shown_state.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

namespace ovnitrace {

namespace {

constexpr std::string_view kBlocked = "blocked ";
constexpr std::string_view kHitRules[] = {"latency ", "preempted ", "idle-while-waiting ",
                                          kBlocked};

/// Returns the thread of "latency 7.200 ms of redis-server(4711)"; kNone for another text.
uint32_t tid_of_hit(std::string_view text) {
  if (std::none_of(std::begin(kHitRules), std::end(kHitRules),
                   [&](std::string_view rule) { return text.starts_with(rule); }))
    return kNone;
  const size_t open = text.rfind('(');
  uint32_t tid = 0;
  if (open == text.npos || text.find(" of ") > open)
    return kNone;
  const char *const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data() + open + 1, end, tid);
  return error == std::errc() && at != end && *at == ')' ? tid : kNone;
}

} // namespace

TriggerHit::TriggerHit(const Catalog &catalog, TimeRange range, const std::vector<uint8_t> &shown)
    : catalog_(catalog) {
  if (std::all_of(catalog.hosts.begin(), catalog.hosts.end(),
                  [](const HostInfo &host) { return host.marks.empty(); }))
    return;
  std::set<std::pair<uint32_t, uint32_t>> threads; // host, tid
  for (size_t t = 0; t < catalog.threads.size(); t++)
    if (shown[t])
      threads.emplace(catalog.threads[t].host, catalog.threads[t].tid);
  for (uint32_t host = 0; host < catalog.hosts.size(); host++)
    for (const CaptureMark &mark : catalog.hosts[host].marks)
      if (const uint32_t tid = tid_of_hit(mark.text); threads.contains({host, tid}) &&
                                                      mark.time_ns >= std::max(range.from, time_) &&
                                                      mark.time_ns <= range.to) {
        host_ = host;
        tid_ = tid;
        time_ = mark.time_ns;
        is_block_ = mark.text.starts_with(kBlocked);
      }
}

bool TriggerHit::takes(const Slice &slice, bool is_block) {
  if (tid_ == kNone || is_block != is_block_ || catalog_.threads[slice.thread].tid != tid_ ||
      catalog_.threads[slice.thread].host != host_)
    return false;
  if (shown_state(slice) == ShownState::throttled)
    throttled_ = slice;
  const uint64_t off = slice.end > time_ ? slice.end - time_ : time_ - slice.end;
  if (off >= nearest_)
    return false;
  nearest_ = off;
  return true;
}

} // namespace ovnitrace
