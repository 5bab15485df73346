// SPDX-License-Identifier: BSD-2-Clause
// How a thread gets from one state to another by the transitions that ovni's emulator accepts.
#pragma once

#include "emulator/format/thread_state.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace ovnitrace::ovni {

/// One step of a path, by the letter that its event ends with where it is an OH event.
enum Step : char {
  kStart = 'X',   ///< OHx on the CPU that the thread is on in the end
  kExecute = 'x', ///< OHx on the virtual CPU
  kPause = 'p',
  kResume = 'r',
  kCool = 'c',
  kWarm = 'w',
  kEnd = 'e',
  kLeaveCpu = 'v', ///< OAs to the virtual CPU
  kTakeCpu = 't',  ///< OAs or OAr to the CPU that the thread is on in the end
};

using Path = std::string_view;

namespace detail {
using PathTable = std::array<std::array<Path, kThreadStates>, kThreadStates>;

/// Ours, but not ovni's, are Cooling → Running, Unknown → any and any → Unknown; captures with
/// faults have others. All are made of ovni's own, at one instant. A thread that passes Running on
/// its way to another state does so on the virtual CPU, where any number of threads may run: on a
/// physical one a second running thread is an error. ovni has no way back to Unknown: Dead, the
/// only other state without a CPU, stands for it.
inline constexpr PathTable kPaths = {{
    //             Unknown Running Paused  Dead    Cooling Warming
    /* Unknown */ {{"", "X", "xpt", "xe", "xct", "xpwt"}},
    /* Running */ {{"e", "vt", "pt", "e", "ct", "pwt"}},
    /* Paused  */ {{"wvre", "tr", "t", "wvre", "wvrct", "wt"}},
    /* Dead    */ {{"", "X", "xpt", "", "xct", "xpwt"}},
    /* Cooling */ {{"e", "ptr", "pt", "e", "t", "pwt"}},
    /* Warming */ {{"vre", "tr", "vrpt", "vre", "vrct", "t"}},
}};
} // namespace detail

constexpr Path legal_path(ThreadState from, ThreadState to) {
  return detail::kPaths[size_t(from)][size_t(to)];
}

} // namespace ovnitrace::ovni
