// SPDX-License-Identifier: BSD-2-Clause
// Prints `ovnitrace top --batch`.
#pragma once

#include "emulator/top/top_table.h"
#include "user/record/live_view.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace ovnitrace {

/// Prints each interval on standard output and ends the capture after `count` of them.
class TopBatch final : public LiveView {
public:
  /// `lines`: most lines of a table, 0: all. `json`: the object of `ovnitrace info --json`, in one
  /// line.
  TopBatch(TopView view, uint64_t count, size_t lines, bool json);

  bool wait(uint64_t time, int stop) override;
  void take(const std::string &directory, uint64_t from, uint64_t to) override;
  void saved(const std::string &) override {}
  std::string unfinished() const override;

private:
  TopView view_;
  const uint64_t count_; ///< intervals
  uint64_t left_;        ///< of them
  const size_t lines_;
  const bool json_;
  bool gone_ = false; ///< nobody reads
};

} // namespace ovnitrace
