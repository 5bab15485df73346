// SPDX-License-Identifier: BSD-2-Clause
// Who runs on which CPU and who wakes whom, as the kernel's own trace says it: of these Perfetto
// makes its tracks of CPUs and of the states of threads.
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
    uint64_t without_cpu = 0; ///< runs that are left out: on no CPU
    uint64_t doubled = 0;     ///< runs that are cut short or left out: another thread had the CPU
  };

  /// Borrows all but the range. `kept`: as kept_threads() has it.
  SchedTracks(const Catalog &catalog, TimeRange range, const std::vector<uint8_t> &kept,
              TaskNames &names, EventTracks &tracks, PacketFile &file);

  /// An event in the range, before what it changes.
  void event(const Event &event, const System &system);
  /// One of state Running, in the order in which they end.
  void run(const Slice &slice);
  /// One of state Paused that was blocked in `where`, a text that is not empty.
  void blocked(const Slice &slice, const std::string &where);
  /// From here on events of this CPU may be missing before those that follow.
  void lose(uint32_t cpu) { cpus_[cpu].bundle.set_lost(); }
  /// Any event, made by ftrace_event(), that was logged on a CPU (kNone: not known on which).
  void add_event(uint32_t cpu, std::string_view fields);
  /// Writes what is left.
  void finish();
  const Counts &counts() const { return counts_; }

private:
  struct CpuTrack {
    explicit CpuTrack(uint32_t number) : number(number), bundle(number) {}
    uint32_t number;
    SchedBundle bundle;
    uint32_t thread = kNone; ///< who ran last; kNone: nobody yet; kOutside: one that is not traced
    uint64_t end = 0;        ///< ns, of that run
    uint32_t state = 0;      ///< after it
    bool ended = false;      ///< false: the range cut it off
    bool started = false;    ///< has an entry
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
  std::unordered_set<uint32_t> outside_; ///< tids of threads that are not traced and were shown
  std::unordered_map<std::string, uint32_t> reasons_; ///< their numbers in the file
  std::vector<CpuTrack> cpus_;                        ///< by index into Catalog::cpus; one at least
  Counts counts_;
};

} // namespace ovnitrace::perfetto
