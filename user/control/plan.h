// SPDX-License-Identifier: BSD-2-Clause
// Checks all chains of a capture together, and compiles them for the BPF programs.
#pragma once

#include "user/control/grammar.h"

#include <string>
#include <utility>
#include <vector>

namespace ovnitrace::control {

struct Plan {
  Plan() = default;
  Plan(Plan &&) = default; ///< `alarms` points into `chains`: so it is moved, and not copied
  Plan &operator=(Plan &&) = default;

  std::vector<Chain> chains;
  // as include/ovnitrace/control.h has them:
  std::vector<control_chain> chain_table; ///< one for each of `chains`
  std::vector<control_alarm> alarm_table; ///< of all chains, one after the other
  std::vector<const Alarm *> alarms;      ///< what each of alarm_table stands for, in `chains`
  std::vector<uint32_t> chain_of;         ///< its chain

  /// Returns what the trace says of each chain: its name, which may be empty, and its text.
  std::vector<std::pair<std::string, std::string>> descriptions() const;
  /// Returns whether there is an event that starts the region; without one it starts at once.
  bool has_start() const;
  /// Returns whether an alarm of this kind is there.
  bool has(Source source) const;
  bool has(control_type type) const;
};

/// Reads the chains and checks them together: waitfor names another chain, none waits for itself,
/// they are not too many. Throws Error with status 2 and a caret.
Plan make_plan(const std::vector<std::string> &chains);

/// Refuses what cannot be captured here, with the reason. Throws Error with status 2 and a caret.
void check_possible(const Plan &plan);

/// Returns an alarm as the user wrote it, printable.
std::string text_of(const Chain &chain, const Alarm &alarm);
std::string text_of(const Plan &plan, size_t alarm);

/// Returns whether `,repeat` at the end of the chain is accepted, and makes it start again. A
/// uniform has its own count.
bool can_repeat(const Chain &chain);

/// Says in words when the alarm hits and what it does.
std::string in_words(const Alarm &alarm);
/// Returns the chain in words, several lines.
std::string in_words(const Plan &plan, size_t chain);

} // namespace ovnitrace::control
