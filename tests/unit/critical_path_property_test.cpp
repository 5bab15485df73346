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
        say(p, end == part.to ? woken(part.woken_by) : "not_woken", start, end,
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
           : by == WokenBy::nobody  ? "not_woken"
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
  const unsigned plays = test::cases(50);
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

/// A run of a thread, and the time until its next run.
struct Turn {
  uint64_t from, away, back; ///< ns
  bool yields, blocks;       ///< neither: it is preempted
  bool run_spins = false, wait_spins = false;
};

/// Returns random turns. The runs and waits from a yield to the wait after the next one spin if the
/// thread does not block in between, and runs for less than 2 ms.
std::vector<Turn> random_turns(std::mt19937 &random, uint64_t start) {
  std::vector<Turn> turns;
  while (turns.size() < 60) {
    const uint64_t away = start + random() % (random() % 3 ? 1'200'000 : 3'000'000) + 1;
    const unsigned end = random() % 8;
    turns.push_back({start, away, away + random() % 1'000'000 + 1, end < 5, end == 7});
    start = turns.back().back;
  }
  for (size_t first = 0; first < turns.size(); first++) {
    uint64_t ran = 0;
    size_t last = first;
    do {
      if (++last < turns.size())
        ran += turns[last].away - turns[last].from;
    } while (last < turns.size() && !turns[last].yields && !turns[last].blocks);
    if (last == turns.size() || !turns[first].yields || !turns[last].yields || ran >= 2'000'000)
      continue;
    turns[first].wait_spins = true;
    for (size_t n = first + 1; n <= last; n++)
      turns[n].run_spins = turns[n].wait_spins = true;
  }
  return turns;
}

/// 22 always runs, so 11 can only spin for it. 33 runs when 11 does not.
TEST(CriticalPath, HasTheOtherThreadExactlyWhileThePathsThreadSpins) {
  constexpr uint64_t kStart = 1'000'000; // ns
  for (unsigned seed = 1; seed <= test::cases(50); seed++) {
    std::mt19937 random(seed);
    TempDir dir;
    TraceBuilder trace(dir.path());
    Texts truth;
    uint64_t since = kStart;
    std::string last;
    const auto say = [&](const std::string &what, const std::string &peer, uint64_t from) {
      if (!last.empty() && last != what + "|" + peer) {
        const size_t bar = last.find('|');
        truth.push_back(
            fmt::format("{} {}-{}{}", last.substr(0, bar), since, from, last.substr(bar + 1)));
        since = from;
      }
      last = what + "|" + peer;
    };
    auto &cpu = trace.cpu(0).at(kStart - 50).id(1, 11, 11, "a").id(3, 33, 33, "c");
    cpu.snapshot(1, 1, 0).snapshot(3, 5, 0).at(kStart).start();
    uint64_t end = 0;
    for (const Turn &turn : random_turns(random, kStart)) {
      say(turn.run_spins ? "22 running" : "11 running", "", turn.from);
      if (turn.blocks)
        say("11 interrupt", "", turn.away);
      else
        say(turn.wait_spins ? "22 running" : "11 waiting", turn.wait_spins ? "" : " peer=33",
            turn.away);
      cpu.at(turn.away);
      if (turn.blocks)
        cpu.sleep(1, 33).dispatch(3).at(turn.back).activate(1, 0, FTRACE_WAKER_HARDIRQ);
      else
        cpu.epilogue(1, 33, turn.yields ? FTRACE_OFFCPU_YIELDED : FTRACE_OFFCPU_PREEMPTED)
            .dispatch(3)
            .at(turn.back);
      cpu.epilogue(3, 11).dispatch(1);
      end = turn.back;
    }
    say("11 running", "", end);
    say("", "", end + 50);
    cpu.at(end + 50).stop();
    trace.cpu(1).at(kStart - 50).id(2, 22, 11, "b").snapshot(2, 1, 1).at(kStart).start();
    trace.cpu(1).at(end + 50).stop();
    trace.json(kHolders);
    trace.write();
    ASSERT_EQ(path_of(dir.path(), {11, {}}), truth) << "seed " << seed;
  }
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
