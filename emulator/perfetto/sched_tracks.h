// SPDX-License-Identifier: BSD-2-Clause
// Writes who runs on each CPU and who wakes whom, as events of the kernel's own trace. Perfetto
// makes its tracks of CPUs and of thread states of them.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/core/system.h"
#include "emulator/perfetto/event_tracks.h"
#include "emulator/perfetto/sched_bundle.h"
#include "emulator/perfetto/task_names.h"
#include "emulator/slices/slice.h"

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ovnitrace::perfetto {

class SchedTracks {
public:
  struct Counts {
    uint64_t runs = 0, wakeups = 0;
    uint64_t without_cpu = 0; ///< runs left out: on no CPU
    uint64_t doubled = 0;     ///< runs shortened or left out: another thread had the CPU
  };

  /// Borrows all but the range. `kept`: as from kept_threads().
  SchedTracks(const Catalog &catalog, TimeRange range, const std::vector<uint8_t> &kept,
              TaskNames &names, EventTracks &tracks, PacketFile &file);

  /// Takes an event in the range, before its effect.
  void event(const Event &event, const System &system);
  /// Takes a Running slice, in the order of their ends.
  void run(const Slice &slice);
  /// Takes a Paused slice that was blocked in `where`, which is not empty.
  void blocked(const Slice &slice, const std::string &where);
  /// Notes that events of this CPU may be missing before the next ones.
  void lose(uint32_t cpu) { cpus_[cpu].bundle.set_lost(); }
  /// Adds any event, made by ftrace_event(), logged on this CPU (kNone: not known).
  void add_event(uint32_t cpu, std::string_view fields);
  /// Writes everything that is left.
  void finish();
  const Counts &counts() const { return counts_; }

private:
  struct CpuTrack {
    explicit CpuTrack(uint32_t number) : number(number), bundle(number) {}
    uint32_t number;
    SchedBundle bundle;
    uint32_t thread = kNone; ///< ran last; kNone: nobody yet; kOutside: an untraced thread
    uint64_t end = 0;        ///< ns, of that run
    uint32_t state = 0;      ///< after it
    bool ended = false;      ///< false: the range cut the run off
    bool started = false;    ///< it has an entry
  };

  CpuTrack &start(uint32_t cpu);
  void put(CpuTrack &track) {
    if (track.bundle.full())
      track.bundle.write(file_);
  }
  void waking(const Event &event, const System &system);
  void show_outside(CpuTrack &track, uint64_t time, uint32_t tid);
  void add_waking(uint32_t cpu, uint64_t time, uint32_t waker, const Task &task, uint32_t target);

  static constexpr uint32_t kOutside = kNone - 1;

  const Catalog &catalog_;
  TimeRange range_;
  const std::vector<uint8_t> &kept_;
  TaskNames &names_;
  EventTracks &tracks_;
  PacketFile &file_;
  std::unordered_set<uint32_t> outside_;              ///< tids of untraced threads that were shown
  std::unordered_map<std::string, uint32_t> reasons_; ///< their numbers in the file
  std::vector<CpuTrack> cpus_;                        ///< by index into Catalog::cpus; at least one
  Counts counts_;
};

} // namespace ovnitrace::perfetto
