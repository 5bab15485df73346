// SPDX-License-Identifier: BSD-2-Clause
// A thread and a CPU as the replay sees them.
#pragma once

#include "emulator/core/track.h"
#include "emulator/format/event.h"
#include "emulator/format/thread_state.h"

#include <cstdint>

namespace ovnitrace {

/// The running or the active threads of a CPU: only the size matters and, while it has one, which
/// one. The exclusive or of all members is the member when
/// there is one: no list, no search, whatever the number of threads.
class ThreadSet {
public:
  void add(uint32_t thread) {
    count_++;
    mix_ ^= thread;
  }
  void remove(uint32_t thread) {
    count_--;
    mix_ ^= thread;
  }
  uint32_t count() const { return count_; }
  /// The only member; call it only while count() is 1.
  uint32_t only() const { return mix_; }
  bool is_only(uint32_t thread) const { return count_ == 1 && mix_ == thread; }

private:
  uint32_t count_ = 0;
  uint32_t mix_ = 0;
};

struct Thread {
  ThreadState state = ThreadState::Unknown;
  uint32_t cpu = kNone;    ///< index into System's CPUs, which hold the virtual ones too
  uint32_t host = 0;       ///< index into Catalog::hosts
  bool shown = true;       ///< false: left out of the trace, so that no CPU shows it
  bool out_of_cpu = false; ///< ovni streams: between KCO and KCI
  bool whole = false;      ///< nothing of it that is still to come was forgotten
};

/// Why events of a CPU are missing.
enum class Blackout : uint8_t { none, lost, forgotten };

struct Cpu {
  ThreadSet running;        ///< all that run on it, shown or not: what events are judged by
  ByTrack<ThreadSet> shown; ///< what its channels follow
  uint32_t host = 0;
  uint32_t index = 0; ///< number on its host; kNone for the virtual CPU
  Blackout blackout = Blackout::none;
};

} // namespace ovnitrace
