// SPDX-License-Identifier: BSD-2-Clause
// Gives a live view the newest part of a capture at each interval.
#pragma once

#include "emulator/base/unique_fd.h"
#include "user/record/live_view.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

namespace ovnitrace {

/// Runs the thread of a LiveView.
class LiveParts {
public:
  /// Writes what was recorded since `since` (ns) as a trace into a directory, which may exist.
  using Write = std::function<void(const std::string &directory, uint64_t since)>;

  /// `view` outlives it. If `write` or `view` throws, the capture ends, and LiveView::failure has
  /// what was thrown. Throws Error.
  LiveParts(LiveView &view, Write write);
  /// Returns when the view is not called any more.
  ~LiveParts();

private:
  void run();
  void watch();

  LiveView &view_;
  Write write_;
  UniqueFd stop_; ///< readable when the capture ends
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

} // namespace ovnitrace
