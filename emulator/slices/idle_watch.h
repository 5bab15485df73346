// SPDX-License-Identifier: BSD-2-Clause
// Finds out whether a thread that waited for a CPU could have run on another, idle one.
#pragma once

#include "emulator/core/system.h"
#include "emulator/format/event.h"
#include "emulator/slices/idle_causes.h"
#include "emulator/slices/slice.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// How long CPUs were idle while a thread waited. All 0 if not known.
struct IdleElsewhere {
  bool known = false;
  IdleTimes causes = {}; ///< time in which at least one CPU was idle
  // Without the CPU on which it first waited:
  uint64_t ns = 0; ///< ns in which another CPU was idle that the thread may use
  /// The CPU that was idle longest, index into System::cpus(); kNone: none was.
  uint32_t cpu = kNone;
  uint64_t cpu_ns = 0;            ///< of that CPU
  uint64_t forbidden_ns = 0;      ///< ns in which only CPUs were idle that it may not use
  uint32_t forbidden_cpu = kNone; ///< the one of them that was idle longest
  uint64_t forbidden_cpu_ns = 0;
};

/// Answers for slices of a replay whether another CPU was idle. Takes the events of that replay,
/// which must show all threads (an empty cut, or one by time alone).
///
/// A CPU is idle from when a thread leaves it without a successor until the next dispatch. That is
/// seen if every thread was captured (HostInfo::all_threads). Otherwise a CPU is idle while it is
/// in an idle state (family power). That is known from the first such event on, or once something
/// shows that each CPU of the host was busy. A CPU is not taken to be idle before, and in a
/// blackout. Therefore the time may be too short, never too long.
///
/// The answer is not known in these cases:
/// - the trace does not say which CPUs the thread may use, or that changed during the wait;
/// - a cut cuts the wait off;
/// - nothing says when CPUs are idle;
/// - there is no room left for the wait or the mask.
/// A throttled thread does not wait for a CPU.
///
/// Memory grows with threads × CPUs, up to a limit: a trace can name many of both. An event costs
/// as much as there are different affinities with its CPU. The start of a wait costs as much as
/// there are CPUs.
class IdleWatch {
public:
  /// `room`: how many times of CPUs it keeps for the waits of all threads, and how many for masks.
  explicit IdleWatch(size_t room = 1 << 24) : room_(room) {}

  /// Takes an event before the replay handles it, as SliceSink::on_event() does.
  void on_event(const Event &event, const System &system);
  /// Adds the CPUs that a thread may use now, by index into System::cpus(). Returns whether they
  /// are known.
  bool add_allowed(uint32_t thread, std::vector<uint8_t> &cpus) const;
  /// Returns the answer for a Cooling or Warming slice, when it is handed over.
  IdleElsewhere of(const Slice &slice);

private:
  /// The time in which a condition holds, up to `now_`.
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
  /// The CPUs that some threads may use. Equal masks are shared; each host has a mask of all its
  /// CPUs.
  struct Mask {
    std::vector<uint64_t> cpus; ///< a bit for each, by index into System::cpus()
    uint32_t threads = 0;       ///< threads with this mask; 0: free
    uint32_t idle = 0;          ///< how many of its CPUs are idle
    uint32_t sum = 0;           ///< of the indices of idle CPUs: the idle CPU if there is one
    Counter any;                ///< time in which at least one is idle
    std::vector<Counter> only;  ///< by CPU: time in which no other is idle
  };
  struct Wait {
    uint64_t start = UINT64_MAX;
    bool known = false;
    uint32_t cpu = kNone; ///< where it waits
    uint64_t allowed = 0; ///< idle time of its mask at the start, without `cpu`
    uint64_t all = 0;     ///< idle time of all CPUs of its host at the start, without `cpu`
    uint64_t any_allowed = 0, any = 0; ///< of its mask, and of all CPUs of its host, at the start
    uint32_t here = kNone;             ///< where it waits now
    uint64_t here_idle = 0;            ///< idle time of `here` when it came there
    uint64_t in_flight = 0;            ///< idle time of the CPUs where it was before
    std::vector<uint64_t> idle;        ///< of each CPU, at the start
  };
  struct Affinity {
    uint32_t host = 0;
    uint32_t mask = kNone; ///< index into masks_, kNone: not known
    bool may_run = false;  ///< was not throttled when it last left a CPU, or has quota again
    Wait wait;
  };
  struct Cpu {
    Counter idle;
    std::vector<uint32_t> masks; ///< with this CPU
    bool seen = false;           ///< it was busy
  };

  size_t words() const { return (cpus_.size() + 63) / 64; } ///< of a mask
  void prepare(const System &system);
  void see(uint32_t cpu, uint32_t host);
  void take_idle(const Event &event, const System &system);
  void set_idle(uint32_t cpu, bool idle);
  void count(Mask &mask, uint32_t cpu, bool idle);
  uint64_t idle_time(uint32_t mask, uint32_t without, uint64_t until) const;
  void start_wait(uint32_t thread, const Thread &of, uint32_t cpu);
  void move_wait(uint32_t thread, uint32_t cpu);
  uint64_t idle_here(const Affinity &thread, uint64_t until) const;
  void take_affinity(const Event &event, const System &system);
  uint32_t use_mask(std::vector<uint64_t> cpus);
  void drop_mask(uint32_t thread);
  void take_blackout(const Event &event, const System &system);

  void end(uint32_t thread);

  size_t room_;
  size_t waits_ = 0;               ///< threads whose wait has room
  size_t most_masks_ = SIZE_MAX;   ///< the masks of hosts always fit
  uint64_t now_ = 0;               ///< ns: time of the last event
  std::vector<uint8_t> says_idle_; ///< by host: whether something says when its CPUs are idle
  std::vector<uint32_t> unseen_;   ///< by host: CPUs; one more if its idle states are not captured
  std::vector<uint32_t> all_cpus_; ///< by host: its mask of all CPUs
  std::vector<Cpu> cpus_;
  std::vector<Affinity> threads_;
  std::vector<Mask> masks_;
};

} // namespace ovnitrace
