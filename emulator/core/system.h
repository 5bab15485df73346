// SPDX-License-Identifier: BSD-2-Clause
// Keeps the threads and CPUs of a trace during a replay: their states, who is where, and channels.
#pragma once

#include "emulator/core/channel_bank.h"
#include "emulator/core/index_set.h"
#include "emulator/core/state_observer.h"
#include "emulator/core/thread.h"
#include "emulator/input/source.h"

#include <unordered_map>
#include <vector>

namespace ovnitrace {

struct SystemOptions {
  bool virtual_cpus = false; ///< each host has another CPU, for threads without one
  /// By thread; 1: no CPU shows it. Empty: all are shown, as are threads that are added later.
  std::vector<uint8_t> left_out;
};

/// The change of state that an event caused.
struct Transition {
  uint32_t thread = kNone; ///< kNone: there was none
  ThreadState from = ThreadState::Unknown, to = ThreadState::Unknown;
};

class System {
public:
  /// `catalog` must outlive it.
  System(const Catalog &catalog, const SystemOptions &options);
  System(const System &) = delete;
  System &operator=(const System &) = delete;

  const Catalog &catalog() const { return catalog_; }
  const std::vector<Thread> &threads() const { return threads_; }
  /// Returns the CPUs of the catalog, by index, then the virtual CPU of each host.
  const std::vector<Cpu> &cpus() const { return cpus_; }
  ChannelBank &channels() { return channels_; }
  const ChannelBank &channels() const { return channels_; }

  /// Adds the next thread of the catalog.
  void add_thread();
  /// Takes its tid from a thread that has ended.
  void free_tid(uint32_t thread);

  /// Returns the CPU of a host with this number, kNone if it has no such CPU.
  uint32_t find_cpu(uint32_t host, uint32_t index) const;
  /// Returns the virtual CPU of a host, kNone if there are no virtual CPUs.
  uint32_t virtual_cpu(uint32_t host) const;
  /// Returns the host of a CPU; kNone for kNone.
  uint32_t host_of(uint32_t cpu) const { return cpu == kNone ? kNone : cpus_[cpu].host; }
  /// Returns the thread of a host that has this tid at `time`, ns: the last one that was born by
  /// then and is not dead.
  uint32_t find_thread(uint32_t host, uint32_t tid, uint64_t time) const;

  /// Puts a thread into a state and on a CPU (kNone: on none), and notifies the channels that track
  /// it.
  void change(uint32_t thread, ThreadState state, uint32_t cpu);
  /// Returns the change since the last begin_event().
  const Transition &transition() const { return transition_; }
  void begin_event(uint64_t time) {
    transition_ = {};
    now_ = time;
  }
  /// Reports later changes to `observer`, which must live until the last one.
  void observe(StateObserver *observer) { observer_ = observer; }

  /// Prefetches what an event of this thread changes. Always inline: GCC would drop a call, as it
  /// has no effect.
  [[gnu::always_inline]] void prefetch(uint32_t thread) const {
    __builtin_prefetch(&threads_[thread], 1);
    known_.prefetch(thread);
    channels_.prefetch(thread);
  }

  /// Marks a thread as out of the CPU or back, as KCO and KCI of an ovni stream say. Not a
  /// transition.
  void set_out_of_cpu(uint32_t thread, bool on) { threads_[thread].out_of_cpu = on; }

  /// Returns the threads whose state a blackout makes unknown: those that are on a CPU, and those
  /// that are neither Unknown nor Dead.
  const IndexSet &known() const { return known_; }

  void set_blackout(uint32_t cpu, Blackout blackout);
  bool any_blackout(uint32_t host) const { return dark_[host].lost || dark_[host].forgotten; }
  /// Notes that none of the thread's later events are among forgotten ones.
  void set_whole(uint32_t thread) { threads_[thread].whole = true; }
  /// Notes whether the thread is not recorded from now on: it does not pass the filters of the
  /// capture.
  void set_left(uint32_t thread, bool left) { threads_[thread].left_at = left ? now_ : UINT64_MAX; }
  /// Returns whether the thread has left the filters: an event that follows was logged before, and
  /// late. After a blackout, an event may show that the thread passes them again: the record that
  /// says so may be lost.
  bool has_left(uint32_t thread) const {
    const Thread &of = threads_[thread];
    return of.left_at != UINT64_MAX && of.left_at >= dark_[of.host].changed;
  }
  /// Returns whether missing events may have taken a thread out of this state.
  bool may_have_left(uint32_t thread, ThreadState state, uint32_t cpu) const;

private:
  /// The blackouts of a host.
  struct Dark {
    uint32_t lost = 0, forgotten = 0; ///< CPUs in such a one
    uint64_t changed = 0;             ///< ns: when one last started or ended
  };

  /// Removes a thread from these sets of a CPU (kNone: of none), or adds it to them.
  template <bool joins>
  void list(uint32_t cpu, const Thread &thread, uint32_t index, uint32_t tracks);

  const Catalog &catalog_;
  std::vector<Thread> threads_;
  std::vector<Cpu> cpus_;
  IndexSet known_;
  bool virtual_cpus_;
  std::unordered_map<uint64_t, uint32_t> cpu_by_number_;      ///< host << 32 | index
  std::unordered_multimap<uint64_t, uint32_t> thread_by_tid_; ///< host << 32 | tid
  std::vector<Dark> dark_;                                    ///< by host
  Transition transition_;
  uint64_t now_ = 0; ///< ns: time of the event
  StateObserver *observer_ = nullptr;
  ChannelBank channels_; ///< after the vectors that it refers to
};

} // namespace ovnitrace
