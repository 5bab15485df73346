// SPDX-License-Identifier: BSD-2-Clause
// The critical path of random machines: exactly what happened, and without a gap whatever the
// trace.
#include "emulator/critical/path.h"
#include "emulator/open/open_trace.h"
#include "tests/unit/support/cases.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/path_texts.h"
#include "tests/unit/support/random_schedule.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/thread_play.h"
#include "tests/unit/support/trace_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace ovnitrace {
namespace {

using test::CollectingSink;
using test::kHolders;
using test::path_of;
using test::random_schedule;
using test::TempDir;
using test::ThreadPlay;
using test::TraceBuilder;
using Texts = std::vector<std::string>;
using Doing = ThreadPlay::Doing;
using WokenBy = ThreadPlay::WokenBy;

/// What really happened, by the definition: the thread that was blocked is not responsible for that
/// time, but its waker, and the waker of that one.
class Truth {
public:
  explicit Truth(const ThreadPlay &play) : play_(play) {}

  Texts path(int player) {
    blame(player, ThreadPlay::kStart, play_.end());
    if (said_.size() > 1 && said_.back().what.ends_with(" ended"))
      said_.pop_back(); // a path ends with its thread
    Texts texts;
    for (const Said &said : said_)
      texts.push_back(fmt::format("{} {}-{}{}", said.what, said.from, said.to, said.peer));
    return texts;
  }

private:
  struct Said {
    std::string what, peer;
    uint64_t from, to;
  };

  void blame(int p, uint64_t from, uint64_t to) {
    const ThreadPlay::Player &player = play_.player(p);
    if (player.life.empty())
      return say(p, "unknown", from, to);
    const uint64_t birth = player.life.front().from;
    if (player.creator >= 0 && from < birth)
      blame(player.creator, from, std::min(to, birth));
    for (const ThreadPlay::Part &part : player.life) {
      const uint64_t start = std::max(part.from, from), end = std::min(part.to, to);
      if (start >= end)
        continue;
      if (part.doing == Doing::running)
        say(p, "running", start, end);
      else if (part.doing == Doing::ended)
        say(p, "ended", start, end);
      else if (part.doing == Doing::waiting)
        wait(p, cpu_of(player, part), start, end);
      else if (part.woken_by == WokenBy::thread && end == part.to &&
               last_ran(part.waker, end) > start)
        woken_by(p, part.waker, start, end);
      else
        say(p, end == part.to ? woken(part.woken_by) : "blocked", start, end,
            end == part.to && part.woken_by == WokenBy::outside ? int(ThreadPlay::kOutside) : -1);
    }
  }

  uint64_t last_ran(int p, uint64_t until) const {
    uint64_t last = 0;
    for (const ThreadPlay::Part &part : play_.player(p).life)
      if (part.doing == Doing::running && part.from < until)
        last = std::min(part.to, until);
    return last;
  }

  /// The waker had perhaps left its CPU when the wakeup arrived.
  void woken_by(int p, int waker, uint64_t start, uint64_t end) {
    const uint64_t made = last_ran(waker, end);
    blame(waker, start, made);
    if (made < end)
      say(p, "waiting", made, end);
  }

  /// Returns where a thread waits: a new one, where it then runs.
  static int cpu_of(const ThreadPlay::Player &player, const ThreadPlay::Part &wait) {
    const bool is_new = &wait == &player.life.front() && player.life.size() > 1;
    return is_new && wait.cpu < 0 ? player.life[1].cpu : wait.cpu;
  }

  /// Lists the threads that held the CPU where it waited, ns by ns.
  void wait(int p, int cpu, uint64_t start, uint64_t end) {
    for (uint64_t at = start; at < end; at++)
      say(p, "waiting", at, at + 1, holder(cpu, at));
  }

  /// The tid of who ran there, or who was said to follow the one that ran last; -1: nobody knows.
  int holder(int cpu, uint64_t at) const {
    const ThreadPlay::Part *last = nullptr;
    int tid = -1;
    for (int p = 0; p < play_.count(); p++)
      for (const ThreadPlay::Part &part : play_.player(p).life)
        if (part.doing == Doing::running && part.cpu == cpu && part.from <= at &&
            (!last || part.from > last->from)) {
          last = &part;
          tid = at < part.to ? int(ThreadPlay::tid_of(p)) : part.next;
        }
    return tid;
  }

  static const char *woken(WokenBy by) {
    return by == WokenBy::timer     ? "timer"
           : by == WokenBy::device  ? "io"
           : by == WokenBy::outside ? "outside"
                                    : "blocked";
  }

  void say(int p, const char *what, uint64_t from, uint64_t to, int peer = -1) {
    Said said = {fmt::format("{} {}", ThreadPlay::tid_of(p), what),
                 peer < 0 ? "" : fmt::format(" peer={}", peer), from, to};
    if (!said_.empty() && said_.back().what == said.what && said_.back().peer == said.peer)
      said_.back().to = to;
    else
      said_.push_back(said);
  }

  const ThreadPlay &play_;
  std::vector<Said> said_;
};

TEST(CriticalPath, IsExactlyWhatHappenedOnRandomMachines) {
  const unsigned plays = test::cases(100);
  size_t followed = 0;
  for (unsigned seed = 1; seed <= plays; seed++) {
    TempDir dir;
    const ThreadPlay play(seed);
    TraceBuilder trace(dir.path());
    play.write(trace);
    trace.json(kHolders);
    trace.write();
    for (int p = 0; p < play.count(); p++) {
      const uint32_t tid = ThreadPlay::tid_of(p);
      if (play.player(p).life.empty())
        continue; // never seen, so it may have been there before
      const Texts truth = Truth(play).path(p);
      ASSERT_EQ(path_of(dir.path(), {tid, {}}), truth) << "seed " << seed << " tid " << tid;
      followed += size_t(std::count_if(truth.begin(), truth.end(), [&](const std::string &text) {
        return !text.starts_with(std::to_string(tid));
      }));
    }
  }
  EXPECT_GT(followed, 15 * plays) << "paths that lead through other threads";
}

TEST(CriticalPath, HasNoGapWhateverTheTrace) {
  std::mt19937 random(7);
  for (unsigned n = 0; n < test::cases(200); n++) {
    TempDir dir;
    TraceBuilder trace(dir.path());
    const uint64_t end = random_schedule(trace, random, n % 2 ? 300 : 0);
    trace.write();
    CollectingSink sink;
    for (uint32_t tid = 1; tid <= 5; tid++) {
      const auto source = open_trace({{dir.path()}}, sink);
      Cut cut;
      cut.from = random() % 3 ? 0 : (end - 100) / 3;
      cut.to = random() % 3 ? UINT64_MAX : (end - 100) / 2;
      CriticalPath path = critical_path(*source, {}, cut, {tid, {}});
      EXPECT_EQ(path.from, 100 + cut.from);
      EXPECT_LE(path.to, std::min(end, cut.to == UINT64_MAX ? end : 100 + cut.to))
          << "it ends with its thread";
      uint64_t at = path.from;
      path.for_each([&](const PathSegment &segment) {
        ASSERT_EQ(segment.from, at);
        ASSERT_LT(segment.from, segment.to);
        at = segment.to;
      });
      EXPECT_EQ(at, path.to);
    }
  }
}

} // namespace
} // namespace ovnitrace
