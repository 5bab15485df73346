// SPDX-License-Identifier: BSD-2-Clause
// Who had a CPU while threads waited for it.
#pragma once

#include "emulator/core/state_observer.h"
#include "emulator/why/culprit.h"
#include "emulator/why/explanation.h"
#include "emulator/why/sum_table.h"

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ovnitrace {

/// How long one holder had the CPU. Holders are numbers.
struct HolderSum {
  uint32_t holder = 0;
  uint64_t ns = 0;

  std::array<uint32_t, 1> key() const { return {holder}; }
};
using HolderSums = SumTable<HolderSum>;

/// Follows who has each CPU, and gives the time of each thread that waits there to him. Memory
/// depends on CPUs, threads and how many had a CPU. A switch costs a step for each thread that
/// waits then, of 1024 at most.
///
/// Who had a CPU is remembered for the last 1024 switches at least. Before it is forgotten, the
/// waits up to then are handed over: of 1024 threads by holder, of the rest as that of others. The
/// totals have all by holder.
///
/// Where every thread was captured, or a thread that waits makes its CPU say who has it
/// (HostInfo::cpu_holders), holders are exact. Else it is not known who has a CPU while no thread
/// of the trace runs there.
///
/// The trace says where a new thread waits only when it gets its CPU. Then it has the last 1024 who
/// had that one; what is older is not known.
class CpuHolders {
public:
  /// Takes what is found.
  class Taker {
  public:
    /// How long each had the CPU during a part of a wait. All calls together are the whole wait.
    virtual void held(uint32_t thread, WaitKind kind, const HolderSums &sums) = 0;

  protected:
    ~Taker() = default;
  };
  /// How long threads waited while one had their CPU.
  struct Total {
    uint32_t waiter = kNone; ///< a thread of their host; kNone: there is none
    std::array<uint64_t, kWaitKinds> ns = {};
  };

  /// `from`: ns; what is before it, or before the birth of a thread, does not count. Threads that
  /// are not `shown` do not wait.
  CpuHolders(const Catalog &catalog, uint64_t from, const std::vector<uint8_t> &shown,
             Taker &taker);

  /// As SliceSink::on_change(). `next`: who gets the CPU that the thread leaves, where an event
  /// says it. `kind`: if it waits now, after what.
  void change(uint32_t thread, const StateChange &change, uint64_t time, Culprit next,
              WaitKind kind);
  /// Who has a CPU from now on, as EXT_holder says, unless a thread is known to run there.
  void hold(uint32_t cpu, Culprit culprit, uint64_t time);
  /// Events of a CPU are missing from now on, or from now on no more.
  void set_dark(uint32_t cpu, bool dark, uint64_t time);
  /// Switches of the CPUs of a host for which nobody waits may not have been recorded until now, as
  /// before a region of --control.
  void forget_unwaited(uint32_t host, uint64_t time);
  /// Gives out the wait of a thread up to now; it goes on waiting.
  void settle(uint32_t thread, uint64_t time);
  /// A holder, by its number; 0 is kOthers.
  Culprit holder(uint32_t number) const { return holders_[number]; }
  /// By holder, of all that was handed over, however.
  std::vector<Total> totals() const;

  static constexpr uint32_t kOthers = 0;

private:
  struct Waiting {
    uint32_t thread;
    WaitKind kind;
    uint64_t since; ///< ns: on this CPU
  };
  /// While one had a CPU.
  struct Turn {
    uint32_t holder = kOthers;
    uint32_t waiter = kNone;              ///< as of a Total, as is `waited`
    uint64_t start = 0, end = UINT64_MAX; ///< ns
    std::array<uint64_t, kWaitKinds> waited = {};
  };
  struct Held {
    Culprit culprit;
    Turn turn; ///< his
    uint32_t host = 0;
    Culprit nobody = Culprit::Kind::not_known; ///< while no thread is known to run there
    bool exact = false; ///< who gets the CPU of a thread that leaves is all that is to be known
    bool told = false;  ///< who has it is recorded only while a thread waits
    bool dark = false;
    bool running = false; ///< `who` is a thread of the trace that runs there
    uint32_t waiters = 0; ///< threads that wait for it, shown or not
    std::vector<Waiting> waiting;
    std::vector<Turn> past; ///< before his, without a gap; fewer than 2 * kMostPast
  };
  struct Place {
    uint32_t cpu = kNone;   ///< index into cpus_; kNone: it does not wait
    uint32_t index = kNone; ///< in `waiting`
  };

  static constexpr size_t kMostPast = 1024, kMostWaiting = 1024;

  uint32_t number_of(Culprit culprit, uint32_t host);
  void add(Turn &turn, const Waiting &waiting, uint64_t until);
  static void add_total(std::vector<Total> &totals, const Turn &turn);
  void forget(Held &held, uint64_t time);
  void add_rest(Held &held, uint64_t time);
  static std::vector<Turn>::iterator first_turn(Held &held, const Waiting &waiting);
  void add_turns(Held &held, Waiting &waiting, uint64_t time);
  void hand_over(const Waiting &waiting);
  Turn &nobody_knows(uint32_t thread);
  void place(uint32_t thread, uint32_t cpu, uint64_t time);
  void give(uint32_t cpu, Culprit culprit, uint64_t time);
  void count_waiter(uint32_t cpu, bool more, uint64_t time);
  void forget_untold(uint32_t cpu, uint64_t time);
  void wait(uint32_t thread, uint32_t cpu, uint64_t time, WaitKind kind);
  void stop_waiting(uint32_t thread, uint64_t time);

  const Catalog &catalog_;
  const uint64_t from_;
  const std::vector<uint8_t> &shown_;
  std::vector<Place> place_;   ///< by thread
  std::vector<Held> cpus_;     ///< the last one: no CPU
  std::vector<uint32_t> dark_; ///< by host: how many of its CPUs are
  std::vector<Culprit> holders_;
  std::unordered_map<uint64_t, uint32_t> numbers_; ///< of holders: by host and Culprit
  std::vector<Total> totals_;                      ///< by holder: of turns that are forgotten
  HolderSums sums_;                                ///< to be handed over
  Taker &taker_;
};

} // namespace ovnitrace
