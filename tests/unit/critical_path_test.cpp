// SPDX-License-Identifier: BSD-2-Clause
// The critical path: exactly what a machine of one's own did, from what a person would say of a few
// cases, and without a gap whatever the trace.
#include "emulator/base/error.h"
#include "emulator/critical/path.h"
#include "emulator/open/open_trace.h"
#include "tests/unit/support/collecting_sink.h"
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

/// Who gets the CPU of a thread is who has it: nobody waited for another one.
constexpr char kHolders[] = R"({"version": 1, "cpu_holders": true})";

using test::CollectingSink;
using test::random_schedule;
using test::TempDir;
using test::ThreadPlay;
using test::TraceBuilder;
using Texts = std::vector<std::string>;
using Doing = ThreadPlay::Doing;
using WokenBy = ThreadPlay::WokenBy;

constexpr const char *kNames[kCauses] = {"running", "waiting",   "throttled", "timer",   "io",
                                         "network", "interrupt", "outside",   "blocked", "ended",
                                         "unknown", "worker",    "unowned",   "spins"};

/// "tid running 100-200 peer=tid": the path in order.
Texts path_of(const std::string &dir, const PathQuery &query, const Cut &cut = {}) {
  CollectingSink sink;
  const auto source = open_trace({{dir}}, sink);
  CriticalPath path = critical_path(*source, {}, cut, query);
  const std::vector<ThreadInfo> &threads = source->catalog().threads;
  Texts texts;
  path.for_each([&](const PathSegment &segment) {
    const uint32_t peer =
        segment.peer.thread != kNone ? threads[segment.peer.thread].tid : segment.peer.tid;
    texts.push_back(fmt::format("{} {} {}-{}{}", threads[segment.thread].tid,
                                kNames[size_t(segment.cause)], segment.from, segment.to,
                                peer == kNone ? "" : fmt::format(" peer={}", peer)));
  });
  return texts;
}

/// What really happened, by the definition: who was blocked is not responsible for that time, but
/// who woke it, and whoever woke that one.
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
        wait(p, part, start, end);
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

  /// Who had the CPU where it waited, ns by ns.
  void wait(int p, const ThreadPlay::Part &part, uint64_t start, uint64_t end) {
    for (uint64_t at = start; at < end; at++)
      say(p, "waiting", at, at + 1, holder(part.cpu, at));
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
  size_t followed = 0;
  for (unsigned seed = 1; seed <= 300; seed++) {
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
  EXPECT_GT(followed, 5000u) << "paths that lead through other threads";
}

TEST(CriticalPath, HasNoGapWhateverTheTrace) {
  std::mt19937 random(7);
  for (int n = 0; n < 200; n++) {
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

class PathOf : public ::testing::Test {
protected:
  PathOf() : trace(dir.path()) { trace.json(kHolders); }

  Texts path(const PathQuery &query, const Cut &cut = {}) {
    trace.write();
    return path_of(dir.path(), query, cut);
  }

  TempDir dir;
  TraceBuilder trace;
};

/// 11 waits for 22, which waits for 33: 33's time until it woke 22 is 11's, but only since 11
/// itself was blocked.
TEST_F(PathOf, AChainGoesBackToWhereTheFirstOneWasBlocked) {
  auto &cpu = trace.cpu(0).at(50);
  cpu.id(1, 11, 11, "a").id(2, 22, 22, "b").id(3, 33, 33, "c").snapshot(1, 1, 0);
  cpu.snapshot(2, 2, 0).snapshot(3, 4, 0, FTRACE_OFFCPU_PREEMPTED).at(100).start();
  cpu.at(200).sleep(1, 33).dispatch(3).at(300).activate(2, 33).at(400).sleep(3, 22).dispatch(2);
  cpu.at(500).activate(1, 22).at(600).sleep(2, 11).dispatch(1).at(700).stop();
  EXPECT_EQ(path({11, {}}),
            (Texts{"11 running 100-200", "33 running 200-300", "22 waiting 300-400 peer=33",
                   "22 running 400-500", "11 waiting 500-600 peer=22", "11 running 600-700"}));
  Cut cut;
  cut.from = 250;
  cut.to = 450;
  EXPECT_EQ(path({11, {}}, cut), (Texts{"22 waiting 350-400 peer=33", "22 running 400-500",
                                        "11 waiting 500-550 peer=22"}));
}

/// As with -a. 22 ran longest, but has ended; 33 ran last.
TEST_F(PathOf, NobodyIsThatOfWhoRanLongestAndIsStillThere) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 22, 22, "b").id(3, 33, 33, "c");
  cpu.at(100).start().dispatch(1).at(200).epilogue(1, 22).dispatch(2).at(400).end(2, 33);
  cpu.dispatch(3).at(450).sleep(3, 11).dispatch(1).at(460).sleep(1, 33).dispatch(3).at(500).stop();
  EXPECT_EQ(path({}).back(), "11 blocked 460-500");
  Cut before_22_ended;
  before_22_ended.to = 290;
  EXPECT_EQ(path({}, before_22_ended).back(), "22 running 200-390");
}

/// As of a wakeup that another CPU makes, by an interrupt from the waker's.
TEST_F(PathOf, AWakeupThatArrivesLateWasOnItsWaySinceItsWakerLeft) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 22, 22, "b").id(3, 33, 33, "c");
  cpu.snapshot(1, 2, 0).snapshot(2, 1, 0).snapshot(3, 2, 0).at(100).start();
  cpu.at(200).sleep(2).at(250).activate(1, 22).at(260).dispatch(1).at(270).activate(3, 22);
  cpu.at(280).sleep(1, 33).dispatch(3).at(300).stop();
  EXPECT_EQ(path({11, {}}),
            (Texts{"22 running 100-200", "11 waiting 200-250", "11 waiting 250-260 peer=0",
                   "11 running 260-280", "11 blocked 280-300"}));
  EXPECT_EQ(path({33, {}}), (Texts{"22 running 100-200", "33 waiting 200-270",
                                   "33 waiting 270-280 peer=11", "33 running 280-300"}));
}

