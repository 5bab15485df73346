// SPDX-License-Identifier: BSD-2-Clause
// The course of one capture.
#pragma once

#include "emulator/base/identity.h"
#include "user/bpf/capture.h"
#include "user/bpf/family_capture.h"
#include "user/chunk/counted_output.h"
#include "user/chunk/flight_recorder.h"
#include "user/chunk/recording_limit.h"
#include "user/chunk/trace_target.h"
#include "user/launch/process_watch.h"
#include "user/launch/program.h"
#include "user/launch/signals.h"
#include "user/probe/find_probes.h"
#include "user/record/capture_requests.h"
#include "user/record/record.h"
#include "user/record/recorder.h"
#include "user/record/trace_json.h"

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace {

/// One capture: all that takes part in it. Members are destroyed in the reverse order.
class Session {
public:
  /// `options` outlive it. Throws Error.
  explicit Session(const RecordOptions &options);
  /// From the begin to the end. Throws Error.
  RecordResult run();

private:
  void start();
  std::string traced_name() const;
  void print_start() const;
  void start_families();
  std::vector<ProbedFile> find_user_probes();
  void start_program();
  void make_store();
  TraceTarget::Description description(const ThreadRegistry *threads) const;
  uint64_t sending_time() const;
  void wait();
  void save();
  void stop_early(CaptureRequests::Request why);
  void end_capture();
  void stop();
  void end_target();

  const RecordOptions &options_;
  const Identity owner_;                  ///< of the trace: who called sudo, or who we are
  const Identity runs_as_;                ///< the program
  std::optional<SaveSignal> save_signal_; ///< of a flight recorder
  std::optional<StopSignals> signals_;    ///< without a program
  std::deque<ProcessWatch> processes_;    ///< options.pids
  Capture capture_;
  std::optional<FamilyCapture> families_; ///< with options.families beyond the scheduler's
  std::optional<Program> program_;
  std::unique_ptr<TraceTarget> target_;
  std::optional<CountedOutput> output_; ///< of target_
  std::unique_ptr<ChunkStore> store_;
  FlightRecorder *flight_ = nullptr;    ///< store_, if it is one
  std::optional<RecordingLimit> limit_; ///< in front of store_
  std::optional<Recorder> recorder_;
  TraceDescription trace_;
  std::mutex ending_; ///< a save or the end, not both
  bool ended_ = false;
  std::string stopped_early_; ///< why tracing stopped while the program went on; empty: it did not
  unsigned saves_ = 0;
  bool told_triggers_spent_ = false;
  std::optional<CaptureRequests> requests_; ///< of a flight recorder or a limit
};

} // namespace ovnitrace
