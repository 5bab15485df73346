// SPDX-License-Identifier: BSD-2-Clause
// Reads a --trigger that the kernel side decides, such as latency:5ms:redis*.
#pragma once

#include <ovnitrace/trigger.h>

#include <optional>
#include <string>

namespace ovnitrace {

/// Returns the rule that `text` says; nothing if it starts with none of kTriggerKinds. Throws Error
/// (kExitUsage) if the time or the pattern is wrong.
std::optional<trigger_rule> parse_trigger_rule(const std::string &text);

} // namespace ovnitrace
