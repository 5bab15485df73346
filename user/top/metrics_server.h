// SPDX-License-Identifier: BSD-2-Clause
// Serves the metrics of `ovnitrace top --metrics` over HTTP.
#pragma once

#include "emulator/base/unique_fd.h"
#include "emulator/top/metrics.h"
#include "user/record/live_view.h"

#include <cstdint>
#include <string>

struct MHD_Daemon;

namespace ovnitrace {

/// Adds up the intervals, and answers `GET /metrics` while it waits for the next one. The capture
/// ends only by a signal.
class MetricsServer final : public LiveView {
public:
  /// `socket` listens. Throws Error.
  explicit MetricsServer(UniqueFd socket);
  ~MetricsServer() override;
  MetricsServer(const MetricsServer &) = delete;
  MetricsServer &operator=(const MetricsServer &) = delete;

  bool wait(uint64_t time, int stop) override;
  void take(const std::string &directory, uint64_t from, uint64_t to) override;
  void saved(const std::string &) override {}
  std::string unfinished() const override { return "no metrics are served any more"; }

  const Metrics &metrics() const { return metrics_; }

private:
  Metrics metrics_;
  MHD_Daemon *http_;
};

} // namespace ovnitrace
