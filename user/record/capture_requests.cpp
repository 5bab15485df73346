#include "user/record/capture_requests.h"

#include <pthread.h>

#include <utility>

namespace ovnitrace {

namespace {

sigset_t save_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  return set;
}

} // namespace

HoldSaveSignal::HoldSaveSignal() {
  const sigset_t set = save_signal();
  pthread_sigmask(SIG_BLOCK, &set, &before_);
}

HoldSaveSignal::~HoldSaveSignal() {
  // One that came too late has nothing to save and shall not end us now.
  const sigset_t set = save_signal();
  const timespec at_once = {};
  while (sigtimedwait(&set, nullptr, &at_once) > 0)
    ;
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

CaptureRequests::CaptureRequests(std::function<void()> save, std::function<void()> stop)
    : save_(std::move(save)), stop_(std::move(stop)) {
  thread_ = std::thread([this] { run(); });
}

CaptureRequests::~CaptureRequests() {
  wake(kEnd);
  thread_.join();
}

void CaptureRequests::wake(unsigned request) {
  wanted_ |= request;
  pthread_kill(thread_.native_handle(), SIGUSR2);
}

void CaptureRequests::run() {
  sigset_t all;
  sigfillset(&all); // the others are the main thread's
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  const sigset_t set = save_signal();
  for (;;) {
    siginfo_t info = {};
    if (sigwaitinfo(&set, &info) < 0)
      continue;
    const bool from_us = info.si_code == SI_TKILL;
    const unsigned wanted = wanted_.exchange(0) | (from_us ? 0u : unsigned(kSave));
    if (wanted & kSave)
      save_();
    if (wanted & kStop)
      stop_();
    if (wanted & kEnd)
      return;
  }
}

} // namespace ovnitrace
