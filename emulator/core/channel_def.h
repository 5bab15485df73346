// SPDX-License-Identifier: BSD-2-Clause
// Defines what a model declares about a channel.
#pragma once

#include "emulator/base/palette.h"
#include "emulator/core/track.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace {

enum class Scope : uint8_t {
  thread, ///< a channel for each thread, copied to CPUs as cpu_track says
  cpu,    ///< a channel for each CPU, set by the model
};

/// How the timeline of a channel is coloured.
enum class Paint : uint8_t {
  code,    ///< a colour and label for each value
  gradient ///< by size; 0 is the background
};

struct ValueLabel {
  int64_t value = 0;
  std::string label;
};

struct ValueColor {
  int64_t value = 0;
  Color color;
};

/// The declaration of a channel. A channel with PRV type 0 is not written to that trace.
struct ChannelDef {
  std::string name;          ///< one or two words; also the name of its cfg
  std::string label;         ///< of the PRV type
  std::string none = "None"; ///< label of the value 0
  /// Label of 0 in the copy on a CPU; empty: "Idle | " and the label above. "Idle" at its start
  /// becomes "No traced thread" if not all threads were captured.
  std::string idle = {};
  uint32_t thread_type = 0; ///< PRV type in thread.prv
  uint32_t cpu_type = 0;    ///< PRV type in cpu.prv
  Scope scope = Scope::thread;
  Track thread_track = Track::none;
  Track cpu_track = Track::none;
  bool scheduling = false; ///< becomes 0 as soon as the thread's state is unknown
  Paint paint = Paint::code;
  std::vector<ValueLabel> values = {};
  /// Other values have the colours of palette::kSeries in turn.
  std::vector<ValueColor> colors = {};
  int64_t bad = 0; ///< badst: the value of a disabled channel, and of a CPU that follows no thread
  /// Where labels that depend on the trace come from, such as names of threads.
  enum class Labels : uint8_t {
    given,
    threads,
    processes,
    process_indices,
    cpus,
    calls,
    marks
  } labels = Labels::given;
};

} // namespace ovnitrace
