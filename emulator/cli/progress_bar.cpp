// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/progress_bar.h"

#include <fmt/format.h>

#include <cstdio>
#include <unistd.h>

namespace ovnitrace {

ProgressBar::~ProgressBar() {
  if (drawn_)
    std::fputs("\r\033[K", stderr);
}

double ProgressBar::part(uint64_t time) const {
  const uint64_t done = time > begin_ ? std::min(time - begin_, length_) : 0;
  return length_ ? double(done) / double(length_) : 1;
}

ReadingProgress::ReadingProgress(bool shown, uint64_t to) : to_(to) {
  if (shown && isatty(STDERR_FILENO))
    current = this;
}

ReadingProgress::~ReadingProgress() {
  if (current == this)
    current = nullptr;
}

void ReadingProgress::reads(const Catalog &catalog, uint64_t time, uint64_t events) {
  if (!bar_)
    bar_.emplace(catalog, to_);
  bar_->update(time, events_ += events);
}

void ReadingProgress::ends() {
  bar_.reset();
  events_ = 0;
}

void ProgressBar::update(uint64_t time, uint64_t events) {
  constexpr int kWidth = 30;
  Clock::time_point now = Clock::now();
  if (now < next_)
    return;
  next_ = now + std::chrono::milliseconds(100);
  double seconds = std::chrono::duration<double>(now - start_).count();
  const double done = part(time);
  int full = int(done * kWidth);
  std::string line =
      fmt::format("\r[{:=<{}}{: <{}}] {:3.0f} %  {:.1f} M events  {:.2f} M/s\033[K", "", full, "",
                  kWidth - full, done * 100, double(events) / 1e6, double(events) / seconds / 1e6);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

} // namespace ovnitrace
