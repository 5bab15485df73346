// SPDX-License-Identifier: BSD-2-Clause
// Where a capture goes: a directory, or a collector.
#pragma once

#include "user/chunk/chunk_destination.h"
#include "user/chunk/trace_directory.h"

#include <cstdint>
#include <functional>
#include <string>

namespace ovnitrace {

/// Takes the chunks of one capture and its trace.json. For one thread at a time.
class TraceTarget {
public:
  /// Writes a trace.json.
  using Description = std::function<void(const Put &)>;

  virtual ~TraceTarget() = default;
  virtual ChunkDestination &output() = 0;
  /// Does all that can fail before the program runs; what was there before stays. Left out, there
  /// is no trace.json before the end. Throws Error.
  virtual void prepare(const Description &description) = 0;
  /// The program runs: chunks may come. Throws Error.
  virtual void begin() = 0;
  /// The last chunk was given, and this is what trace.json says if the process ends now; end() will
  /// say more. Throws Error.
  virtual void describe(const Description &) {}
  /// The last chunk was given, and this is what trace.json says in the end. `missing`: events of
  /// the capture that are in no chunk, but blackouts. Throws Error.
  virtual void end(const Description &description, uint64_t missing) = 0;
  /// That failed: a trace.json of what matters most, where there may be room for that at least.
  /// Throws Error.
  virtual void end_briefly(const Description &) {}
  /// At `time` (ns, CLOCK_MONOTONIC; 0: now) what may wait for others gives up. Any thread may call
  /// it while others are called, and a signal handler.
  virtual void end_by(uint64_t) noexcept {}
  /// The capture never began.
  virtual void discard() noexcept = 0;
  /// For messages, and for a conversion if it is a directory.
  virtual std::string place() const = 0;
  /// Whether chunks may have to wait for long.
  virtual bool may_stall() const = 0;
};

} // namespace ovnitrace
