// SPDX-License-Identifier: BSD-2-Clause
// Defines a thread and a CPU as the replay sees them.
#pragma once

#include "emulator/core/track.h"
#include "emulator/format/event.h"
#include "emulator/format/thread_state.h"

#include <cstdint>

namespace ovnitrace {

/// The running or the active threads of a CPU. Only their number matters and, if there is one,
/// which one it is. The exclusive or of all members is that member, so there is no list and no
/// search, whatever the number of threads.
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
  /// Returns the only member. REQUIRES: count() == 1.
  uint32_t only() const { return mix_; }
  bool is_only(uint32_t thread) const { return count_ == 1 && mix_ == thread; }

private:
  uint32_t count_ = 0;
  uint32_t mix_ = 0;
};

struct Thread {
  ThreadState state = ThreadState::Unknown;
  uint32_t cpu = kNone;    ///< index into System::cpus(), which has the virtual ones too
  uint32_t host = 0;       ///< index into Catalog::hosts
  bool shown = true;       ///< false: left out of the output, so no CPU shows it
  bool out_of_cpu = false; ///< ovni streams: between KCO and KCI
  bool whole = false;      ///< none of its later events were forgotten
  /// ns: when it last ceased to pass the filters of the capture, UINT64_MAX: it passes them.
  uint64_t left_at = UINT64_MAX;
};

/// Why events of a CPU are missing.
enum class Blackout : uint8_t { none, lost, forgotten };

struct Cpu {
  ThreadSet running;        ///< all that run on it, shown or not: for judging events
  ByTrack<ThreadSet> shown; ///< what its channels follow
  uint32_t host = 0;
  uint32_t index = 0; ///< number on its host; kNone for the virtual CPU
  Blackout blackout = Blackout::none;
};

} // namespace ovnitrace
