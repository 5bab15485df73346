// SPDX-License-Identifier: BSD-2-Clause
// What a model declares of a channel.
#pragma once

#include "emulator/base/palette.h"
#include "emulator/core/track.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace {

enum class Scope : uint8_t {
  thread, ///< one channel for each thread, copied to CPUs as cpu_track says
  cpu,    ///< one channel for each CPU, set by the model
};

/// How the timeline of a channel is painted.
enum class Paint : uint8_t {
  code,    ///< each value its own colour and label
  gradient ///< by size, 0 stays background
};

struct ValueLabel {
  int64_t value = 0;
  std::string label;
};

struct ValueColor {
  int64_t value = 0;
  Color color;
};

/// One channel, as declared. A PRV type of 0 is not written to that trace.
struct ChannelDef {
  std::string name;          ///< one or two words; also the name of its cfg
  std::string label;         ///< of the PRV type
  std::string none = "None"; ///< label of the value 0
  std::string idle = {};     ///< that of a copy on a CPU; empty: "Idle | " and the label above
  uint32_t thread_type = 0;  ///< PRV type in thread.prv
  uint32_t cpu_type = 0;     ///< PRV type in cpu.prv
  Scope scope = Scope::thread;
  Track thread_track = Track::none;
  Track cpu_track = Track::none;
  bool scheduling = false; ///< a fact of the scheduler: 0 as soon as the thread's state is unknown
  Paint paint = Paint::code;
  std::vector<ValueLabel> values = {};
  std::vector<ValueColor> colors = {}; ///< the others have those of palette::kSeries in turn
  int64_t bad = 0; ///< badst: what is shown while disabled, and by a CPU without a thread to follow
  /// Labels that depend on the trace (names of threads and processes) are taken from here.
  enum class Labels : uint8_t {
    given,
    threads,
    processes,
    process_indices,
    cpus,
    calls
  } labels = Labels::given;
};

} // namespace ovnitrace
