// SPDX-License-Identifier: BSD-2-Clause
// Carries out requests during a capture, while the main thread waits for the program.
#pragma once

#include "emulator/base/unique_fd.h"

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

namespace ovnitrace {

/// Makes SIGUSR2 readable instead of deadly, while it lives. Make it before any thread is created,
/// on the main thread.
class SaveSignal {
public:
  /// Throws Error.
  SaveSignal();
  ~SaveSignal();
  SaveSignal(const SaveSignal &) = delete;
  SaveSignal &operator=(const SaveSignal &) = delete;

  int file() const { return file_.get(); } ///< of signalfd(2)

private:
  sigset_t before_;
  UniqueFd file_;
};

/// Runs a thread that does what SIGUSR2, or another thread, requests.
class CaptureRequests {
public:
  enum Request : unsigned { kSave = 1, kFull = 2, kTimeOver = 4 };

  /// `save` and `stop` are called on its thread, one at a time. `save_signal`: of a SaveSignal, -1:
  /// none. Throws Error.
  CaptureRequests(int save_signal, std::function<void()> save, std::function<void(Request)> stop);
  /// Requests kTimeOver in `duration` ns. Call it once, before any request.
  void stop_in(uint64_t duration);
  /// Carries out what was requested, then ends the thread.
  ~CaptureRequests();
  CaptureRequests(const CaptureRequests &) = delete;
  CaptureRequests &operator=(const CaptureRequests &) = delete;

  /// Requests something and returns at once. Several waiting requests of one kind are one.
  void ask(Request request) { wake(request); }

private:
  static constexpr unsigned kEnd = 8;
  void run();
  void wake(unsigned request);

  const int save_signal_;
  UniqueFd event_;
  UniqueFd timer_;
  std::function<void()> save_;
  std::function<void(Request)> stop_;
  std::atomic<unsigned> wanted_{0};
  std::thread thread_;
};

} // namespace ovnitrace
