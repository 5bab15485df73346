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

/// Whether an action is legal in a state. Cooling → Running (a preempted thread runs again) and
/// Unknown → Warming (a new thread waits for its first CPU) are ours, not ovni's.
inline constexpr bool kIsLegal[kThreadStates][kThreadActions] = {
    //         execute pause resume cool warm end
    /* Unknown */ {1, 0, 0, 0, 1, 0},
    /* Running */ {0, 1, 0, 1, 0, 1},
    /* Paused  */ {0, 0, 1, 0, 1, 0},
    /* Dead    */ {1, 0, 0, 0, 0, 0},
    /* Cooling */ {0, 1, 1, 0, 0, 1},
    /* Warming */ {0, 0, 1, 0, 0, 0},
};

/// What each action leads to where it is legal, and what an illegal one implies nonetheless.
inline constexpr std::array<ThreadState, kThreadActions> kStateAfter = {
    ThreadState::Running, ThreadState::Paused,  ThreadState::Running,
    ThreadState::Cooling, ThreadState::Warming, ThreadState::Dead};

constexpr bool is_legal(ThreadState from, ThreadAction action) {
  return kIsLegal[std::size_t(from)][std::size_t(action)];
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