TEST_F(PathOf, ATimerOfAThreadIsKnownWhenItExpires) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 2, 0).at(100).start();
  const auto wake = [&] { cpu.activate(1, 0, FTRACE_WAKER_HARDIRQ).dispatch(1); };
  cpu.at(200).record(FTrace_EVT_timer_wakeup_start, 1, FTRACE_TIMER_SLEEP);
  wake();
  cpu.record(FTrace_EVT_timer_wakeup_end, 1, FTRACE_TIMER_SLEEP);
  cpu.at(300).sleep(1).at(400);
  wake();
  cpu.at(500).stop();
  EXPECT_EQ(path({11, {}}), (Texts{"11 timer 100-200", "11 running 200-300", "11 interrupt 300-400",
                                   "11 running 400-500"}));
}

TEST_F(PathOf, ABlockDeviceEndsItAlsoWhereAThreadThatIsNotTracedMakesTheWakeup) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 2, 0).at(100).start();
  uint64_t time = 200;
  for (const uint32_t context : {FTRACE_WAKER_HARDIRQ, FTRACE_WAKER_SOFTIRQ, FTRACE_WAKER_TASK}) {
    cpu.at(time).record(FTrace_EXT_device, 1, 8 << 20).activate(1, 99, context).dispatch(1);
    cpu.at(time + 50).sleep(1);
    time += 100;
  }
  cpu.at(450).stop();
  EXPECT_EQ(path({11, {}}), (Texts{"11 io 100-200", "11 running 200-250", "11 io 250-300",
                                   "11 running 300-350", "11 io 350-400", "11 running 400-450"}));
}

TEST_F(PathOf, AThreadIsThrottledUntilTheRefill) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
  cpu.at(200).epilogue(1, 22, FTRACE_OFFCPU_THROTTLED).dispatch(2).at(300);
  cpu.record(FTrace_EXT_refill, 1).at(400).epilogue(2, 11).dispatch(1).at(500).stop();
  EXPECT_EQ(path({11, {}}), (Texts{"11 running 100-200", "11 throttled 200-300",
                                   "11 waiting 300-400 peer=22", "11 running 400-500"}));
}

TEST_F(PathOf, ThreadsThatWakeOneAnotherAtOneTimeEndIt) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 22, 22, "b");
  cpu.snapshot(1, 2, 0).snapshot(2, 2, 0).at(100).start();
  cpu.at(200).activate(1, 22).activate(2, 11).dispatch(1).at(300).stop();
  EXPECT_EQ(path({11, {}}), (Texts{"11 blocked 100-200", "11 running 200-300"}));
}

TEST_F(PathOf, AWorkItemBelongsToWhoQueuedItFromThenOn) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 22, 22, "b");
  cpu.snapshot(1, 2, 0).snapshot(2, 1, 0).at(100).start();
  cpu.at(310).epilogue(2, 11).dispatch(1).at(400).stop();
  auto &other = trace.cpu(1).at(50).id(1, 11, 11, "a").id(3, 33, 33, "kworker/1:0");
  other.snapshot(3, 1, 1).at(300).record(FTrace_EXT_work, 1, 22);
  other.record(FTrace_EXT_work_age, 1, 80).activate(1, 33).at(400).stop();
  EXPECT_EQ(path({11, {}}), (Texts{"22 running 100-220", "22 worker 220-300 peer=33",
                                   "11 waiting 300-310 peer=22", "11 running 310-400"}));
}

