// SPDX-License-Identifier: BSD-2-Clause
// What the kernel's own statistics say of BPF programs: how often they ran, and how long.
#pragma once

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

struct ProgramTime {
  uint64_t runs = 0, ns = 0;
  double each() const { return runs ? double(ns) / double(runs) : 0; }
};

/// Turns the statistics on, and holds each program that is loaded in its life time, so that its
/// figures are there after its tracer is gone.
class ProgramStats {
public:
  ProgramStats() : stats_(bpf_enable_stats(BPF_STATS_RUN_TIME)) {
    look(false);
    watcher_ = std::thread([this] {
      while (!stopping_) {
        look(true);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    });
  }
  ~ProgramStats() {
    stop();
    for (int fd : held_)
      close(fd);
    close(stats_);
  }
  ProgramStats(const ProgramStats &) = delete;
  ProgramStats &operator=(const ProgramStats &) = delete;

  bool works() const { return stats_ >= 0; }

  /// Returns the sums of the programs whose names end with `_switch`, `_waking` and `_wakeup`.
  std::map<std::string, ProgramTime> times() {
    stop();
    std::map<std::string, ProgramTime> sums;
    for (int fd : held_) {
      bpf_prog_info info = {};
      uint32_t size = sizeof(info);
      if (bpf_obj_get_info_by_fd(fd, &info, &size) != 0)
        continue;
      for (const char *ending : {"switch", "waking", "wakeup"})
        if (std::string_view(info.name).ends_with(std::string("_") + ending)) {
          sums[ending].runs += info.run_cnt;
          sums[ending].ns += info.run_time_ns;
        }
    }
    return sums;
  }

private:
  /// Ids only grow.
  void look(bool hold) {
    while (bpf_prog_get_next_id(last_, &last_) == 0)
      if (const int fd = hold ? bpf_prog_get_fd_by_id(last_) : -1; fd >= 0)
        held_.push_back(fd);
  }
  void stop() {
    stopping_ = true;
    if (watcher_.joinable())
      watcher_.join();
  }

  int stats_;
  uint32_t last_ = 0; ///< id of the last program that was looked at
  std::vector<int> held_;
  std::atomic<bool> stopping_ = false;
  std::thread watcher_;
};
