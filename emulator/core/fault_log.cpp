// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/core/fault_log.h"

#include "emulator/base/human.h"
#include "emulator/core/model.h"

#include <fmt/format.h>

#include <utility>

namespace ovnitrace {

void FaultLog::warn(const Event &event, std::string what) {
  Diagnostic diagnostic;
  if (event.file < catalog_.files.size())
    diagnostic.file = catalog_.files[event.file];
  diagnostic.offset = event.offset;
  diagnostic.time = event.time - catalog_.begin;
  diagnostic.what = std::move(what);
  sink_.report(diagnostic);
}

void FaultLog::report_unseen() const {
  constexpr size_t kMostNames = 4;
  if (unseen_switches_ == 0)
    return;
  std::string names;
  size_t named = 0;
  for (uint32_t thread : hidden_)
    if (named++ < kMostNames)
      names += (names.empty() ? "" : ", ") + thread_name(catalog_, thread);
  if (named > kMostNames)
    names += ", …";
  Diagnostic diagnostic;
  diagnostic.what = fmt::format(
      "{} by which {} left a CPU {} not seen, as some kernels hide some: {}. Part of the time of "
      "{} is Unknown; `ovnitrace convert --lint TRACE` lists the switches",
      human_count(unseen_switches_, "switch", "switches"),
      human_count(hidden_.size(), "thread", "threads"), unseen_switches_ == 1 ? "was" : "were",
      names, hidden_.size() == 1 ? "this thread" : "these threads");
  diagnostic.harmless = true;
  sink_.report(diagnostic);
}

} // namespace ovnitrace