TEST_F(PathOf, AWorkItemOfAnInterruptOrOfAThreadThatIsNotTracedEndsABlock) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 2, 0).at(100).start();
  const auto wake = [&](uint32_t queuer, uint32_t age) {
    cpu.record(FTrace_EXT_work, 1, queuer).record(FTrace_EXT_work_age, 1, age);
    cpu.activate(1, 33).dispatch(1);
  };
  cpu.at(200);
  wake(0, 20);
  cpu.at(300).sleep(1).at(400);
  wake(44, 30);
  cpu.at(500).sleep(1).at(600);
  wake(11, 150);
  cpu.at(700).stop();
  EXPECT_EQ(path({11, {}}),
            (Texts{"11 interrupt 100-180", "11 worker 180-200 peer=33", "11 running 200-300",
                   "11 outside 300-370 peer=44", "11 worker 370-400 peer=33", "11 running 400-500",
                   "11 worker 500-600 peer=33", "11 running 600-700"}));
}

TEST_F(PathOf, AWorkItemOfAnUnknownQueuerHasOnlyTheRunInWhichItWoke) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 22, 22, "b");
  cpu.snapshot(1, 2, 0).snapshot(2, 1, 0).at(100).start();
  cpu.at(310).epilogue(2, 11).dispatch(1).at(400).stop();
  auto &other = trace.cpu(1).at(50).id(1, 11, 11, "a").id(3, 33, 33, "kworker/1:0");
  other.id(2, 22, 22, "b").snapshot(3, 2, 1).at(150).activate(3, 22).at(160).dispatch(3);
  other.at(300).activate(1, 33).at(400).stop();
  EXPECT_EQ(path({11, {}}), (Texts{"11 unowned 100-160 peer=33", "33 running 160-300",
                                   "11 waiting 300-310 peer=22", "11 running 310-400"}));
}

/// Two threads take turns on a CPU and wait for a third one without blocking.
class SpinOf : public PathOf {
protected:
  static constexpr uint64_t kEnd = 400;
  /// From 150 on a and c yield to one another, 10 ns each, up to 290.
  void spin(uint32_t process_of_c) {
    auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(3, 33, process_of_c, "c");
    cpu.snapshot(1, 1, 0).snapshot(3, 5, 0).at(100).start();
    for (uint64_t at = 150; at < 290; at += 20) {
      cpu.at(at).epilogue(1, 33, FTRACE_OFFCPU_YIELDED).dispatch(3);
      cpu.at(at + 10).epilogue(3, 11, FTRACE_OFFCPU_YIELDED).dispatch(1);
    }
    cpu.at(kEnd).stop();
  }
};

TEST_F(SpinOf, TheOneThreadOfItsProcessThatDoesNotSpinIsResponsible) {
  spin(11);
  trace.cpu(1).at(50).id(2, 22, 11, "b").snapshot(2, 1, 1).at(100).start().at(kEnd).stop();
  EXPECT_EQ(path({11, {}}), (Texts{"11 running 100-150", "11 waiting 150-160 peer=33",
                                   "22 running 160-280", "11 running 280-400"}))
      << "it spins from its second yield on";
}

TEST_F(SpinOf, WhereNobodyElseOrMoreThanOneThreadCouldEndItItSpins) {
  spin(11);
  EXPECT_EQ(path({11, {}}),
            (Texts{"11 running 100-150", "11 waiting 150-160 peer=33", "33 waiting 160-170 peer=11",
                   "11 spins 170-280", "11 running 280-400"}))
      << "c does not spin yet when a already does";
}

TEST_F(PathOf, EndsWhereItsThreadDoes) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 1, 0).at(100).start();
  cpu.at(200).end(1, 11).at(500).stop();
  EXPECT_EQ(path({11, {}}), (Texts{"11 running 100-200"}));
}

TEST_F(PathOf, WithoutATidIsThatOfAThreadThatTheCutKeeps) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 22, 22, "b");
  cpu.snapshot(1, 1, 0).snapshot(2, 4, 0).at(100).start();
  cpu.at(300).epilogue(1, 22).dispatch(2).at(400).stop();
  Cut cut;
  EXPECT_EQ(path({{}, {}}, cut).back(), "11 waiting 300-400 peer=22");
  cut.comms = {"b*"};
  EXPECT_EQ(path({{}, {}}, cut).back(), "22 running 300-400");
}

