// SPDX-License-Identifier: BSD-2-Clause
// A path in words.
#pragma once

#include "emulator/base/palette.h"
#include "emulator/critical/path.h"

#include <string>
#include <string_view>

namespace ovnitrace {

/// The kind of a cause, as Paraver and legends show it: "Running", "Blocked until a timer".
std::string_view cause_label(Cause cause);

/// Its colour: what is a state of threads has that of the state.
Color cause_color(Cause cause);

/// The cause of a segment: "running", "waiting for a CPU", "throttled", "timer", "I/O: vda" ("I/O"
/// where the device is not known), "network",
/// "interrupt" (with its name where it is known), "outside: NAME (tid)", "blocked in futex",
/// "blocked", "ended", "unknown". A name of foreign origin is printable.
std::string cause_text(const PathSegment &segment, const Catalog &catalog);

/// The system call in which the thread of a segment was blocked; empty where it was not, or where
/// that is not known.
std::string_view call_text(const PathSegment &segment, const Catalog &catalog);

/// The tid of the other thread that a segment names: who held the CPU, or who woke. 0: the idle
/// task; kNone: not known.
uint32_t peer_tid(const PathSegment &segment, const Catalog &catalog);
/// Its name alone, as it was given: "" where it has none, "idle".
std::string peer_name(const PathSegment &segment, const Catalog &catalog);

/// Who held the CPU for which the thread of a segment waited: "spinner (12)", "idle" where nobody
/// did; empty where it did not wait, or where that is not known.
std::string holder_text(const PathSegment &segment, const Catalog &catalog);

} // namespace ovnitrace
