// SPDX-License-Identifier: BSD-2-Clause
// Causes in words, the same in each part of the output.
#pragma once

#include "emulator/why/why_report.h"

#include <string>

namespace ovnitrace {

/// Where a thread blocked: "futex", "read (disk)".
std::string block_name(const WhyInput &input, Block block);
/// "after a wakeup". Where no record says when throttled threads may run again, "throttled, at
/// most".
std::string wait_name(const WhyInput &input, WaitKind kind);
/// One word, as in JSON.
const char *wait_word(WaitKind kind);

/// "main (1234)", "bash (99), not traced", "an interrupt", "not known". `thread`: who waited for
/// it, or was woken.
std::string culprit_text(const WhyInput &input, Culprit culprit, uint32_t thread);
/// The same; `host` is where an untraced one runs.
std::string culprit_text(const Catalog &catalog, Culprit culprit, uint32_t host);

} // namespace ovnitrace
