// SPDX-License-Identifier: BSD-2-Clause
// Finds transitions that ovni's emulator accepts from one state of a thread to another.
#pragma once

#include "emulator/format/thread_state.h"

#include <array>
#include <string_view>

namespace ovnitrace::ovni {

/// A step of a path. The letter is the last one of its event, if that is an OH event.
enum Step : char {
  kStart = 'X',   ///< OHx on the CPU where the thread ends up
  kExecute = 'x', ///< OHx on the virtual CPU
  kPause = 'p',
  kResume = 'r',
  kCool = 'c',
  kWarm = 'w',
  kEnd = 'e',
  kLeaveCpu = 'v', ///< OAs to the virtual CPU
  kTakeCpu = 't',  ///< OAs or OAr to the CPU where the thread ends up
};

using Path = std::string_view;

namespace detail {
using PathTable = std::array<std::array<const char *, kThreadStates>, kThreadStates>;

/// The paths by state before and after. Some of ovnitrace's transitions are not legal in ovni:
/// Cooling → Running, Unknown → any, any → Unknown, and others in captures with faults. A path
/// makes them of legal ones, at one instant. A thread that passes Running on its way to another
/// state does so on the virtual CPU, where any number of threads may run. On a physical CPU, a
/// second running thread is an error. ovni has no way back to Unknown, so Dead, the only other
/// state without a CPU, replaces it.
inline constexpr PathTable kPaths = {{
    //             Unknown Running Paused  Dead    Cooling Warming
    /* Unknown */ {{"", "X", "xpt", "xe", "xct", "xpwt"}},
    /* Running */ {{"e", "vt", "pt", "e", "ct", "pwt"}},
    /* Paused  */ {{"wvre", "tr", "t", "wvre", "wvrct", "wt"}},
    /* Dead    */ {{"", "X", "xpt", "", "xct", "xpwt"}},
    /* Cooling */ {{"e", "ptr", "pt", "e", "t", "pwt"}},
    /* Warming */ {{"vre", "tr", "vrpt", "vre", "vrct", "t"}},
}};
static_assert(
    [] {
      for (const auto &row : kPaths)
        for (const char *path : row)
          if (!path)
            return false;
      return true;
    }(),
    "a path to or from a state is missing; \"\" is a path without a step");
} // namespace detail

constexpr Path legal_path(ThreadState from, ThreadState to) {
  return detail::kPaths[size_t(from)][size_t(to)];
}

} // namespace ovnitrace::ovni
