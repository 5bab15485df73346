// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/progress_bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace ovnitrace {

namespace {

constexpr std::chrono::milliseconds kShortWork{300}; ///< needs no bar
constexpr std::chrono::milliseconds kRedraw{100};
constexpr int kWidth = 30;

} // namespace

double part_read(const Catalog &catalog, uint64_t to, uint64_t time) {
  const uint64_t length = std::min(catalog.end - catalog.begin, to);
  const uint64_t done = time > catalog.begin ? std::min(time - catalog.begin, length) : 0;
  return length ? double(done) / double(length) : 1;
}

ProgressBar::ProgressBar(bool shown, uint64_t to) : to_(to) {
  if (shown && isatty(STDERR_FILENO))
    current = this;
}

ProgressBar::~ProgressBar() {
  ends();
  if (current == this)
    current = nullptr;
}

void ProgressBar::reads(const Catalog &catalog, uint64_t time, uint64_t events) {
  events_ += events;
  const Clock::time_point now = Clock::now();
  if (!is_due(now))
    return;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  draw(part_read(catalog, to_, time),
       fmt::format("{:.1f} M events  {:.2f} M/s", double(events_) / 1e6,
                   double(events_) / seconds / 1e6));
}

void ProgressBar::walks(double part) {
  if (is_due(Clock::now()))
    draw(part, "critical path");
}

void ProgressBar::ends() {
  if (drawn_)
    std::fputs("\r\033[K", stderr);
  begun_ = drawn_ = false;
  events_ = 0;
}

bool ProgressBar::is_due(Clock::time_point now) {
  if (!begun_) {
    begun_ = true;
    start_ = now;
    next_ = now + kShortWork;
  }
  if (now < next_)
    return false;
  next_ = now + kRedraw;
  return true;
}

void ProgressBar::draw(double part, const std::string &what) {
  const int full = int(part * kWidth);
  const std::string line = fmt::format("\r[{:=<{}}{: <{}}] {:3.0f} %  {}\033[K", "", full, "",
                                       kWidth - full, part * 100, what);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

} // namespace ovnitrace