TEST_F(PathOf, ASectionIsTheLongestOfItsNumber) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 22, 22, "b").snapshot(1, 1, 0);
  const auto section = [&](uint16_t code, uint32_t number) { cpu.record(code, 0, number); };
  constexpr uint16_t kStart = FTrace_EVT_user_event_13, kEnd = FTrace_EVT_user_event_14;
  cpu.at(100).start().at(200);
  section(kStart, 7);
  cpu.at(230);
  section(kEnd, 7);
  cpu.at(300);
  section(kStart, 7);
  cpu.at(320);
  section(kStart, 7); // within itself
  section(kEnd, 7);
  cpu.at(350).sleep(1, 22).dispatch(2).at(380).activate(1, 22).at(390).end(2, 22).dispatch(1);
  cpu.at(400);
  section(kEnd, 7);
  cpu.at(500);
  section(kStart, 8);
  cpu.at(600).stop();
  const Texts seven = {"11 running 300-350", "22 running 350-380", "11 waiting 380-390 peer=22",
                       "11 running 390-400"};
  EXPECT_EQ(path({{}, 7}), seven);
  EXPECT_EQ(path({11, 7}), seven);
  EXPECT_THROW(path({22, 7}), Error);
  EXPECT_THROW(path({{}, 8}), Error) << "it never ends";
  try {
    path({99, {}});
    ADD_FAILURE() << "there is no such thread";
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), kExitFailure) << "as every name that turns out not to exist";
  }
}

TEST(Spill, IsReadInBothDirectionsAlsoFromItsFile) {
  Spill<uint64_t> list(4); // records of a block
  for (uint64_t n = 0; n < 4 * 5 + 3; n++)
    list.append(n * n);
  ASSERT_EQ(list.count(), 23u);
  for (uint64_t n = 0; n < list.count(); n++)
    EXPECT_EQ(list.at(n), n * n);
  for (uint64_t n = list.count(); n-- > 0;)
    EXPECT_EQ(list.at(n), n * n);
}

TEST(Spill, AFileThatCannotBeMadeIsAnError) {
  TempDir dir;
  const char *before = getenv("TMPDIR");
  const std::string kept = before ? before : "";
  setenv("TMPDIR", (dir.path() + "/none").c_str(), 1);
  Spill<uint64_t> list(1);
  list.append(1);
  EXPECT_THROW(list.append(2), Error);
  before ? setenv("TMPDIR", kept.c_str(), 1) : unsetenv("TMPDIR");
}

TEST(MainThread, IsThatOfTheProgram) {
  Catalog catalog;
  catalog.threads = {{.tid = 5, .pid = 5, .parent = 1, .name = "shell"},
                     {.tid = 7, .pid = 7, .parent = 2, .name = "app"},
                     {.tid = 8, .pid = 7, .parent = 7, .name = "worker"}};
  TraceInfo info;
  EXPECT_EQ(main_thread(catalog, info), kNone) << "the whole machine";
  info.command = {"/bin/app", "x"};
  EXPECT_EQ(main_thread(catalog, info), 1u);
  info.command = {"/bin/other"};
  EXPECT_EQ(main_thread(catalog, info), kNone) << "two processes that nobody traced has made";
  catalog.threads[0].parent = 7;
  EXPECT_EQ(main_thread(catalog, info), 1u);
  info.program_pid = 8;
  EXPECT_EQ(main_thread(catalog, info), 2u) << "whatever it is called";
  info.attached_pids = {5};
  EXPECT_EQ(main_thread(catalog, info), 0u);
}

/// With -a, others have its name too.
TEST(MainThread, OfTheProgramIsTheFirstThatWasBornAfterTheCaptureStarted) {
  Catalog catalog;
  catalog.threads = {{.tid = 5, .pid = 5, .parent = 1, .name = "sh"},
                     {.tid = 7, .pid = 7, .parent = 9, .birth = 20, .name = "sh"},
                     {.tid = 8, .pid = 8, .parent = 9, .birth = 10, .name = "sh"},
                     {.tid = 9, .pid = 9, .parent = 1, .name = "ovnitrace"}};
  TraceInfo info;
  info.command = {"/bin/sh"};
  EXPECT_EQ(main_thread(catalog, info), 2u);
  info.command = {"/bin/ovnitrace"};
  EXPECT_EQ(main_thread(catalog, info), kNone) << "it was there before";
}

} // namespace
} // namespace ovnitrace
