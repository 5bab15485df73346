// SPDX-License-Identifier: BSD-2-Clause
// make_plan with any lines as chains of --control: a plan whose tables hold together, or a usage
// error.
// Covers: user/control/grammar.cpp user/control/plan.cpp
#include "emulator/base/error.h"
#include "tests/fuzz/require.h"
#include "user/control/plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace ovnitrace;

void check(const control::Plan &plan) {
  require(plan.alarms.size() == plan.alarm_table.size() &&
          plan.chain_of.size() == plan.alarm_table.size() &&
          plan.chain_table.size() == plan.chains.size());
  require(plan.alarm_table.size() <= CONTROL_ALARMS && plan.chains.size() <= CONTROL_CHAINS);
  uint32_t next = 0;
  for (size_t n = 0; n < plan.chain_table.size(); n++) {
    const control_chain &chain = plan.chain_table[n];
    require(chain.first == next && chain.alarms > 0 && chain.loops > 0);
    require(chain.loops == 1 || chain.loop + 1 < chain.alarms);
    next += chain.alarms;
    require(!control::in_words(plan, n).empty());
  }
  require(next == plan.alarm_table.size());
  for (const control_alarm &alarm : plan.alarm_table) {
    require(alarm.count > 0 || alarm.flags & CONTROL_IMMEDIATE);
    require(!alarm.text[CONTROL_STRING - 1]);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string text(reinterpret_cast<const char *>(data), size);
  std::vector<std::string> chains;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    chains.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  try {
    check(control::make_plan(chains));
  } catch (const Error &error) {
    require(error.status() == kExitUsage);
  }
  return 0;
}
