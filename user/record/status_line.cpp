// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/status_line.h"

#include "emulator/base/human.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace ovnitrace {

std::string json_of(const CaptureStatus &status, const std::string &regions) {
  nlohmann::ordered_json json = {{"schema", 1},
                                 {"state", status.paused ? "paused" : "recording"},
                                 {"elapsed_ns", status.elapsed},
                                 {"events", status.events},
                                 {"lost", status.lost},
                                 {"bytes", status.bytes},
                                 {"fullest_ring", status.fullest_ring / 1000.0},
                                 {"threads", status.threads}};
  if (!regions.empty())
    json["regions"] = regions;
  return json.dump() + "\n";
}

std::string text_of(const CaptureStatus &status) {
  return fmt::format("{} for {}: {}, {} lost, {}, fullest ring {:.1f} %, {}\n",
                     status.paused ? "paused; started" : "recording",
                     human_duration(status.elapsed), human_count(status.events, "event", "events"),
                     human_count(status.lost), human_bytes(status.bytes),
                     status.fullest_ring / 10.0, human_count(status.threads, "thread", "threads"));
}

std::string StatusLine::next(const CaptureStatus &status) {
  constexpr uint64_t kSecond = 1'000'000'000; // ns
  const uint64_t interval = std::max<uint64_t>(status.time - last_time_, 1);
  const double rate = double(status.events - last_events_) * double(kSecond) / double(interval);
  std::string text = fmt::format(
      "{} s: {} events/s, {} lost, {}, fullest ring {:.1f} %, {}{}", status.elapsed / kSecond,
      human_count(uint64_t(rate)), human_count(status.lost), human_bytes(status.bytes),
      status.fullest_ring / 10.0, human_count(status.threads, "thread", "threads"),
      status.paused ? ", paused" : "");
  last_time_ = status.time;
  last_events_ = status.events;
  if (status.lost && !has_lost_) {
    has_lost_ = true;
    text += "\nthe first events were lost: give each CPU a larger ring (--ring-size), or record "
            "fewer threads or families (--comm, --cgroup, --filter)";
  }
  return text;
}

} // namespace ovnitrace
