// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/off_cpu/speedscope.h"

#include "emulator/off_cpu/frame_names.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ovnitrace {

namespace {

using Json = JsonStream::Json;

/// Numbers frames in the order of their first use.
class Frames {
public:
  explicit Frames(const OffCpuTimes &times) : times_(times) {}

  /// Returns the numbers of the frames of a sum, from the outermost inward.
  std::vector<uint32_t> of(const OffCpuTimes::Key &key) {
    const auto frames = times_.stacks(key.host).frames(key.stack);
    std::vector<uint32_t> numbers;
    for (size_t n = frames.size(); n-- > 0;)
      numbers.push_back(of_frame(key.host, frames[n]));
    if (const std::string name = times_.innermost(key); !name.empty())
      numbers.push_back(number(name, ""));
    return numbers;
  }
  Json take() { return std::move(all_); }

private:
  uint32_t of_frame(uint32_t host, uint32_t frame) {
    const auto [at, added] = known_.try_emplace(uint64_t(host) << 32 | frame, 0);
    if (added) {
      const StackTable &table = times_.stacks(host);
      at->second = number(frame_name(table, frame), frame_file(table, frame));
    }
    return at->second;
  }
  /// Returns the number of a function. Wherever it is called from, it is one frame: speedscope
  /// tells frames apart by number.
  uint32_t number(const std::string &name, const std::string &file) {
    const auto [at, added] = numbers_.try_emplace({name, file}, uint32_t(all_.size()));
    if (added) {
      all_.push_back({{"name", name}});
      if (!file.empty())
        all_.back()["file"] = file;
    }
    return at->second;
  }

  const OffCpuTimes &times_;
  Json all_ = Json::array();
  std::unordered_map<uint64_t, uint32_t> known_; ///< by host << 32 | frame
  std::map<std::pair<std::string, std::string>, uint32_t> numbers_;
};

std::string profile_name(const OffCpuTimes &times, uint32_t owner) {
  const OffCpuTimes::Owner &of = times.owners()[owner];
  const ThreadInfo &thread = times.catalog().threads[of.thread];
  return fmt::format("{} ({}) / {} ({})", name_or_number(of.process, thread.pid), thread.pid,
                     name_or_number(of.name, thread.tid), thread.tid);
}

/// Returns the profile of an owner. `at`: its first sum.
Json profile(const OffCpuTimes &times, OffCpuTimes::Sums::const_iterator at, Frames &frames) {
  const uint32_t owner = at->first.owner;
  Json samples = Json::array(), weights = Json::array();
  uint64_t total = 0;
  for (; at != times.sums().end() && at->first.owner == owner; ++at) {
    samples.push_back(frames.of(at->first));
    weights.push_back(at->second.ns);
    total += at->second.ns;
  }
  return {{"type", "sampled"},
          {"name", profile_name(times, owner)},
          {"unit", "nanoseconds"},
          {"startValue", 0},
          {"endValue", total},
          {"samples", std::move(samples)},
          {"weights", std::move(weights)}};
}

} // namespace

uint64_t write_speedscope(const OffCpuTimes &times, const std::string &title,
                          const JsonStream::Write &write) {
  std::vector<OffCpuTimes::Sums::const_iterator> owners; // the first sum of each
  for (auto at = times.sums().begin(); at != times.sums().end(); ++at)
    if (owners.empty() || owners.back()->first.owner != at->first.owner)
      owners.push_back(at);
  std::stable_sort(owners.begin(), owners.end(), [&](const auto &a, const auto &b) {
    return times.owners()[a->first.owner].thread < times.owners()[b->first.owner].thread;
  });
  Frames frames(times);
  JsonStream json(write, true);
  json.member("$schema", "https://www.speedscope.app/file-format-schema.json");
  json.member("name", title);
  json.member("exporter", "ovnitrace");
  json.start_array("profiles");
  for (const auto &first : owners)
    json.element(profile(times, first, frames));
  json.end_array();
  json.member("shared", {{"frames", frames.take()}}); // speedscope needs no order of members
  json.end();
  return owners.size();
}

} // namespace ovnitrace
