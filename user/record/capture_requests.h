// SPDX-License-Identifier: BSD-2-Clause
// Carries out requests during a capture, while the main thread waits for the program.
#pragma once

#include "emulator/base/unique_fd.h"
#include "user/control/ctl_socket.h"

#include <atomic>
#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace ovnitrace {

/// Makes SIGUSR2 readable instead of deadly, while it lives. Make it before any thread is created,
/// on the main thread.
class SaveSignal {
public:
  /// Throws Error.
  SaveSignal();
  ~SaveSignal();

  int file() const { return file_.get(); } ///< of signalfd(2)

private:
  sigset_t before_;
  UniqueFd file_;
};

/// Runs a thread that does what SIGUSR2, `ovnitrace ctl`, a trigger, a clock or another thread
/// requests.
class CaptureRequests {
public:
  enum Request : unsigned { kSave = 1, kFull = 2, kTimeOver = 4 };

  /// What the thread calls, one at a time.
  struct Actions {
    std::function<void()> save;
    std::function<void(Request)> stop;
    std::function<void()> tick;      ///< each second; may be empty
    std::function<void(size_t)> hit; ///< when the file of the trigger with this index is readable
    /// Answers a line of `ovnitrace ctl`.
    std::function<std::string(const std::string &)> answer;
  };

  /// `save_signal`: of a SaveSignal, -1: none. `triggers`: of a TriggerCapture each. Throws Error.
  CaptureRequests(int save_signal, Actions actions, std::vector<int> triggers = {});
  /// Starts the thread: what was requested before is done now. `socket` outlives this object.
  void start(control::CtlSocket &socket);
  /// Requests kTimeOver in `duration` ns. Call it once, before any request.
  void stop_in(uint64_t duration);
  /// Carries out what was requested, then ends the thread.
  ~CaptureRequests();

  /// Requests something and returns at once. Several waiting requests of one kind are one.
  void ask(Request request) { wake(request); }

private:
  static constexpr unsigned kEnd = 8;
  void run(control::CtlSocket &socket);
  void wake(unsigned request);

  const int save_signal_;
  const std::vector<int> triggers_;
  UniqueFd event_;
  UniqueFd timer_, second_;
  const Actions actions_;
  std::atomic<unsigned> wanted_{0};
  std::thread thread_;
};

} // namespace ovnitrace
