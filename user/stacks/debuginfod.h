// SPDX-License-Identifier: BSD-2-Clause
// Fetches debug data from the servers in DEBUGINFOD_URLS.
#pragma once

#include "emulator/base/unique_fd.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace ovnitrace {

/// Throws Error (usage) if no server is given.
void check_debuginfod();

/// Gets debug files. Runs debuginfod-find as the current user, who has its cache in the home
/// folder. After `most` ns in all it gets no more, and calls `warn` with a sentence that says so.
class DebugFetcher {
public:
  /// For one file, and for those of a recording together.
  static constexpr uint64_t kMostSeconds = 120;

  explicit DebugFetcher(std::function<void(const std::string &)> warn,
                        uint64_t most = kMostSeconds * 1'000'000'000)
      : warn_(std::move(warn)), most_(most) {}
  /// Returns the debug file with that build id; nothing if no server has it.
  UniqueFd operator()(const std::string &build_id);

private:
  std::function<void(const std::string &)> warn_;
  uint64_t most_;
  uint64_t spent_ = 0; ///< ns
  bool warned_ = false;
};

} // namespace ovnitrace
