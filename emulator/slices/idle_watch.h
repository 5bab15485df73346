// SPDX-License-Identifier: BSD-2-Clause
// Whether a thread that waited for a CPU could have run on another one that was idle.
#pragma once

#include "emulator/core/system.h"
#include "emulator/format/event.h"
#include "emulator/slices/slice.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// While a thread waited for a CPU: how long at least one other CPU was idle. All 0 if it is not
/// known.
struct IdleElsewhere {
  bool known = false;
  uint64_t ns = 0;           ///< that it may use
  uint32_t cpu = kNone;      ///< index into System::cpus(): which was idle longest; kNone: none was
  uint64_t cpu_ns = 0;       ///< how long that one was
  uint64_t forbidden_ns = 0; ///< how long only such were that it may not use
  uint32_t forbidden_cpu = kNone; ///< of those the one that was idle longest
  uint64_t forbidden_cpu_ns = 0;
};

/// Takes the events of a replay that shows all threads (an empty cut, or one by time alone) and
/// answers for the slices that the same replay hands over.
///
/// A CPU is idle from the departure of a thread without a successor to the next dispatch there.
/// That is seen where every thread was captured (HostInfo::all_threads); else a CPU is idle while
/// it is in an idle state (family power). Where neither is known, before the first such event and
/// in a blackout of the CPU, it is not taken to be idle: the time may be too short, never too long.
///
/// It is not known for a thread of which the trace does not say which CPUs it may use, for a wait
/// in which that changed or that a cut cuts off, and where nothing says when CPUs are idle. A
/// throttled thread waits for no CPU. The CPU on which the thread waits at first does not count.
///
/// Memory: by threads × CPUs. Time: an event costs as much as there are different affinities with
/// its CPU; a wait that starts costs as much as there are CPUs.
class IdleWatch {
public:
  /// An event, before the replay handles it, as SliceSink::on_event() has it.
  void on_event(const Event &event, const System &system);
  /// Of a Cooling or Warming slice, when it is handed over.
  IdleElsewhere of(const Slice &slice);

private:
  /// Time in which a condition holds, counted up to `now_` when it is asked for.
  struct Counter {
    uint64_t total = 0, since = 0;
    bool on = false;
    void set(bool to, uint64_t now) {
      if (on)
        total += now - since;
      on = to;
      since = now;
    }
    uint64_t at(uint64_t now) const { return total + (on ? now - since : 0); }
  };
  /// The threads that may use the same CPUs share one; the host counts as one of all CPUs.
  struct Mask {
    std::vector<uint64_t> cpus; ///< a bit each, by index into System::cpus()
    uint32_t threads = 0;       ///< that have it; 0: to be used anew
    uint32_t idle = 0;          ///< how many of its CPUs are
    uint32_t sum = 0;           ///< of the indices of these: the CPU where it is one
    Counter any;                ///< at least one is idle
    std::vector<Counter> only;  ///< by CPU: no other is
  };
  struct Wait {
    uint64_t start = UINT64_MAX;
    bool known = false;
    uint32_t cpu = kNone;       ///< on which it waits
    uint64_t allowed = 0;       ///< of its mask, then, without `cpu`
    uint64_t all = 0;           ///< of all CPUs of its host
    std::vector<uint64_t> idle; ///< of each CPU
  };
  struct Affinity {
    uint32_t host = 0;
    uint32_t mask = kNone; ///< index into masks_, kNone: not known
    Wait wait;
  };
  struct Cpu {
    Counter idle;
    std::vector<uint32_t> masks; ///< those that have it
  };

  size_t words() const { return (cpus_.size() + 63) / 64; } ///< of a mask
  void prepare(const System &system);
  void take_idle(const Event &event, const System &system);
  void set_idle(uint32_t cpu, bool idle);
  void count(Mask &mask, uint32_t cpu, bool idle);
  uint64_t idle_time(uint32_t mask, uint32_t without, uint64_t until) const;
  void start_wait(uint32_t thread, const Thread &of, uint32_t cpu);
  void take_affinity(const Event &event, const System &system);
  uint32_t use_mask(std::vector<uint64_t> cpus);
  void drop_mask(uint32_t thread);
  void take_blackout(const Event &event);

  uint64_t now_ = 0;               ///< ns: of the last event
  std::vector<uint8_t> says_idle_; ///< by host: whether something says when its CPUs are
  std::vector<uint32_t> all_cpus_; ///< by host: the mask of all of them
  std::vector<Cpu> cpus_;
  std::vector<Affinity> threads_;
  std::vector<Mask> masks_;
};

} // namespace ovnitrace
