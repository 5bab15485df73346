// SPDX-License-Identifier: BSD-2-Clause
// Names causes of waits and blocks, in the same way for every part of the output.
#pragma once

#include "emulator/why/why_report.h"

#include <string>

namespace ovnitrace {

/// Returns where a thread blocked: "futex", "read (disk)". `machine`: the host's architecture.
std::string block_name(const std::string &machine, Block block);
/// Returns what a wait for a CPU followed: "after a wakeup". Returns "throttled, at most" where no
/// record says when throttled threads may run again: this is so if some of them are `real_time`.
std::string wait_name(const Catalog &catalog, WaitKind kind, bool real_time = false);
/// Returns the kind of a wait as a word for JSON.
const char *wait_word(WaitKind kind);

/// Returns "main (1234)", "bash (99), not traced", "an interrupt" or "not known". `thread`: the one
/// that waited or was woken.
std::string culprit_text(const WhyInput &input, Culprit culprit, uint32_t thread);
/// Does the same; `host` is where an untraced thread runs.
std::string culprit_text(const Catalog &catalog, Culprit culprit, uint32_t host);
/// Returns several culprits of one kind and name: "bash (3 threads), not traced".
std::string culprits_text(Culprit::Kind kind, const std::string &name, size_t threads);

} // namespace ovnitrace
