// SPDX-License-Identifier: BSD-2-Clause
// Runs the loader's part of --control during a capture.
#pragma once

#include "emulator/base/identity.h"
#include "emulator/base/unique_fd.h"
#include "user/bpf/capture.h"
#include "user/control/arming.h"
#include "user/control/held_processes.h"
#include "user/control/plan.h"
#include "user/control/programs.h"
#include "user/control/single_step.h"
#include "user/ring/ring_buffer.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace ovnitrace::control {

/// The answer to each command after the end of the capture.
inline constexpr const char *kEndedAnswer = "error\nthe capture has ended\n";

/// Returns how long the controller's thread waits, in ms: up to its next look at the processes, or
/// to the next timeout. `due`: when that is, ns; nothing: no thread waits for one.
int patience(std::optional<uint64_t> due, uint64_t now, bool parents_may_stop);

/// Says what the kernel side could not do, a line each.
std::vector<std::string> loss_lines(const ProgramLosses &losses);

/// What the BPF programs cannot do: find and probe code that is loaded later, wait for a time,
/// listen to the user. A thread of its own, which keeps the right to set probes when the process
/// gives its rights up.
class Controller {
public:
  /// Loads the programs. `capture` outlives it. `starts_program`: a program will run in our process
  /// group. Throws Error.
  Controller(Plan plan, const Capture &capture, bool region_by_thread, bool starts_program);
  ~Controller();

  /// Looks at `program` (empty: none), which will run as `identity`, or at the processes `pids`,
  /// and arms the alarms. REQUIRES: Capture::attach(). Throws Error.
  void attach(const std::string &program, const Identity &identity,
              const std::vector<uint32_t> &pids);
  /// Starts the thread. Call it before the processes `pids` have chains: after the program was
  /// forked and before it executes anything, or before begin_living(). Throws Error.
  void start(const std::vector<uint32_t> &pids);
  /// Gives chains to the threads that are alive. REQUIRES: Capture::snapshot().
  void begin_living();
  /// --early-out: `program` (a pidfd) gets SIGTERM when all chains have finished in one of the
  /// traced processes. Before start().
  void end_program_after_chains(UniqueFd program) { program_ = std::move(program); }
  bool ended_program() const { return ended_program_; }
  /// Carries out a command of `ovnitrace ctl` on the controller's thread, and returns the answer.
  /// For another thread, between start() and the end.
  std::string ask(const std::string &command);
  /// Disarms all alarms, and reports those that never could hit.
  void detach();

private:
  struct Timer {
    uint64_t time; ///< ns
    uint32_t pid, tid, alarm;
    bool operator>(const Timer &other) const { return time > other.time; }
  };

  void run();
  void end_thread();
  void take_messages();
  void take(const control_message &message);
  void print_end(const control_message &message);
  void fire_timers();
  void chain_finished(uint32_t pid, uint32_t chain);
  uint32_t hit(uint32_t pid, uint32_t tid, uint64_t alarms,
               std::map<uint32_t, uint64_t> *counted = nullptr);
  void look_at(uint32_t pid);
  std::string answer(const std::string &command);
  std::string status() const;
  void answer_asked();

  const Plan plan_;
  const Capture &capture_;
  const bool region_by_thread_;
  Programs programs_;
  HeldProcesses held_;
  Arming arming_;
  std::mutex arming_mutex_;               ///< once the thread runs
  std::optional<SingleStep> single_step_; ///< with alarms that need it
  RingBuffer messages_;
  UniqueFd wake_;
  UniqueFd program_;                            ///< to be ended; -1: none
  std::map<uint32_t, std::set<uint32_t>> done_; ///< chains that have finished, by process
  std::atomic<bool> ended_program_ = false;
  std::atomic<bool> ending_ = false;
  std::mutex asked_mutex_;
  std::condition_variable answered_;
  std::optional<std::string> asked_, answer_; ///< by `ovnitrace ctl`; what it gets
  bool ended_ = false;                        ///< the thread answers no more
  std::priority_queue<Timer, std::vector<Timer>, std::greater<Timer>> timers_;
  std::set<uint32_t> finished_; ///< chains of which an end was printed
  std::thread thread_;
};

} // namespace ovnitrace::control
