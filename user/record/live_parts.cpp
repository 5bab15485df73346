// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/live_parts.h"

#include "emulator/base/clock.h"
#include "emulator/base/error.h"
#include "user/chunk/service_thread.h"

#include <fmt/core.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <utility>

namespace ovnitrace {

namespace {

/// The reader looks every 0.1 s. An event is in a chunk after two looks at most, so a part is taken
/// that much later than its interval ends.
constexpr uint64_t kLag = 300'000'000; // ns

/// A part starts this much before its interval, so it has the starts of waits that end in it.
constexpr uint64_t kLeastHistory = 2'000'000'000; // ns

} // namespace

LiveParts::LiveParts(LiveView &view, Write write)
    : view_(view), write_(std::move(write)), stop_(eventfd(0, EFD_CLOEXEC)) {
  if (!stop_)
    throw Error("cannot watch the capture: {}", std::strerror(errno));
  thread_ = std::thread([this] { run(); });
}

LiveParts::~LiveParts() {
  stopped_ = true;
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

/// Runs the thread. The main thread takes its signal for the user's.
void LiveParts::run() {
  enter_helper_thread();
  try {
    watch();
  } catch (...) {
    view_.failure = std::current_exception();
  }
  if (!stopped_)
    kill(getpid(), SIGTERM);
}

void LiveParts::watch() {
  uint64_t from = monotonic_ns(), to = from + view_.interval;
  const uint64_t history = std::max(kLeastHistory, view_.interval);
  for (unsigned part = 0; view_.wait(to + kLag, stop_.get()) && !stopped_; part++) {
    if (const uint64_t now = monotonic_ns(); now > to + kLag + view_.interval) { // the view froze
      to = now - kLag;
      from = to - view_.interval;
    }
    const std::string directory = fmt::format("{}/part-{}", view_.scratch, part % 2);
    write_(directory, from - std::min(from, history));
    view_.take(directory, from, to);
    from = to;
    to = std::max(to + view_.interval, monotonic_ns() - kLag);
  }
}

} // namespace ovnitrace
