// SPDX-License-Identifier: BSD-2-Clause
// Describes the segments of a path in words.
#pragma once

#include "emulator/base/palette.h"
#include "emulator/critical/path.h"

#include <string>
#include <string_view>

namespace ovnitrace {

/// Returns the kind of a cause, as Paraver and legends show it: "Running", "Blocked until a timer".
std::string_view cause_label(Cause cause);

/// Returns the colour of a cause. A cause that is a state of threads has the colour of the state.
Color cause_color(Cause cause);

/// Returns the cause of a segment, printable: "running", "waiting for a CPU", "throttled", "timer",
/// "network", "blocked in futex", "blocked", "ended" or "unknown". A device, interrupt or untraced
/// waker has its name if that is known: "I/O: vda", "I/O", "outside: NAME (tid)".
std::string cause_text(const PathSegment &segment, const Catalog &catalog);

/// Returns the system call in which the thread of a segment was blocked; empty if it was not, or if
/// that is not known.
std::string_view call_text(const PathSegment &segment, const Catalog &catalog);

/// Returns the tid of the other thread of a segment, which held the CPU or made the wakeup. 0: the
/// idle task; kNone: not known.
uint32_t peer_tid(const PathSegment &segment, const Catalog &catalog);
/// Returns the name that the other thread had when the segment began, or "idle"; "" if it has no
/// name.
std::string peer_name(const PathSegment &segment, const Catalog &catalog);

/// Returns who held the CPU for which the thread of a segment waited: "spinner (12)", or "idle".
/// Empty if the thread did not wait, or if that is not known.
std::string holder_text(const PathSegment &segment, const Catalog &catalog);

} // namespace ovnitrace
