// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/capture_requests.h"

#include "emulator/base/error.h"
#include "user/chunk/service_thread.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace ovnitrace {

namespace {

UniqueFd opened(int fd) {
  if (fd < 0)
    throw Error("cannot wait for requests: {}", std::strerror(errno));
  return UniqueFd(fd);
}

constexpr uint64_t kSecond = 1'000'000'000; // ns

UniqueFd new_timer() {
  return opened(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
}

/// Sets a timer. `first` and `then` in ns; `then` 0: it fires once.
void set_timer(const UniqueFd &timer, uint64_t first, uint64_t then) {
  const auto time = [](uint64_t ns) { return timespec{time_t(ns / kSecond), long(ns % kSecond)}; };
  const itimerspec when = {time(then), time(first)};
  timerfd_settime(timer.get(), 0, &when, nullptr);
}

/// Returns whether something was there. A read that waits for nothing: both kinds of files give 8
/// bytes or more.
bool take(int fd) {
  signalfd_siginfo what;
  return read(fd, &what, sizeof what) > 0;
}

} // namespace

SaveSignal::SaveSignal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &set, &before_);
  file_ = opened(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

SaveSignal::~SaveSignal() {
  while (take(file_.get())) // one that came too late has nothing to save and shall not end us now
    ;
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

CaptureRequests::CaptureRequests(int save_signal, Actions actions, std::vector<int> triggers)
    : save_signal_(save_signal), triggers_(std::move(triggers)),
      event_(opened(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))), timer_(new_timer()),
      second_(new_timer()), actions_(std::move(actions)) {}

void CaptureRequests::start(control::CtlSocket &socket) {
  if (actions_.tick)
    set_timer(second_, kSecond, kSecond);
  thread_ = std::thread([this, &socket] { run(socket); });
}

CaptureRequests::~CaptureRequests() {
  wake(kEnd);
  if (thread_.joinable())
    thread_.join();
}

void CaptureRequests::stop_in(uint64_t duration) {
  set_timer(timer_, duration, 0);
}

void CaptureRequests::wake(unsigned request) {
  wanted_ |= request;
  eventfd_write(event_.get(), 1);
}

void CaptureRequests::run(control::CtlSocket &socket) {
  block_signals();
  std::vector<pollfd> files = {{event_.get(), POLLIN, 0},
                               {timer_.get(), POLLIN, 0},
                               {save_signal_, POLLIN, 0},
                               {second_.get(), POLLIN, 0}};
  const size_t triggers = files.size();
  for (const int fd : triggers_)
    files.push_back({fd, POLLIN, 0});
  const size_t ctl = files.size();
  for (const UniqueFd &fd : socket.files())
    files.push_back({fd.get(), POLLIN, 0});
  for (;;) {
    if (poll(files.data(), files.size(), -1) < 0)
      continue;
    take(event_.get());
    for (size_t n = ctl; n < files.size(); n++)
      if (files[n].revents)
        socket.serve(files[n].fd, actions_.answer);
    unsigned wanted = wanted_.exchange(0);
    if (save_signal_ >= 0 && take(save_signal_))
      wanted |= kSave;
    if (wanted & kSave)
      actions_.save();
    for (size_t n = 0; n < triggers_.size(); n++)
      if (files[triggers + n].revents)
        actions_.hit(n);
    if (take(timer_.get()))
      wanted |= kTimeOver;
    for (const Request why : {kFull, kTimeOver})
      if (wanted & why)
        actions_.stop(why);
    if (take(second_.get()))
      actions_.tick();
    if (wanted & kEnd)
      return;
  }
}

} // namespace ovnitrace
