// SPDX-License-Identifier: BSD-2-Clause
// The two sentences of `why`: which words stand for which share of the time, from explanations made
// by hand.
#include "emulator/why/sentences.h"

#include <gtest/gtest.h>
#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace {
namespace {

constexpr uint16_t kRead = FTRACE_CALL_NATIVE, kWrite = FTRACE_CALL_NATIVE + 1; ///< x86-64's

class SentenceWords : public ::testing::Test {
protected:
  SentenceWords() {
    catalog.hosts = {{"node"}};
    catalog.hosts[0].machine = info.machine = "x86_64";
    why.range = {1000, 2000};
  }
  /// Adds a process of one thread, or a thread of process `pid`.
  uint32_t thread(const std::string &name, const ThreadTime &time, uint32_t pid = 0) {
    ThreadInfo &thread = catalog.threads.emplace_back();
    thread.tid = uint32_t(10 + catalog.threads.size());
    thread.pid = pid ? pid : thread.tid;
    thread.name = name;
    why.threads.push_back(time);
    why.shown.push_back(1);
    return uint32_t(catalog.threads.size() - 1);
  }
  /// Adds a thread that only holds CPUs and wakes others.
  uint32_t other(const std::string &name) {
    const uint32_t added = thread(name, {});
    why.shown[added] = 0;
    return added;
  }
  void held(uint32_t thread, Culprit holder, uint64_t ns, WaitKind kind = WaitKind::wakeup) {
    why.held.push_back({.thread = thread, .kind = kind, .holder = holder, .ns = ns});
  }
  void block(uint32_t thread, Block block, uint64_t ns, Culprit waker = {}) {
    why.blocks.push_back({.thread = thread, .block = block, .waker = waker, .ns = ns});
  }
  static Block in(uint16_t call, uint8_t reason = FTRACE_OFFCPU_SLEEP) { return {call, reason}; }
  static Culprit traced(uint32_t thread) { return {Culprit::Kind::thread, thread}; }
  std::string said() const { return answer_of(info, catalog, why).sentences; }
  /// Returns what follows the first sentence.
  std::string blocked() const {
    const std::string all = said();
    return all.substr(all.find(". ") + 2);
  }

