// SPDX-License-Identifier: BSD-2-Clause
// Runs a capture, and ends it.
#pragma once

#include "user/chunk/trace_target.h"
#include "user/control/ctl_socket.h"
#include "user/record/capture_requests.h"
#include "user/record/capture_storage.h"
#include "user/record/live_parts.h"
#include "user/record/record.h"
#include "user/record/recorder.h"
#include "user/record/save_command.h"
#include "user/record/status_line.h"
#include "user/record/trace_json.h"
#include "user/record/traced.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace ovnitrace {

/// Owns everything from the waiting reader to the finished trace. Members are destroyed in the
/// reverse order.
class Recording {
public:
  /// Makes the service threads, while the process may still raise their priority; nothing is read
  /// before start(). What it is given outlives it. `trace` says how it begins.
  Recording(const RecordOptions &options, Traced &traced, TraceTarget &target,
            TraceDescription trace);

  /// Prepares the target; from now on the program runs and chunks come. REQUIRES: the process is
  /// the owner of the trace. `save_signal`: of a SaveSignal, -1: none. Throws Error.
  void start(int save_signal);
  /// Ends the trace; call it once. The argument says how the traced program or processes ended.
  void end(const Traced::End &end);

  uint64_t regions() const { return recorder_.regions(); } ///< of --control, that started
  const TraceDescription &trace() const { return trace_; }
  /// Returns how many threads were seen. After end().
  size_t threads() const { return recorder_.threads().registry.count(); }

private:
  TraceTarget::Description description(const ThreadsSoFar *threads) const;
  TraceTarget::Description part_description(bool goes_on);
  std::vector<DeviceName> seen_devices() const;
  CaptureStatus status();
  void tick();
  std::string answer(const std::string &line);
  std::string answer_pause(bool pauses);
  std::string answer_mark(const std::string &text);
  bool add_mark(uint64_t time, const std::string &text);
  bool take_trigger_save();
  bool ask_for_trigger_save();
  std::optional<trigger_hit> next_hit(size_t rule);
  bool mark_hit(const trigger_hit &hit, const std::string &cause);
  void take_hit(size_t rule);
  void mark_last_hits();
  std::string hit_text(size_t rule, const trigger_hit &hit) const;
  void report_spent_triggers();
  std::string save(const std::string &cause = "");
  void write_saved(TraceTarget &target, FlightRecorder &flight, const ThreadsSoFar &threads);
  void write_part(const std::string &directory, uint64_t since);
  static constexpr const char *kCtlStop = "ovnitrace ctl stop";
  void stop_early(const std::string &why);
  void end_capture();
  void name_later(NamedStacks &stacks);
  void end_target();

  const RecordOptions &options_;
  Traced &traced_;
  TraceTarget &target_;
  TraceDescription trace_;
  CaptureStorage storage_;
  Recorder recorder_;
  std::mutex ending_; ///< a save or the end, not both
  /// Guards trace_, which the writer of rotated parts reads, too. May be taken after ending_.
  mutable std::mutex describing_;
  bool ended_ = false;
  std::string stopped_early_; ///< how tracing ended while the program went on; empty: it did not
  unsigned saves_ = 0;
  std::atomic<uint64_t> trigger_saves_left_;
  std::atomic<bool> trigger_save_waits_ = false; ///< asked for, and not begun
  SaveCommand on_save_;
  bool reported_triggers_spent_ = false;
  bool paused_ = false, shows_status_ = false;
  StatusLine status_line_;
  std::optional<control::CtlSocket> ctl_;
  std::optional<CaptureRequests> requests_;
  std::optional<LiveParts> parts_; ///< for options.live
};

} // namespace ovnitrace
