// SPDX-License-Identifier: BSD-2-Clause
// The parts of a capture that a live view is shown: user/record/live_parts.
#include "user/record/live_parts.h"

#include "emulator/base/clock.h"
#include "emulator/base/error.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <exception>
#include <string>
#include <vector>

namespace ovnitrace {
namespace {

constexpr uint64_t kLag = 300'000'000, kHistory = 2'000'000'000; // ns

/// Does not wait, and ends the capture after some parts, or waits for its end.
class QuickView final : public LiveView {
public:
  QuickView(size_t parts, bool waits_for_end) : parts_(parts), waits_for_end_(waits_for_end) {
    interval = 3'600'000'000'000; // no part is late
    scratch = "/scratch";
  }
  bool wait(uint64_t time, int stop) override {
    until.push_back(time);
    if (until.size() <= parts_)
      return true;
    pollfd file = {stop, POLLIN, 0};
    if (waits_for_end_)
      poll(&file, 1, -1);
    return waits_for_end_;
  }
  void take(const std::string &directory, uint64_t from, uint64_t to) override {
    taken.push_back({directory, from, to});
    if (throws)
      throw Error("the view is broken");
  }
  void saved(const std::string &) override {}

  struct Part {
    std::string directory;
    uint64_t from, to;
  };
  std::vector<uint64_t> until;
  std::vector<Part> taken;
  bool throws = false;

private:
  const size_t parts_;
  const bool waits_for_end_;
};

/// Waits for SIGTERM, which this thread has blocked.
void take_sigterm() {
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  const timespec most = {10, 0}; // only if it never comes
  EXPECT_EQ(sigtimedwait(&term, nullptr, &most), SIGTERM);
}

/// Blocks SIGTERM while it lives.
class NoSigterm {
public:
  NoSigterm() {
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &term, &before_);
  }
  ~NoSigterm() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSigterm(const NoSigterm &) = delete;
  NoSigterm &operator=(const NoSigterm &) = delete;

private:
  sigset_t before_;
};

TEST(LiveParts, FollowOneAnotherInTwoDirectories) {
  const NoSigterm blocked;
  QuickView view(3, false);
  std::vector<std::string> written;
  std::vector<uint64_t> since;
  const uint64_t before = monotonic_ns();
  {
    LiveParts parts(view, [&](const std::string &directory, uint64_t begin) {
      written.push_back(directory);
      since.push_back(begin);
    });
    take_sigterm(); // the view wants no more: the capture ends as by Ctrl-C
  }
  EXPECT_EQ(view.failure, nullptr);
  ASSERT_EQ(view.taken.size(), 3u);
  EXPECT_EQ(written,
            (std::vector<std::string>{"/scratch/part-0", "/scratch/part-1", "/scratch/part-0"}));
  const uint64_t start = view.taken[0].from;
  EXPECT_GE(start, before);
  EXPECT_LE(start, monotonic_ns());
  ASSERT_EQ(view.until.size(), 4u);
  for (uint64_t n = 0; n < 3; n++) {
    EXPECT_EQ(view.taken[n].directory, written[n]);
    EXPECT_EQ(view.taken[n].from, start + n * view.interval);
    EXPECT_EQ(view.taken[n].to, start + (n + 1) * view.interval);
    EXPECT_EQ(view.until[n], start + (n + 1) * view.interval + kLag);
    // A part has as much before its interval as the interval is long, if there was so much.
    EXPECT_EQ(since[n], view.taken[n].from - std::min(view.taken[n].from, view.interval));
  }
}

TEST(LiveParts, OfAShortIntervalStartTwoSecondsEarlier) {
  const NoSigterm blocked;
  QuickView view(1, false);
  view.interval = 1'900'000'000;
  uint64_t since = 0;
  {
    LiveParts parts(view, [&](const std::string &, uint64_t begin) { since = begin; });
    take_sigterm();
  }
  ASSERT_EQ(view.taken.size(), 1u);
  const uint64_t from = view.taken[0].from;
  EXPECT_EQ(since, from - std::min(from, kHistory));
}

TEST(LiveParts, EndWithTheCapture) {
  QuickView view(2, true);
  unsigned written = 0;
  {
    LiveParts parts(view, [&](const std::string &, uint64_t) { written++; });
  }
  EXPECT_LE(written, 2u);
  EXPECT_EQ(view.taken.size(), written);
  EXPECT_EQ(view.failure, nullptr);
}

TEST(LiveParts, AFailureEndsTheCapture) {
  const NoSigterm blocked;
  QuickView view(5, false);
  view.throws = true;
  {
    LiveParts parts(view, [](const std::string &, uint64_t) {});
    take_sigterm();
  }
  EXPECT_EQ(view.taken.size(), 1u);
  ASSERT_NE(view.failure, nullptr);
  try {
    std::rethrow_exception(view.failure);
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "the view is broken");
  }
}

} // namespace
} // namespace ovnitrace
