// SPDX-License-Identifier: BSD-2-Clause
// Makes the names that reports use for states, threads, idle states of CPUs and losses.
#pragma once

#include "emulator/format/thread_state.h"
#include "emulator/input/source.h"
#include "emulator/summary/summary.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ovnitrace {

/// Characters of a name in a table: the longest name of a Linux thread.
inline constexpr size_t kMaxName = 16;

/// Returns an ASCII text in upper case.
std::string upper_case(std::string_view text);

/// Returns the head of a state's column, with ovni's name in parentheses if it is another one:
/// "PREEMPTED\n(COOLING)".
std::string state_head(ThreadState state);

/// Returns a name, shortened to fit a table.
std::string short_name(const std::string &name);

/// Returns the short name, or "threads without a name".
std::string name_or_none(const std::string &name);

/// Returns "name (tid)", or "thread tid" if there is no name. The name is shortened to fit a table.
std::string thread_label(const ThreadInfo &thread);
/// Does the same with the name that the thread had at `time`, ns.
std::string thread_label(const ThreadInfo &thread, uint64_t time);

/// Returns how many events were lost, as far as it is known. `counted`: the text for known losses.
std::string lost_text(uint64_t lost, bool more, const std::string &counted);

/// Returns the kernel's name of an idle state of a CPU (index in the Catalog), or its number.
std::string idle_state_name(const Catalog &catalog, uint32_t cpu, uint32_t state);

/// Returns the name of the peer of a pair; empty if it is not known.
std::string peer_name(const Catalog &catalog, const PairCount &pair);

} // namespace ovnitrace
