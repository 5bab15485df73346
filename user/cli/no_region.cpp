// SPDX-License-Identifier: BSD-2-Clause
#include "user/cli/no_region.h"

#include "emulator/base/printable.h"
#include "user/control/plan.h"

#include <fmt/format.h>

namespace ovnitrace {

namespace {

/// Returns the first alarm of a chain that starts a region, with those that must fire before;
/// empty: none.
std::string first_start(const control::Chain &chain) {
  std::string before;
  for (const control::Alarm &alarm : chain.alarms) {
    if (alarm.event == CONTROL_START)
      return text_of(chain, alarm) + (before.empty() ? "" : " (after " + before + ")");
    before += (before.empty() ? "" : ", ") + text_of(chain, alarm);
  }
  return "";
}

} // namespace

std::string no_region_text(const std::vector<std::string> &chains,
                           const std::vector<std::string> &command) {
  std::string starts, check = "ovnitrace control --check";
  for (const std::string &text : chains) {
    if (const std::string start = first_start(control::parse_chain(text)); !start.empty())
      starts += (starts.empty() ? "" : "; ") + start;
    check += " '" + printable_line(text) + "'";
  }
  if (!command.empty())
    check += " -- " + printable_line(command.front());
  return fmt::format("no region started, so nothing was recorded. Never fired: {}. `{}` shows "
                     "where the probes are set",
                     starts, check);
}

} // namespace ovnitrace
