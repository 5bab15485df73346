// SPDX-License-Identifier: BSD-2-Clause
// A machine of a few CPUs on which threads run, block, and wake one another at random: its trace,
// and what really happened.
#pragma once

#include "tests/unit/support/trace_builder.h"

#include <cstdint>
#include <random>
#include <vector>

namespace ovnitrace::test {

/// Plays with 2 to 7 threads on 1 to 3 CPUs. No two things happen at one time.
class ThreadPlay {
public:
  enum class Doing { running, waiting, blocked, ended };
  enum class WokenBy { nobody, thread, timer, device, outside, unknown };
  static constexpr uint64_t kStart = 1000;
  static constexpr uint32_t kOutside = 900; ///< tid of a thread that is not traced

  /// A time in which a thread did one thing.
  struct Part {
    Doing doing;
    uint64_t from, to;                  ///< ns
    int cpu = -1;                       ///< where it ran, or runs next: -1: nowhere
    WokenBy woken_by = WokenBy::nobody; ///< of a blocked one
    int waker = -1;
    int next = -1; ///< of a running one: the tid that got its CPU, if none of these has; 0: none
  };
  struct Player {
    std::vector<Part> life = {}; ///< without a gap, from its birth on
    int creator = -1;            ///< -1: it was there already
    bool born = true;
  };

  explicit ThreadPlay(unsigned seed) : random_(seed) {
    players_.resize(2 + pick(6));
    running_.assign(1 + pick(3), -1);
    for (int p = 0; p < count(); p++)
      enter(p);
    for (int n = 0; n < 150; n++) {
      time_ += 1 + pick(20);
      act(int(pick(running_.size())));
    }
    time_ += 1 + pick(20);
    for (Player &player : players_)
      if (player.born)
        player.life.back().to = time_;
  }

  static uint32_t tid_of(int player) { return 100 + uint32_t(player); }
  int count() const { return int(players_.size()); }
  uint64_t end() const { return time_; }
  const Player &player(int p) const { return players_[size_t(p)]; }

  void write(TraceBuilder &trace) const {
    for (size_t c = 0; c < running_.size(); c++) {
      ChunkBuilder &chunk = trace.cpu(uint16_t(c)).at(kStart - 10);
      for (int p = 0; p < count(); p++)
        chunk.id(uint16_t(p + 1), tid_of(p), tid_of(p), "thread", births_[size_t(p)]);
    }
    for (const Log &log : snapshot_)
      put(trace, log);
    for (size_t c = 0; c < running_.size(); c++)
      trace.cpu(uint16_t(c)).at(kStart).start();
    for (const Log &log : log_)
      put(trace, log);
    for (size_t c = 0; c < running_.size(); c++)
      trace.cpu(uint16_t(c)).at(time_).stop();
  }

private:
  struct Log {
    uint64_t time;
    int cpu;
    uint16_t code, par1;
    uint32_t par2;
  };

  static void put(TraceBuilder &trace, const Log &log) {
    trace.cpu(uint16_t(log.cpu)).at(log.time).record(log.code, log.par1, log.par2);
  }
  size_t pick(size_t below) { return size_t(random_() % below); }
  void log(int cpu, uint16_t code, int player, uint32_t par2 = 0) {
    log_.push_back({time_, cpu, code, uint16_t(player + 1), par2});
  }

  /// On a free CPU, blocked, or not there yet.
  void enter(int p) {
    Player &player = players_[size_t(p)];
    births_.push_back(0);
    if (p > 0 && pick(4) == 0) {
      player.born = false;
      return;
    }
    const bool runs = p < int(running_.size());
    player.life.push_back({.doing = runs ? Doing::running : Doing::blocked,
                           .from = kStart,
                           .to = 0,
                           .cpu = runs ? p : 0});
    if (runs)
      running_[size_t(p)] = p;
    const uint32_t state = runs ? 1 : 2;
    snapshot_.push_back({kStart - 5, 0, FTrace_EXT_snapshot, uint16_t(p + 1),
                         state | uint32_t(runs ? p : 0) << FTRACE_SNAPSHOT_CPU_SHIFT});
  }

  void change(int p, Doing doing, int cpu = -1) {
    Player &player = players_[size_t(p)];
    if (!player.life.empty())
      player.life.back().to = time_;
    player.life.push_back({.doing = doing, .from = time_, .to = 0, .cpu = cpu});
  }

  void act(int cpu) {
    const int now = running_[size_t(cpu)];
    switch (pick(8)) {
    case 0:
    case 1:
      return now < 0 ? dispatch(cpu) : leave(cpu, Doing::blocked);
    case 2:
      return now < 0 ? dispatch(cpu) : leave(cpu, Doing::waiting);
    case 3:
      return pick(8) || now < 0 ? dispatch(cpu) : leave(cpu, Doing::ended);
    case 4:
      return create(cpu);
    default:
      return wake(cpu);
    }
  }

