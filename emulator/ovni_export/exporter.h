// SPDX-License-Identifier: BSD-2-Clause
// Writes thread states over time as ovni streams that ovni's own emulator accepts.
#pragma once

#include "emulator/format/thread_state.h"
#include "emulator/input/source.h"
#include "emulator/ovni_export/legal_path.h"
#include "emulator/ovni_export/stream_store.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace ovnitrace::ovni {

/// Takes the state and CPU of each thread, and logs the events that lead there. docs/ovni.md lists
/// what ovni streams cannot hold.
///
/// ovni's emulator leaves the order of two streams' events at one time open, and refuses two
/// threads that run on one physical CPU. Therefore the changes of one instant are handled together.
/// Those that free a CPU are logged first, and a thread takes a CPU 1 ns after the last thread left
/// it. Times of a stream never decrease.
class Exporter {
public:
  struct Counts {
    uint64_t events = 0;    ///< logged, all streams
    uint64_t unnamed = 0;   ///< threads left out: ovni has no tid or pid 0 (the idle task)
    uint64_t renamed = 0;   ///< threads whose tid another one had before
    uint64_t conflicts = 0; ///< times that a CPU had two threads: the second is on the virtual CPU
    uint64_t gaps = 0;      ///< times that the state of a thread became unknown
  };

  /// Both must outlive it.
  Exporter(const Catalog &catalog, StreamStore &store);

  /// Adds the next thread of the catalog.
  void add_thread() { threads_.emplace_back(); }
  /// Puts `thread` in `state` on `cpu` from `time` on (ns, never decreasing). Both are indices of
  /// the catalog; kNone: no CPU. The last call at one time counts.
  void change(uint64_t time, uint32_t thread, ThreadState state, uint32_t cpu);
  /// Ends every thread at the end of the capture, as ovni requires. To be called once, at the end.
  void finish();

  const Counts &counts() const { return counts_; }
  size_t streams() const { return streams_; }

private:
  struct Place {
    ThreadState state = ThreadState::Unknown;
    uint32_t cpu = kNone;
  };
  struct Thread {
    Place now;    ///< as logged
    Place target; ///< after this instant
    uint32_t stream = kNone;
    uint64_t last = 0; ///< ns, of its last event
    bool pending = false;
    bool dropped = false; ///< has no possible name
    bool gap = false;     ///< between OF[ and OF]
  };
  struct Cpu {
    int32_t index = 0;        ///< in its loom, as events name it
    uint32_t running = kNone; ///< thread
    uint64_t free_since = 0;  ///< ns: time of the event that freed it
    bool was_used = false;
  };

  void settle();
  void leave(uint32_t id, Thread &thread);
  void enter(uint32_t id, Thread &thread);
  void walk(Thread &thread, Path steps, uint64_t time);
  void execute(Thread &thread, uint32_t cpu, uint64_t time);
  void transition(Thread &thread, char step, uint64_t time);
  void set_cpu(Thread &thread, uint32_t cpu, uint64_t time);
  void set_gap(Thread &thread, bool gap, uint64_t time);
  void begin_stream(uint32_t id, Thread &thread);
  int32_t free_tid(const ThreadInfo &info);
  int32_t cpu_index(uint32_t cpu) const;
  void log(Thread &thread, const char *letters, uint64_t time, std::string_view payload = {});
  int32_t tid_of(const Thread &thread) const { return tids_[thread.stream]; }

  const Catalog &catalog_;
  StreamStore &store_;
  std::vector<Thread> threads_;
  std::vector<Cpu> cpus_;
  std::vector<std::string> looms_;                           ///< names, by host
  std::vector<uint32_t> pending_;                            ///< threads that change at time_
  std::vector<int32_t> tids_;                                ///< by stream
  std::map<std::pair<uint32_t, uint32_t>, int32_t> app_ids_; ///< by (host, pid)
  std::set<uint32_t> looms_with_cpus_;                       ///< hosts whose CPUs a stream lists
  std::set<std::tuple<uint32_t, uint32_t, int32_t>> names_;  ///< (host, pid, tid) in use
  uint64_t time_ = 0;
  uint64_t latest_ = 0; ///< ns, of all events
  size_t streams_ = 0;
  Counts counts_;
};

} // namespace ovnitrace::ovni
