// SPDX-License-Identifier: BSD-2-Clause
// Scans a stream before the replay: which times it spans, and where it stops making sense.
#pragma once

#include "emulator/ovni/stream_file.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace ovnitrace::ovni {

struct StreamScan {
  uint64_t events = 0;
  uint64_t first = 0;              ///< ns on the stream's own clock; 0 without events, as `last`
  uint64_t last = 0;               ///< the latest time, anywhere in the stream
  uint64_t usable_end = 0;         ///< offset after the last whole event
  std::string problem;             ///< why the file goes on after usable_end; empty if it does not
  std::map<char, uint64_t> models; ///< letters of the models of its events: offset of the first one
  std::set<uint32_t> cpus;         ///< CPU indices in its events, at most kCpusKept
};

inline constexpr uint32_t kCpusKept = 1024; ///< a wrong number must not cost memory

/// Scans the whole of a started `file`.
StreamScan scan_stream(StreamFile &file);

/// Returns a time of a stream on the clock of the trace: `time` + `offset`, clamped to 0 …
/// kTimeLimit.
uint64_t shift_time(uint64_t time, int64_t offset);

/// Returns the CPU index in the payload of an event that has one (OHx, OHC, OAs, OAr): its first
/// i32.
std::optional<int32_t> payload_cpu(const StreamEvent &event);

/// Returns the tid in the payload of OAr: its second i32.
std::optional<int32_t> payload_tid(const StreamEvent &event);

} // namespace ovnitrace::ovni
