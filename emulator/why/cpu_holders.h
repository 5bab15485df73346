// SPDX-License-Identifier: BSD-2-Clause
// Finds who had a CPU while threads waited for it.
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

/// How long one holder held the CPU. Holders have numbers.
struct HolderSum {
  uint32_t holder = 0;
  uint64_t ns = 0;

  std::array<uint32_t, 1> key() const { return {holder}; }
};
using HolderSums = SumTable<HolderSum>;

/// Follows who has each CPU, and assigns the time of each thread that waits there to the holder.
/// Memory grows with CPUs, threads and the number of holders. A switch costs a step for each
/// waiting thread, up to 1024.
///
/// At least the last 1024 switches of a CPU are kept. Before older ones are dropped, the waits
/// during them are handed over: of up to 1024 threads by holder, and of all further threads as
/// waits behind `others`. The totals count every wait by holder.
///
/// Holders are exact if every thread was captured, or if the trace records who has a CPU while a
/// thread waits for it (HostInfo::cpu_holders). Otherwise it is not known who has a CPU while no
/// thread of the trace runs there.
///
/// The trace says where a new thread waits only when it gets its CPU. Its wait is then assigned to
/// the last 1024 holders of that CPU; older time is not known.
class CpuHolders {
public:
  /// Receives the results.
  class Taker {
  public:
    /// Takes how long each holder held the CPU during a part of a wait. All calls together cover
    /// the wait. `cpu`: an index into Catalog::cpus; kNone: not known.
    virtual void held(uint32_t thread, uint32_t cpu, WaitKind kind, const HolderSums &sums) = 0;

  protected:
    ~Taker() = default;
  };
  /// Receives which thread held each CPU, and when.
  class TurnTaker {
  public:
    /// Takes a time in which one holder had a CPU. The times of a CPU follow each other without a
    /// gap, from time 0 on.
    virtual void turn(uint32_t cpu, Culprit holder, uint64_t start, uint64_t end) = 0;

  protected:
    ~TurnTaker() = default;
  };
  /// How long threads waited while one holder had their CPU.
  struct Total {
    uint32_t waiter = kNone; ///< one of the threads that waited, to know the host; kNone: none
    std::array<uint64_t, kWaitKinds> ns = {};
  };

  /// `from`: ns; earlier time, and time before the birth of a thread, does not count. Threads that
  /// are not `shown` do not wait.
  CpuHolders(const Catalog &catalog, uint64_t from, const std::vector<uint8_t> &shown,
             Taker &taker);

  /// Takes a change as SliceSink::on_change() does. `next`: who gets the CPU that the thread
  /// leaves, if an event says it. `kind`: what its wait follows, if it waits now.
  void change(uint32_t thread, const StateChange &change, uint64_t time, Culprit next,
              WaitKind kind);
  /// Notes who has a CPU from now on, as EXT_holder says. Ignored if a thread is known to run
  /// there. The holder has the name that it had then.
  void hold(uint32_t cpu, Culprit culprit, uint64_t time);
  /// Notes that a thread which runs on a CPU may have another name from now on, as after an exec.
  void rename(uint32_t cpu, uint32_t thread, uint64_t time);
  /// Notes that events of a CPU are missing from now on, or no longer.
  void set_dark(uint32_t cpu, bool dark, uint64_t time);
  /// Forgets the holders of all CPUs of a host for which no thread waits: until now, their switches
  /// may not have been recorded, as before a region of --control.
  void forget_unwaited(uint32_t host, uint64_t time);
  /// Hands over all turns from now on, the last ones in end_turns(). `taker` outlives it.
  void take_turns(TurnTaker &taker) { turn_taker_ = &taker; }
  void end_turns(uint64_t time);
  /// Hands over the wait of a thread up to now. The thread goes on waiting.
  void settle(uint32_t thread, uint64_t time);
  /// Does the same. The thread waits no longer, if it did.
  void stop_waiting(uint32_t thread, uint64_t time);
  /// Returns the holder with this number; 0 is kOthers.
  Culprit holder(uint32_t number) const { return holders_[number]; }
  /// Returns the host of the CPUs that this holder had; 0 for kOthers.
  uint32_t host_of(uint32_t number) const { return hosts_[number]; }
  /// Returns, by holder, the sums of everything that was handed over.
  std::vector<Total> totals() const;

  static constexpr uint32_t kOthers = 0;

private:
  struct Waiting {
    uint32_t thread;
    WaitKind kind;
    uint64_t since; ///< ns: since when on this CPU
  };
  /// A time in which one holder had a CPU.
  struct Turn {
    uint32_t holder = kOthers;
    uint32_t waiter = kNone;              ///< as in Total, as is `waited`
    uint64_t start = 0, end = UINT64_MAX; ///< ns
    std::array<uint64_t, kWaitKinds> waited = {};
  };
  struct Held {
    Culprit culprit;
    Turn turn; ///< of the current holder
    uint32_t host = 0;
    Culprit nobody = Culprit::Kind::not_known; ///< the holder while no thread is known to run there
    bool exact = false; ///< who gets the CPU of a leaving thread is known exactly
    bool told = false;  ///< the holder is recorded only while a thread waits
    bool dark = false;
    bool running = false; ///< the holder is a thread of the trace that runs there
    uint32_t waiters = 0; ///< threads that wait for it, shown or not
    std::vector<Waiting> waiting;
    std::vector<Turn> past; ///< before `turn`, without a gap; fewer than 2 * kMostPast
  };
  struct Place {
    uint32_t cpu = kNone;   ///< index into cpus_; kNone: not waiting
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
  void hand_over(const Waiting &waiting, uint32_t cpu);
  Turn &nobody_knows(uint32_t thread);
  void place(uint32_t thread, uint32_t cpu, uint64_t time);
  void give(uint32_t cpu, Culprit culprit, uint64_t time);
  void count_waiter(uint32_t cpu, bool more, uint64_t time);
  void forget_untold(uint32_t cpu, uint64_t time);
  void wait(uint32_t thread, uint32_t cpu, uint64_t time, WaitKind kind);

  const Catalog &catalog_;
  const uint64_t from_;
  const std::vector<uint8_t> &shown_;
  std::vector<Place> place_;   ///< by thread
  std::vector<Held> cpus_;     ///< the last one is for "no CPU"
  std::vector<uint32_t> dark_; ///< by host: how many of its CPUs are dark
  std::vector<Culprit> holders_;
  std::vector<uint32_t> hosts_;                                 ///< of holders_
  std::vector<std::unordered_map<uint64_t, uint32_t>> numbers_; ///< by host: of holders, by Culprit
  std::vector<Total> totals_;                                   ///< by holder: of forgotten turns
  HolderSums sums_;                                             ///< to be handed over
  Taker &taker_;
  TurnTaker *turn_taker_ = nullptr;
};

} // namespace ovnitrace
