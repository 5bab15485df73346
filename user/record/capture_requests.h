// What is asked of a capture while the main thread waits for the program.
#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

namespace ovnitrace {

/// Keeps SIGUSR2 from ending this process while it lives. Before any thread is created, on the main thread.
class HoldSaveSignal {
public:
  HoldSaveSignal();
  ~HoldSaveSignal();
  HoldSaveSignal(const HoldSaveSignal &) = delete;
  HoldSaveSignal &operator=(const HoldSaveSignal &) = delete;

private:
  sigset_t before_;
};

/// A thread that does what SIGUSR2, or another thread, asks for. Needs HoldSaveSignal.
class CaptureRequests {
public:
  enum Request : unsigned { kSave = 1, kStop = 2 };

  /// `save` and `stop` are called on its thread, one at a time.
  CaptureRequests(std::function<void()> save, std::function<void()> stop);
  /// Does what was asked for, then ends.
  ~CaptureRequests();
  CaptureRequests(const CaptureRequests &) = delete;
  CaptureRequests &operator=(const CaptureRequests &) = delete;

  /// Returns at once. Several requests of one kind that wait are one.
  void ask(Request request) { wake(request); }

private:
  static constexpr unsigned kEnd = 4;
  void run();
  void wake(unsigned request);

  std::function<void()> save_, stop_;
  std::atomic<unsigned> wanted_{0};
  std::thread thread_;
};

} // namespace ovnitrace
