// SPDX-License-Identifier: BSD-2-Clause
// Lets a command look at a capture while it goes on.
#pragma once

#include <cstdint>
#include <exception>
#include <string>

namespace ovnitrace {

/// What `ovnitrace top` gives to record(). Calls come on one thread, not the main one.
class LiveView {
public:
  virtual ~LiveView() = default;

  /// Waits until `time` (ns, CLOCK_MONOTONIC), or until `stop` is readable: the capture ends.
  /// Returns false if the capture shall end.
  virtual bool wait(uint64_t time, int stop) = 0;
  /// Takes the newest part of the capture: a trace in `directory`, and the interval [from, to] in
  /// it, ns on its clock. The directory stays until the second next call.
  virtual void take(const std::string &directory, uint64_t from, uint64_t to) = 0;
  /// Notes where a flight recorder was saved, or why it was not. Called on another thread.
  virtual void saved(const std::string &message) = 0;

  /// Gives the terminal back: a signal may end us from now on. Called on the main thread, after all
  /// other calls but saved().
  virtual void close() {}

  /// Returns what is left undone if the capture ends now by itself; empty: nothing.
  virtual std::string unfinished() const { return ""; }

  uint64_t interval = 1'000'000'000; ///< ns between parts
  std::exception_ptr failure;        ///< what a call or a part has thrown: it ended the capture
  std::string scratch;               ///< an existing directory for the parts
};

} // namespace ovnitrace
