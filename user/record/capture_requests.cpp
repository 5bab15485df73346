// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/capture_requests.h"

#include "emulator/base/error.h"

#include <fmt/core.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

namespace ovnitrace {

namespace {

sigset_t save_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  return set;
}

UniqueFd opened(int fd) {
  if (fd < 0)
    throw Error(fmt::format("cannot wait for requests: {}", std::strerror(errno)));
  return UniqueFd(fd);
}

/// Whether something was there. A read that waits for nothing: both kinds of files give 8 bytes or
/// more.
bool take(int fd) {
  signalfd_siginfo what;
  return read(fd, &what, sizeof what) > 0;
}

} // namespace

SaveSignal::SaveSignal() {
  const sigset_t set = save_signals();
  pthread_sigmask(SIG_BLOCK, &set, &before_);
  file_ = opened(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

SaveSignal::~SaveSignal() {
  while (take(file_.get())) // one that came too late has nothing to save and shall not end us now
    ;
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

CaptureRequests::CaptureRequests(int save_signal, std::function<void()> save,
                                 std::function<void(Request)> stop)
    : save_signal_(save_signal), event_(opened(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))),
      timer_(opened(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK))),
      save_(std::move(save)), stop_(std::move(stop)) {
  thread_ = std::thread([this] { run(); });
}

CaptureRequests::~CaptureRequests() {
  wake(kEnd);
  thread_.join();
}

void CaptureRequests::stop_in(uint64_t duration) {
  constexpr uint64_t kSecond = 1'000'000'000;
  const itimerspec once = {{}, {time_t(duration / kSecond), long(duration % kSecond)}};
  timerfd_settime(timer_.get(), 0, &once, nullptr);
}

void CaptureRequests::wake(unsigned request) {
  wanted_ |= request;
  eventfd_write(event_.get(), 1);
}

void CaptureRequests::run() {
  sigset_t all;
  sigfillset(&all); // they are the main thread's
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  for (;;) {
    pollfd files[] = {
        {event_.get(), POLLIN, 0}, {timer_.get(), POLLIN, 0}, {save_signal_, POLLIN, 0}};
    if (poll(files, std::size(files), -1) < 0)
      continue;
    take(event_.get());
    unsigned wanted = wanted_.exchange(0);
    if (save_signal_ >= 0 && take(save_signal_))
      wanted |= kSave;
    if (wanted & kSave)
      save_();
    if (take(timer_.get()))
      wanted |= kTimeOver;
    if (wanted & kFull)
      stop_(kFull);
    if (wanted & kTimeOver)
      stop_(kTimeOver);
    if (wanted & kEnd)
      return;
  }
}

} // namespace ovnitrace
