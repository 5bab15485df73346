// SPDX-License-Identifier: BSD-2-Clause
// Reads a trace that is still being made: its threads become known while it is read.
#pragma once

#include "emulator/input/source.h"

#include <cstdint>
#include <string>
#include <unordered_map>

namespace ovnitrace {

/// Base of live sources. next() of the derived class calls born(), named() and ended() before it
/// returns the event that shows the change. Hosts, CPUs and the start of the trace are known from
/// the beginning. Memory grows with the number of threads that were ever found.
class LiveSource : public EventSource {
public:
  const Catalog &catalog() const final { return catalog_; }

protected:
  /// `known`: hosts, CPUs, files, begin, and threads that are alive already.
  LiveSource(Catalog known, DiagnosticSink &sink);

  /// Adds a thread and returns its index. It has its tid from now on, even if another thread has
  /// not ended.
  uint32_t born(ThreadInfo thread);
  void named(uint32_t thread, std::string name);
  /// Frees the tid. The state of the thread comes from the events alone.
  void ended(uint32_t thread);
  /// Sets the end of the capture, ns. To be called before next() returns false.
  void end_at(uint64_t time) { catalog_.end = time; }

  /// Returns the thread that has a tid now, kNone if no thread has it.
  uint32_t find(uint32_t host, uint32_t tid) const;

private:
  Catalog catalog_;
  std::unordered_map<uint64_t, uint32_t> alive_; ///< by host << 32 | tid
};

} // namespace ovnitrace
