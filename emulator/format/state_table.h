// SPDX-License-Identifier: BSD-2-Clause
// Lists the states of a thread as every output shows them. CONTRIBUTING.md lists what else a new
// state needs.
#pragma once

#include "emulator/base/palette.h"

#include <ovnitrace/thread_state.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ovnitrace {

/// The states that outputs distinguish: ovni's, with its values, and `throttled`. A throttled
/// thread is Cooling in PRV type 4 and in `info`. It does not wait for a CPU, though: its cgroup
/// has no CPU quota left, or it waits for its next period (SCHED_DEADLINE).
enum class ShownState : uint8_t {
  unknown = OVNI_THREAD_UNKNOWN,
  running = OVNI_THREAD_RUNNING,
  paused = OVNI_THREAD_PAUSED,
  dead = OVNI_THREAD_DEAD,
  cooling = OVNI_THREAD_COOLING,
  warming = OVNI_THREAD_WARMING,
  throttled = OVNI_THREAD_STATES,
};

/// What marks a state for readers who see no colours.
enum class Pattern : uint8_t { none, hatched, vertical, horizontal, dots };

struct StateInfo {
  ShownState state;
  std::string_view name;    ///< in JSON, SQL and CSV, and for `--sort`
  std::string_view label;   ///< ovni's name: in Paraver and in legends
  std::string_view term;    ///< the field's term, for readers who do not know ovni
  std::string_view meaning; ///< in legends, after the label
  Color color;              ///< in every output
  char glyph;               ///< in figures of plain text
  Pattern pattern = Pattern::none;
  bool waits = false; ///< the thread waits, for a CPU or for anything else
  /// A column that shows several states has this one at its bottom, however short it was. The rest
  /// of the column shows the longest of the other states.
  bool stacked = false;
};

/// The states, by the value of ShownState.
inline constexpr std::array kStateTable = {
    StateInfo{ShownState::unknown, "unknown", "Unknown", "unknown", "not seen", palette::kNothing,
              '?', Pattern::dots},
    StateInfo{ShownState::running, "running", "Running", "running", "on a CPU", palette::kRunning,
              '#', Pattern::none, false, true},
    StateInfo{ShownState::paused, "paused", "Paused", "blocked", "blocked", palette::kBlocked, '.',
              Pattern::none, true},
    StateInfo{ShownState::dead, "dead", "Dead", "ended", "has ended", palette::kGone, ' '},
    StateInfo{ShownState::cooling, "cooling", "Cooling", "preempted", "preempted, waits for a CPU",
              palette::kPreempted, 'x', Pattern::hatched, true, true},
    StateInfo{ShownState::warming, "warming", "Warming", "woken", "woken, waits for a CPU",
              palette::kWoken, 'o', Pattern::vertical, true, true},
    StateInfo{ShownState::throttled, "throttled", "Throttled", "throttled",
              "no CPU quota, or no budget until its next period", palette::kThrottled, '=',
              Pattern::horizontal, true, true},
};
inline constexpr size_t kShownStates = kStateTable.size();

/// The order of legends and tables: the most active state first.
inline constexpr std::array kStateOrder = {
    ShownState::running, ShownState::cooling, ShownState::warming, ShownState::throttled,
    ShownState::paused,  ShownState::dead,    ShownState::unknown};
static_assert(kStateOrder.size() == kShownStates);

constexpr const StateInfo &info_of(ShownState state) {
  return kStateTable[size_t(state)];
}
static_assert(std::all_of(kStateTable.begin(), kStateTable.end(),
                          [](const StateInfo &row) { return &row == &info_of(row.state); }));

} // namespace ovnitrace
