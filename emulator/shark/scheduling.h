// SPDX-License-Identifier: BSD-2-Clause
// Turns the records of S.Ha.R.K. into the scheduler's events of docs/format.md.
#pragma once

#include "emulator/format/event.h"
#include "emulator/format/shark_rule.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ovnitrace::shark {

/// What a file logs at all, which decides how its records are understood.
struct FileHabits {
  bool switches = false;     ///< task_dispatch or context_switch: task_schedule only decides
  bool leavings = false;     ///< task_epilogue or task_sleep: a dispatch needs one before it
  bool begin_cycles = false; ///< task_begin_cycle: no other record begins a cycle
  bool interrupts = false;   ///< interrupt_start or timer_wakeup_start
};

/// What Scheduling needs to know about a thread.
struct ThreadFacts {
  uint32_t tid = 0;
  bool cyclic = false; ///< ends cycles
};

/// Takes each record of a file as an Event, and returns it with the events that it implies.
/// S.Ha.R.K. logs that a task got the CPU, seldom that another one left it, and never why. When a
/// task gets the CPU, the former one leaves it. It is blocked if it announced that (task_end_cycle,
/// mutex_wait, a task_schedule in which another runs for it), otherwise preempted.
class Scheduling {
public:
  Scheduling(const FileHabits &habits, const std::vector<ThreadFacts> &threads);

  /// Returns the running thread, kNone if it is not known.
  uint32_t running() const { return running_; }

  /// Returns the thread of a task_dispatch without a context: the one that was chosen since the
  /// last dispatch, or else the running one.
  uint32_t dispatched() const { return chosen_ == kNone ? running_ : chosen_; }

  /// Takes a record with its thread resolved and, for a schedule, its peer: the thread for which it
  /// runs. Discards what take() has not returned.
  void record(const Event &event, Meaning meaning);

  /// Returns the next of the events that the last record made. False at the end.
  bool take(Event &event);

private:
  enum class Wait : uint8_t { none, cycle, resource };
  struct State {
    ThreadFacts facts;
    bool in_cycle = false;
    uint32_t in_cycle_since = 0; ///< in_cycle is known since this blackout
    Wait waits = Wait::none;     ///< why it left the CPU,
    uint32_t since = 0;          ///< as known since this blackout
    uint32_t in_wait = kNone;    ///< waits_forgotten_ at a mutex_wait without a logged end
  };

  void put(const Event &event) { out_[count_++] = event; }
  /// Returns the record itself, with parameter 2 as in docs/format.md.
  void put_as_captured(uint32_t par2);
  void put_implied(uint32_t code, uint32_t thread, uint32_t par2 = 0, uint32_t peer = kNone);
  void activate(uint32_t par2, uint32_t peer);
  void release();
  void dispatch();
  void schedule();
  void gets_cpu(uint32_t thread);
  void leaves_cpu(uint32_t next);
  void left(uint32_t thread);
  void begin_cycle(uint32_t thread);
  void set_in_cycle(uint32_t thread, bool in_cycle);
  void set_wait(uint32_t thread, Wait wait);
  void ends_wait(uint32_t thread);
  void filter();
  void forget();

  FileHabits habits_;
  std::vector<State> threads_;
  uint32_t running_ = kNone;
  uint32_t chosen_ = kNone;      ///< by a task_schedule; has not got the CPU yet
  Wait about_to_ = Wait::none;   ///< what the running thread will wait for
  bool implied_ = false;         ///< its running was implied: its task_dispatch may follow
  bool known_ = false;           ///< a record since the last blackout says who runs
  uint32_t interrupts_ = 0;      ///< open ones, nested
  uint32_t blackouts_ = 0;       ///< seen so far
  uint32_t waits_forgotten_ = 0; ///< times that waits may have ended unseen
  Event now_;                    ///< the current record
  std::array<Event, 8> out_;
  size_t count_ = 0, taken_ = 0;
};

} // namespace ovnitrace::shark