  /// One that waits gets a CPU that nobody has.
  void dispatch(int cpu) {
    if (running_[size_t(cpu)] < 0)
      dispatch(cpu, waiting());
  }
  void dispatch(int cpu, int next) {
    if (next < 0)
      return;
    change(next, Doing::running, cpu);
    running_[size_t(cpu)] = next;
    log(cpu, FTrace_EVT_task_dispatch, next);
  }
  int waiting() {
    return some([](const Player &player) {
      return !player.life.empty() && player.life.back().doing == Doing::waiting;
    });
  }

  /// Who runs stops to. Another one follows at once, of the trace or not, or nobody.
  void leave(int cpu, Doing doing) {
    const int now = running_[size_t(cpu)], next = pick(3) ? waiting() : -1;
    const uint32_t other = pick(2) ? kOutside : 0, next_tid = next >= 0 ? tid_of(next) : other;
    Player &player = players_[size_t(now)];
    if (next < 0 && doing != Doing::ended) // the end of a thread does not say who comes
      player.life.back().next = int(other);
    change(now, doing, cpu);
    left_ = now;
    running_[size_t(cpu)] = -1;
    if (doing == Doing::ended)
      log(cpu, FTrace_EVT_task_end, now, tid_of(now));
    else if (doing == Doing::waiting)
      log(cpu, FTrace_EVT_task_epilogue, now,
          next_tid | FTRACE_OFFCPU_PREEMPTED << FTRACE_REASON_SHIFT);
    else
      log(cpu, FTrace_EVT_task_sleep, now, next_tid | FTRACE_OFFCPU_SLEEP << FTRACE_REASON_SHIFT);
    dispatch(cpu, next);
  }

  void create(int cpu) {
    const int child = some([](const Player &player) { return !player.born; });
    const int now = running_[size_t(cpu)];
    if (now < 0 || child < 0)
      return;
    Player &player = players_[size_t(child)];
    player.born = true;
    player.creator = now;
    births_[size_t(child)] = time_;
    if (pick(2))
      time_ += 1 + pick(5); // it is there a while before it is woken
    change(child, Doing::waiting);
    log(cpu, FTrace_EVT_task_activate, child, tid_of(now) | FTRACE_WAKEUP_NEW);
  }

  void wake(int cpu) {
    const int sleeper = some([](const Player &player) {
      return !player.life.empty() && player.life.back().doing == Doing::blocked;
    });
    if (sleeper < 0)
      return;
    const int now = running_[size_t(cpu)];
    Part &blocked = players_[size_t(sleeper)].life.back();
    const uint32_t tid = now < 0 ? 0 : tid_of(now);
    const auto activate = [&](uint32_t waker, uint32_t context) {
      log(cpu, FTrace_EVT_task_activate, sleeper, waker | context << FTRACE_REASON_SHIFT);
    };
    const auto interrupt = [&](uint16_t number, uint32_t context) {
      log_.push_back({time_, cpu, FTrace_EVT_interrupt_start, number, tid});
      activate(tid, context);
      log_.push_back({time_, cpu, FTrace_EVT_interrupt_end, number, tid});
    };
    const size_t kind = pick(8);
    if (kind == 0) {
      blocked.woken_by = WokenBy::timer;
      interrupt(FTRACE_INTERRUPT_VECTOR | 0xec, FTRACE_WAKER_HARDIRQ);
    } else if (kind == 1) {
      blocked.woken_by = WokenBy::device;
      interrupt(14, FTRACE_WAKER_HARDIRQ);
    } else if (kind == 2) {
      blocked.woken_by = WokenBy::unknown;
      activate(tid, FTRACE_WAKER_UNKNOWN);
    } else if (kind == 3 && left_ >= 0 && left_ != sleeper) { // it arrives late
      blocked.woken_by = WokenBy::thread;
      blocked.waker = left_;
      activate(tid_of(left_), FTRACE_WAKER_TASK);
    } else if (now >= 0) {
      blocked.woken_by = WokenBy::thread;
      blocked.waker = now;
      activate(tid, FTRACE_WAKER_TASK);
    } else {
      blocked.woken_by = WokenBy::outside;
      activate(kOutside, FTRACE_WAKER_TASK);
    }
    change(sleeper, Doing::waiting, blocked.cpu);
  }

  /// A player of those that `is` holds of, -1: none.
  template <class Is> int some(Is is) {
    std::vector<int> all;
    for (int p = 0; p < count(); p++)
      if (is(players_[size_t(p)]))
        all.push_back(p);
    return all.empty() ? -1 : all[pick(all.size())];
  }

  std::mt19937 random_;
  std::vector<Player> players_;
  std::vector<uint64_t> births_; ///< by player, 0: before the trace
  std::vector<int> running_;     ///< by CPU
  int left_ = -1;                ///< who left its CPU last
  uint64_t time_ = kStart;
  std::vector<Log> snapshot_, log_;
};

} // namespace ovnitrace::test
