// SPDX-License-Identifier: BSD-2-Clause
// Defines the states of a thread and the legal transitions between them.
#pragma once

#include "emulator/format/value_names.h"

#include <ovnitrace/thread_state.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace ovnitrace {

/// The states, with ovni's values, which are those of PRV type 4.
enum class ThreadState : uint8_t {
  Unknown = OVNI_THREAD_UNKNOWN,
  Running = OVNI_THREAD_RUNNING,
  Paused = OVNI_THREAD_PAUSED,
  Dead = OVNI_THREAD_DEAD,
  Cooling = OVNI_THREAD_COOLING,
  Warming = OVNI_THREAD_WARMING,
};
inline constexpr uint32_t kThreadStates = OVNI_THREAD_STATES;

enum class ThreadAction : uint8_t { execute, pause, resume, cool, warm, end };
inline constexpr uint32_t kThreadActions = 6;

/// Returns whether a state is active in ovni's sense: Running, Cooling or Warming.
constexpr bool is_active(ThreadState s) {
  return s == ThreadState::Running || s == ThreadState::Cooling || s == ThreadState::Warming;
}

/// Returns whether a thread in this state is runnable but has no CPU.
constexpr bool is_waiting(ThreadState s) {
  return s == ThreadState::Cooling || s == ThreadState::Warming;
}

/// Returns whether a thread in this state waits for something other than a CPU.
constexpr bool is_blocked(ThreadState s) {
  return s == ThreadState::Paused;
}

inline constexpr uint8_t kIllegal = 0xff;

namespace detail {
inline constexpr uint8_t RUN = uint8_t(ThreadState::Running), PAU = uint8_t(ThreadState::Paused),
                         DEA = uint8_t(ThreadState::Dead), COO = uint8_t(ThreadState::Cooling),
                         WAR = uint8_t(ThreadState::Warming), ___ = kIllegal;
} // namespace detail

/// The state after an action. Cooling → Running (a preempted thread runs again) and Unknown →
/// Warming (a new thread waits for its first CPU) are ours, not ovni's.
inline constexpr std::array<std::array<uint8_t, kThreadActions>, kThreadStates> kTransitions = [] {
  using namespace detail;
  return std::array<std::array<uint8_t, kThreadActions>, kThreadStates>{{
      //             execute pause resume cool warm end
      /* Unknown */ {{RUN, ___, ___, ___, WAR, ___}},
      /* Running */ {{___, PAU, ___, COO, ___, DEA}},
      /* Paused  */ {{___, ___, RUN, ___, WAR, ___}},
      /* Dead    */ {{RUN, ___, ___, ___, ___, ___}},
      /* Cooling */ {{___, PAU, RUN, ___, ___, DEA}},
      /* Warming */ {{___, ___, RUN, ___, ___, ___}},
  }};
}();

/// What each action leads to where it is legal, and what an illegal one implies nonetheless.
inline constexpr std::array<ThreadState, kThreadActions> kStateAfter = {
    ThreadState::Running, ThreadState::Paused,  ThreadState::Running,
    ThreadState::Cooling, ThreadState::Warming, ThreadState::Dead};

constexpr bool is_legal(ThreadState from, ThreadAction action) {
  return kTransitions[std::size_t(from)][std::size_t(action)] != kIllegal;
}

/// Returns whether ovni's own emulator accepts the transition in its streams. The extensions above
/// are for captures only.
constexpr bool is_legal_in_ovni(ThreadState from, ThreadAction action) {
  const bool extension = (from == ThreadState::Cooling && action == ThreadAction::resume) ||
                         (from == ThreadState::Unknown && action == ThreadAction::warm);
  return is_legal(from, action) && !extension;
}

inline constexpr std::array<const char *, kThreadActions> kThreadActionNames = {
    "execute", "pause", "resume", "cool", "warm", "end"};

constexpr const char *name(ThreadState s) {
  return kStateNames[std::size_t(s)].label.data();
}
constexpr const char *name(ThreadAction a) {
  return kThreadActionNames[std::size_t(a)];
}

} // namespace ovnitrace
