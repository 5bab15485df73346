// SPDX-License-Identifier: BSD-2-Clause
// What the reports call threads, CPUs' idle states, interrupts and what is lost.
#pragma once

#include "emulator/input/source.h"
#include "emulator/summary/summary.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace ovnitrace {

/// Characters of a name that a table has room for: what a name of Linux has at most.
inline constexpr size_t kMaxName = 16;

/// As much of a name as a table has room for.
std::string short_name(const std::string &name);

/// "name (number)", or "otherwise number" where it has no name.
std::string name_and_number(const std::string &name, const char *otherwise, uint32_t number);

/// "name (tid)", or "thread tid" where it has no name; as much of a name as a table has room for.
std::string thread_label(const ThreadInfo &thread);

/// How many events were lost, as far as it is known; `counted` is the text of those that were.
std::string lost_text(uint64_t lost, bool more, const std::string &counted);

/// What parameter 1 of interrupt_start says: "IRQ 3", or the name of a vector or softirq.
std::string interrupt_name(uint16_t par1);

/// What the kernel calls an idle state of a CPU, by index in the Catalog; its number where it has
/// no name.
std::string idle_state_name(const Catalog &catalog, uint32_t cpu, uint32_t state);

/// The name of who did something to a thread; empty if it is not known.
std::string peer_name(const Catalog &catalog, const PairCount &pair);

} // namespace ovnitrace
