// SPDX-License-Identifier: BSD-2-Clause
// Who had a CPU while threads waited for it.
#pragma once

#include "emulator/core/state_observer.h"
#include "emulator/why/who.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// Follows who has each CPU, and gives the time of each thread that waits there to him. Memory
/// depends on CPUs and threads; a switch costs a step for each thread that waits for its CPU.
///
/// The trace says where a new thread waits only when it gets its CPU. Then it has the last 1024 who
/// had that one; what is older is not known.
class CpuHolders {
public:
  /// Takes what is found.
  class Taker {
  public:
    /// While `thread` waited from `start` to `end`, this one had its CPU. Together these are the
    /// whole wait, without a gap, in their order.
    virtual void held(uint32_t thread, Who holder, uint64_t start, uint64_t end) = 0;

  protected:
    ~Taker() = default;
  };

  CpuHolders(const Catalog &catalog, Taker &taker);

  /// As SliceSink::on_change(). `next`: who gets the CPU that the thread leaves, where an event
  /// says it.
  void change(uint32_t thread, const StateChange &change, uint64_t time, Who next);
  /// Events of a CPU are missing from now on, or from now on no more.
  void set_dark(uint32_t cpu, bool dark, uint64_t time);
  /// Gives out the wait of a thread up to now; it goes on waiting.
  void settle(uint32_t thread, uint64_t time);

private:
  struct Waiting {
    uint32_t thread;
    uint64_t since; ///< ns: on this CPU
  };
  /// Who had it before, until now.
  struct Past {
    Who who;
    uint64_t since, until; ///< ns
  };
  struct Held {
    Who who;
    uint64_t since = 0;                ///< ns
    Who nobody = Who::Kind::not_known; ///< while no thread is known to run there
    bool dark = false;
    std::vector<Waiting> waiting;
    std::vector<Past> past; ///< a ring, kMostPast at most
    size_t oldest = 0;      ///< in it, once it is full
  };
  struct Place {
    uint32_t cpu = kNone;   ///< index into cpus_; kNone: it does not wait
    uint32_t index = kNone; ///< in `waiting`
  };

  static constexpr size_t kMostPast = 1024;

  void remember(Held &held, uint64_t time);
  void place(uint32_t thread, uint32_t cpu, uint64_t time);
  void give(uint32_t cpu, Who who, uint64_t time);
  void wait(uint32_t thread, uint32_t cpu, uint64_t time);
  void stop_waiting(uint32_t thread, uint64_t time);

  std::vector<Place> place_; ///< by thread
  std::vector<Held> cpus_;   ///< the last one: no CPU
  Taker &taker_;
};

} // namespace ovnitrace