  TraceInfo info;
  Catalog catalog;
  Explanation why;
};

TEST_F(SentenceWords, WithoutALifeTheReasonIsSaid) {
  thread("app", {.outside = 5, .gate = 5});
  EXPECT_EQ(said(), "No region of --control was open for these threads in this part of the trace.");
  why.threads[0].outside = 0;
  EXPECT_EQ(said(), "The program had not started in this part of the trace.");
  why.threads[0].gate = 0;
  why.threads[0].start_waits = 5;
  EXPECT_EQ(said(), "The program had not started in this part of the trace.");
  why.threads[0].start_waits = 0;
  EXPECT_EQ(said(), "None of these threads was alive in this part of the trace.");
}

TEST_F(SentenceWords, SeveralProgramsWere) {
  thread("a", {.running = 1, .unknown = 9});
  thread("b", {.unknown = 10});
  EXPECT_EQ(said(), "a, b (2 threads of 2 processes) ran for 5 % of their life and never waited "
                    "for a CPU. They were never blocked; 95 % is not known.");
  why.threads[0].running = 0;
  EXPECT_EQ(said(), "It is not known when a, b (2 threads of 2 processes) ran, waited for a CPU or "
                    "were blocked.");
}

TEST_F(SentenceWords, ASpinOfAHundredthIsSaid) {
  const uint32_t a = thread("a", {.running = 90, .waiting = 10, .spinning = 1});
  held(a, traced(other("hog")), 10);
  EXPECT_EQ(said(), "a (11) ran for 90 % of its life and waited 9 % for a CPU, nearly always "
                    "behind hog. It spins in sched_yield: for 1 % of its life, it had yielded, "
                    "perhaps because it had nothing to do. It was never blocked.");
  why.threads[a].running = 190;
  EXPECT_EQ(said(), "a (11) ran for 95 % of its life and waited 4 % for a CPU, nearly always "
                    "behind hog. It was never blocked.");
}

TEST_F(SentenceWords, SeveralProgramsSpin) {
  const ThreadTime spins = {.running = 8, .waiting = 2, .spinning = 2};
  thread("a", spins);
  thread("b", spins);
  EXPECT_EQ(said(),
            "a, b (2 threads of 2 processes) ran for 80 % of their life and never waited "
            "for a CPU. They spin in sched_yield: for 20 % of their life, they had yielded, "
            "perhaps because they had nothing to do. They were never blocked.");
}

TEST_F(SentenceWords, EachHolderHasItsWords) {
  const uint32_t app = thread("app", {.running = 50, .waiting = 50}), hog = other("hog");
  catalog.hosts[0].peers = {{.tid = 77, .pid = 77, .name = "cron"}};
  const auto words = [&](Culprit holder, WaitKind kind = WaitKind::wakeup) {
    why.held.clear();
    held(app, holder, 50, kind);
    const std::string all = said(), before = "for a CPU, nearly always ";
    const size_t from = all.find(before) + before.size();
    return all.substr(from, all.find(". ", from) - from);
  };
  EXPECT_EQ(words(traced(hog)), "behind hog");
  EXPECT_EQ(words(traced(app)), "behind itself");
  EXPECT_EQ(words({Culprit::Kind::untraced, 77}), "behind cron");
  EXPECT_EQ(words({Culprit::Kind::untraced, 78}), "behind threads without a name");
  EXPECT_EQ(words(Culprit::Kind::idle), "while an idle CPU woke up");
  EXPECT_EQ(words(Culprit::Kind::unseen), "while no traced thread had that CPU");
  EXPECT_EQ(words(Culprit::Kind::others), "behind an unknown holder");
  EXPECT_EQ(words(traced(hog), WaitKind::throttling), "because no CPU quota was left");
  EXPECT_EQ(words(traced(hog), WaitKind::period), "until the next period (SCHED_DEADLINE)");
}

TEST_F(SentenceWords, TheLargestPartOfTheWaitsIsNamedWithItsShare) {
  const uint32_t app = thread("app", {.running = 900, .waiting = 100});
  const auto words = [&](uint64_t hog, uint64_t cron) {
    why.held.clear();
    held(app, {Culprit::Kind::untraced, 70}, hog);
    held(app, {Culprit::Kind::untraced, 80}, cron);
    held(app, Culprit::Kind::idle, 100 - hog - cron);
    held(app, {Culprit::Kind::untraced, 80}, 500, WaitKind::spin);
    const std::string all = said(), before = "10 % for a CPU, ";
    const size_t from = all.find(before) + before.size();
    return all.substr(from, all.find(". ", from) - from);
  };
  catalog.hosts[0].peers = {{.tid = 70, .pid = 70, .name = "hog"},
                            {.tid = 80, .pid = 80, .name = "cron"}};
  EXPECT_EQ(words(90, 5), "nearly always behind hog");
  EXPECT_EQ(words(89, 11), "mostly behind hog");
  EXPECT_EQ(words(50, 30), "mostly behind hog");
  EXPECT_EQ(words(30, 49), "most of all behind cron (49 % of that)");
}

/// Each waits behind the other one. A third program sleeps.
TEST_F(SentenceWords, SeveralProgramsWaitEachBehindAnother) {
  const uint32_t a = thread("a", {.running = 500, .waiting = 400}),
                 b = thread("b", {.running = 500, .waiting = 100}), c = thread("c", {.blocked = 9});
  why.waits = {{.thread = a, .kind = WaitKind::wakeup, .holder = traced(b), .ns = 300},
               {.thread = a, .kind = WaitKind::wakeup, .holder = traced(a), .ns = 100},
               {.thread = b, .kind = WaitKind::wakeup, .holder = traced(a), .ns = 100},
               {.thread = b, .kind = WaitKind::spin, .holder = traced(a), .ns = 900},
               {.thread = c, .kind = WaitKind::wakeup, .holder = traced(a), .ns = 900}};
  held(a, Culprit::Kind::idle, 500); // the same by holder: not used
  EXPECT_EQ(said(), "a, b, c (3 threads of 3 processes) ran for 67 % of their life and waited 33 % "
                    "for a CPU, mostly behind b. They were never blocked. Threads that slept "
                    "nearly all the time are left out: 1.");
}

TEST_F(SentenceWords, LittleBlockingHasNoCall) {
  const uint32_t app = thread("app", {.running = 997, .blocked = 4});
  block(app, in(kRead), 4);
  EXPECT_EQ(blocked(), "It was blocked for less than 1 %.");
  why.threads[app].unknown = 200;
  EXPECT_EQ(blocked(), "It was blocked for less than 1 %; 17 % is not known.");
}

TEST_F(SentenceWords, UnknownTimeIsSaidIfItIsMoreThanAHundredth) {
  thread("app", {.running = 990, .unknown = 10});
  EXPECT_EQ(blocked(), "It was never blocked.");
  why.threads[0].unknown = 11;
  EXPECT_EQ(blocked(), "It was never blocked; 1 % is not known.");
}

TEST_F(SentenceWords, EachBlockHasItsWords) {
  const uint32_t app = thread("app", {.running = 50, .blocked = 50});
  const auto words = [&](Block of) {
    why.blocks.clear();
    block(app, of, 50, Culprit(Culprit::Kind::interrupt, uint32_t(InterruptSource::timer)));
    const std::string all = blocked(), end = " for 50 %, woken by a timer.";
    EXPECT_TRUE(all.ends_with(end)) << all;
    return all.substr(0, all.size() - end.size());
  };
  EXPECT_EQ(words(in(kRead)), "It was blocked in read");
  EXPECT_EQ(words(in(kRead, FTRACE_OFFCPU_DISK)), "It was blocked in read (uninterruptible)");
  EXPECT_EQ(words({kRead, FTRACE_OFFCPU_DISK, false, true}), "It was blocked in read (disk)");
  EXPECT_EQ(words(in(FTRACE_CALL_NONE)), "It was blocked outside system calls");
  EXPECT_EQ(words(in(FTRACE_CALL_NONE, FTRACE_OFFCPU_DISK)),
            "It was blocked outside system calls (uninterruptible)");
  EXPECT_EQ(words(in(FTRACE_CALL_UNKNOWN)), "It was blocked in calls that are not known");
  EXPECT_EQ(words(in(FTRACE_CALL_UNKNOWN, FTRACE_OFFCPU_DISK)),
            "It was blocked in uninterruptible sleep");
  EXPECT_EQ(words({FTRACE_CALL_UNKNOWN, FTRACE_OFFCPU_DISK, false, true}),
            "It was blocked on the disk");
  EXPECT_EQ(words({FTRACE_CALL_NONE, FTRACE_OFFCPU_DISK, true, true}),
            "It was blocked in page faults (disk)");
  EXPECT_EQ(words(in(kRead, FTRACE_OFFCPU_STOPPED)), "It was blocked as stopped by a signal");
  EXPECT_EQ(words(in(kRead, FTRACE_OFFCPU_TRACED)), "It was blocked as stopped by a debugger");
  EXPECT_EQ(words(in(kRead, FTRACE_OFFCPU_FROZEN)), "It was blocked as frozen (cgroup freezer)");
  EXPECT_EQ(words(in(kRead, FTRACE_OFFCPU_PARKED)), "It was blocked as parked kernel thread");
  EXPECT_EQ(words(in(kRead, FTRACE_OFFCPU_IDLE)),
            "It was blocked in an idle wait in the kernel (TASK_IDLE)");
}

TEST_F(SentenceWords, OnlyTheWakersOfTheLargestBlockCount) {
  const uint32_t app = thread("app", {.running = 100, .blocked = 100});
  const uint32_t loader = other("loader"), cron = other("cron");
  block(app, in(kRead), 60, traced(loader));
  block(app, in(kWrite), 40, traced(cron));
  EXPECT_EQ(blocked(), "It was blocked for 50 %, mostly in read, woken by loader (12).");
  block(app, in(kRead), 10, traced(cron));
  EXPECT_EQ(blocked(), "It was blocked for 50 %, mostly in read, mostly woken by loader (12).");
}

TEST_F(SentenceWords, AWakerThatIsNotKnownOrHasNotComeIsSaidSo) {
  const uint32_t app = thread("app", {.running = 100, .blocked = 100});
  block(app, in(kRead), 90);
  EXPECT_EQ(blocked(), "It was blocked in read for 50 %; who woke it is not known.");
  why.blocks[0].waker = Culprit::Kind::nobody;
  EXPECT_EQ(blocked(), "It was blocked in read for 50 %, and nobody has woken it.");
  block(app, in(kRead), 10);
  EXPECT_EQ(blocked(), "It was blocked in read for 50 %.");
  thread("b", {.running = 100, .blocked = 100});
  why.blocks = {why.blocks[1]};
  EXPECT_EQ(blocked(), "They were blocked in read for 50 %; who woke them is not known.");
  why.blocks[0].waker = Culprit::Kind::nobody;
  EXPECT_EQ(blocked(), "They were blocked in read for 50 %, and nobody has woken them.");
}

TEST_F(SentenceWords, OneOfSeveralWakersIsNamedIfItWokeFourFifths) {
  const uint32_t app = thread("app", {.running = 100, .blocked = 100});
  const uint32_t one = other("omp"), two = other("omp"), hog = other("hog");
  block(app, in(kRead), 80, traced(one));
  block(app, in(kRead), 20, traced(two));
  EXPECT_EQ(blocked(), "It was blocked in read for 50 %, mostly woken by omp (12).");
  why.blocks[0].ns = 79;
  EXPECT_EQ(blocked(), "It was blocked in read for 50 %, woken by omp (2 threads).");
  why.blocks[0].ns = 80;
  block(app, in(kRead), 60, traced(hog));
  EXPECT_EQ(blocked(), "It was blocked in read for 50 %, mostly woken by omp (12).");
  block(app, in(kRead), 1, traced(hog));
  EXPECT_EQ(blocked(), "It was blocked in read for 50 %, mostly woken by omp (2 threads).")
      << "omp (12) alone ended less than a half";
}

TEST_F(SentenceWords, UntracedWakersOfOneNameAreOneToo) {
  const uint32_t app = thread("app", {.running = 100, .blocked = 100});
  catalog.hosts[0].peers = {{50, 50, 0, "php"}, {51, 51, 0, "php"}};
  block(app, in(kRead), 80, {Culprit::Kind::untraced, 50});
  EXPECT_EQ(blocked(), "It was blocked in read for 50 %, woken by php (50), not traced.");
  block(app, in(kRead), 70, {Culprit::Kind::untraced, 51});
  EXPECT_EQ(blocked(), "It was blocked in read for 50 %, woken by php (2 threads), not traced.");
  block(app, in(kRead), 10, traced(other("php")));
  EXPECT_EQ(blocked(), "It was blocked in read for 50 %, woken by php (3 threads).");
}

TEST_F(SentenceWords, OwnThreadsMayWakeMostTogether) {
  const uint32_t app = thread("app", {.running = 100, .blocked = 100}), x = thread("x", {}, 11),
                 y = thread("y", {}, 11), hog = other("hog");
  block(app, in(kRead), 40, traced(hog));
  block(app, in(kRead), 25, traced(x));
  block(app, in(kRead), 20, traced(y));
  EXPECT_EQ(blocked(), "It was blocked in read for 50 %, mostly woken by its own threads.");
  block(app, in(kRead), 6, Culprit(Culprit::Kind::interrupt, uint32_t(InterruptSource::timer)));
  EXPECT_EQ(blocked(), "It was blocked in read for 50 %.");
}

TEST_F(SentenceWords, TheTimeOfAMachineIsThatOfAllItsCpus) {
  catalog.hosts[0].all_threads = true;
  catalog.cpus = {{.index = 0, .host = 0}, {.index = 1, .host = 0}};
  const uint32_t a = thread("x", {.running = 100, .waiting = 30}),
                 b = thread("y", {.running = 150});
  thread("x", {.running = 100});
  held(a, traced(b), 30);
  EXPECT_EQ(said(), "The 2 CPUs were busy for 18 % of 1.000 us, longest with x (10 %). Threads "
                    "waited 30 ns for a CPU, nearly always behind y.");
  why.dark = 20;
  why.threads[a].waiting = 0;
  EXPECT_EQ(said(), "The 2 CPUs were busy for 18 % of 1.000 us, longest with x (10 %). No thread "
                    "waited for a CPU.");
  why.dark = 21;
  EXPECT_EQ(said(), "The 2 CPUs were busy for 18 % of 1.000 us, longest with x (10 %); 1 % is not "
                    "known. No thread waited for a CPU.");
}

TEST_F(SentenceWords, TheMissingRegionsOfAllHostsAreNamed) {
  catalog.hosts.push_back({"other"});
  catalog.hosts[0].chains = {"a\nb", "c"};
  catalog.hosts[1].chains = {"d"};
  EXPECT_EQ(said(), "No region of --control started, so nothing was recorded: a?b, c, d.");
}

} // namespace
} // namespace ovnitrace
