// SPDX-License-Identifier: BSD-2-Clause
// Takes a capture: a directory, or a collector.
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
  /// Does everything that can fail before the program runs. What was there before stays. Without
  /// this call, there is no trace.json before the end. Throws Error.
  virtual void prepare(const Description &description) = 0;
  /// Sets the trace.json of each part: of those that end while the capture goes on, and of the last
  /// one. Call it before begin().
  virtual void prepare_parts(const Description & /*ended*/, const Description & /*last*/) {}
  /// Begins: the program runs, and chunks may come. Throws Error.
  virtual void begin() = 0;
  /// Writes the trace.json that stays if the process ends now; end() will say more. The last chunk
  /// was given. Throws Error.
  virtual void describe(const Description &) {}
  /// Writes the final trace.json. The last chunk was given. `missing`: events of the capture that
  /// are in no chunk, except blackouts. Throws Error.
  virtual void end(const Description &description, uint64_t missing) = 0;
  /// Writes a shorter trace.json if end() failed: there may be room for what matters most. Throws
  /// Error.
  virtual void end_briefly(const Description &) {}
  /// Gives up what waits for others at `time` (ns, CLOCK_MONOTONIC; 0: now). Any thread may call it
  /// while other functions run, and a signal handler.
  virtual void end_by(uint64_t) noexcept {}
  /// Removes what was made: the capture never began.
  virtual void discard() noexcept = 0;
  /// Returns the place, for messages, and for a conversion if it is a directory.
  virtual std::string place() const = 0;
  /// Returns whether a new part shall begin `now` (ns). For any thread, as rotate_soon().
  virtual bool wants_rotation(uint64_t /*now*/) const { return false; }
  /// Begins a new part with the first chunk that begins at `after` or later. Every event before
  /// `before` is in an earlier chunk.
  virtual void rotate_soon(uint64_t /*before*/, uint64_t /*after*/) {}
  /// Keeps the part with the events of `time` (ns, now or a moment ago) and the one before it, even
  /// if newer parts are many. Returns the place of this part. For any thread. REQUIRES: the target
  /// writes parts.
  virtual std::string keep_part(uint64_t /*time*/) { return ""; }
  /// Returns whether chunks may have to wait for long.
  virtual bool may_stall() const = 0;
};

} // namespace ovnitrace
