// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/core/cut.h"

#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "emulator/base/printable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>

namespace ovnitrace {

namespace {

bool admits(const std::vector<uint32_t> &list, uint32_t number) {
  return list.empty() || std::find(list.begin(), list.end(), number) != list.end();
}

uint64_t length_of(const Catalog &catalog) {
  return catalog.end > catalog.begin ? catalog.end - catalog.begin : 0;
}

} // namespace

bool Cut::keeps(const ThreadInfo &thread) const {
  auto matches = [&](const std::string &pattern) {
    return fnmatch(pattern.c_str(), thread.name.c_str(), 0) == 0;
  };
  return admits(pids, thread.pid) && admits(tids, thread.tid) &&
         (comms.empty() || std::any_of(comms.begin(), comms.end(), matches));
}

bool Cut::keeps_cpu(uint32_t index) const {
  return admits(cpus, index);
}

bool Cut::cuts() const {
  return from > 0 || to != UINT64_MAX || chooses_threads();
}

namespace {

/// Returns how the cut chooses threads, as its options: "--tid 99 --comm worker-*".
std::string chosen_text(const Cut &cut) {
  std::string text;
  const auto add = [&](const char *option, const std::string &values) {
    if (!values.empty())
      text += (text.empty() ? "" : " ") + fmt::format("{} {}", option, values);
  };
  add("--pid", fmt::format("{}", fmt::join(cut.pids, ",")));
  add("--tid", fmt::format("{}", fmt::join(cut.tids, ",")));
  add("--comm", printable_line(fmt::format("{}", fmt::join(cut.comms, ","))));
  return text;
}

} // namespace

void check_cut(const Cut &cut, const Catalog &catalog) {
  if (cut.from > cut.to)
    throw UsageError("the cut starts at " + human_duration(cut.from) + ", after it ends at " +
                     human_duration(cut.to));
  if (cut.from > length_of(catalog))
    throw Error("the cut starts at " + human_duration(cut.from) +
                ", after the end of the trace, which lasts " + human_duration(length_of(catalog)));
  const auto kept = [&](const ThreadInfo &thread) { return cut.keeps(thread); };
  if (!catalog.threads.empty() && !catalog.live &&
      std::none_of(catalog.threads.begin(), catalog.threads.end(), kept))
    throw Error("the trace has no thread with {}: `ovnitrace info --top 0 TRACE` lists the threads",
                chosen_text(cut));
}

TimeRange range_of(const Cut &cut, const Catalog &catalog) {
  return {catalog.begin + cut.from, catalog.begin + std::min(cut.to, length_of(catalog))};
}

std::vector<uint8_t> kept_threads(const Cut &cut, const Catalog &catalog) {
  std::vector<uint8_t> kept;
  for (const ThreadInfo &thread : catalog.threads)
    kept.push_back(cut.keeps(thread));
  return kept;
}

} // namespace ovnitrace
