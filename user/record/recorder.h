// SPDX-License-Identifier: BSD-2-Clause
// Drains the rings of a capture into chunks.
#pragma once

#include "emulator/base/unique_fd.h"
#include "user/bpf/capture.h"
#include "user/bpf/family_capture.h"
#include "user/chunk/inheriting_mutex.h"
#include "user/chunk/thread_registry.h"
#include "user/record/cgroup_paths.h"
#include "user/record/command_lines.h"
#include "user/record/cpu_stream.h"
#include "user/record/life_events.h"
#include "user/stacks/stack_capture.h"

#include <atomic>
#include <functional>
#include <future>
#include <latch>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace ovnitrace {

/// The threads that were seen.
struct ThreadsSoFar {
  ThreadRegistry registry;
  CommandLines command_lines; ///< of what they have executed since the capture began
};

/// The reader: one thread that sleeps until a ring crosses its watermark (or a tenth of a second
/// has passed), then empties all of them.
///
/// The order of one look: it notes where the CPUs' rings end, reads the life ring, and then reads
/// the CPUs' rings up to the noted ends. A thread's creation is in the life ring before its first
/// transition can be in another ring, so the thread of each transition is known already.
class Recorder {
public:
  /// `capture`, `families`, `stacks` and `devices` (CauseCapture::devices()) may be null. They and
  /// `sink` outlive it. `begin`: ns. The thread takes its raised priority at once, while the
  /// process still may, and waits for start().
  Recorder(Capture &capture, FamilyCapture *families, StackCapture *stacks, const uint32_t *devices,
           ChunkPool &sink, uint64_t begin);
  ~Recorder();

  /// Calls `begin` on the recorder's thread, and reads from then on. Throws what it throws. The
  /// main thread may get no CPU for long once a program runs, so it must not be the one that
  /// opens the gate and then starts the reading.
  void start(std::function<void()> begin);

  /// Hands all that was read to the sink, full chunks or not, and returns when that is done.
  /// Returns a time (ns): the sink has all older events, but for what a CPU was just writing at
  /// that time. Between start() and finish(), by another thread than the sink's.
  uint64_t flush();

  /// Stops or continues recording with the next read. A paused trace has a blackout of kind
  /// FTRACE_BLACKOUT_PAUSED. Any thread may call it; after flush() it has happened.
  void pause(bool on) { pause_wanted_ = on; }

  /// Puts mark `number` (from 1 on) into the trace, at `time` (ns). For any thread.
  void mark(uint64_t time, uint16_t number);

  /// Leaves out what is logged after `end` (ns). Call it before Capture::detach(), which removes
  /// one program after the other. Events that only some programs have logged would be shown wrong:
  /// a tid that is used again, for instance.
  void end_at(uint64_t end) { end_ = end; }
  /// Reads what is left in rings and staging areas, and ends every file. REQUIRES:
  /// Capture::detach()
  void finish();

  /// Called on the recorder's thread when a region starts (true) or stops. Before start().
  void on_region(std::function<void(bool starts)> call) { lives_.on_region(std::move(call)); }

  /// Returns the cgroups of the threads that were seen so far. May be asked by any thread.
  const CgroupPaths &cgroups() const { return cgroups_; }

  // At any time, by any thread:
  uint64_t threads_so_far() const { return threads_so_far_; } ///< that were seen
  /// Returns a copy of what is known of the threads so far.
  ThreadsSoFar copy_threads();
  /// Returns a copy of the names of threads that are not traced.
  ThreadsSoFar copy_peers();
  /// Returns the most bytes that any CPU's ring held since the last call.
  uint64_t take_fullest_ring() { return fullest_ring_.exchange(0); }

  // After finish():
  const ThreadsSoFar &threads() const { return threads_; }
  const std::vector<CpuCount> &counts() const { return counts_; }
  uint64_t skipped_runs() const { return skipped_runs_; }
  uint64_t life_lost() const { return life_lost_; }
  uint64_t regions() const { return lives_.regions(); } ///< of --control, that started
  uint64_t records() const { return records_; }         ///< written to chunks
  uint64_t events() const { return events_; } ///< of them, events as `info` and `dump` count them

private:
  bool begins();
  void run();
  void look();
  void read_life();
  void read_cgroups();
  void read_command_lines();
  void take_marks();
  void warn_of_left_out();
  void notice_losses_somewhere();
  void notice_lost_families();

  Capture &capture_;
  FamilyCapture *const families_; ///< null: only the scheduler's
  StackCapture *const stacks_;    ///< null: none are taken
  ThreadsSoFar threads_;
  RingBuffer life_;
  RingBuffer cgroup_ring_;
  CgroupPaths cgroups_;
  std::optional<RingBuffer> cmdlines_; ///< none: they are not recorded
  std::vector<CpuStream> cpus_;
  std::vector<CpuCount> counts_;
  uint64_t skipped_runs_ = 0;
  uint64_t life_lost_ = 0;
  uint64_t records_ = 0, events_ = 0;
  bool warned_of_left_out_ = false;
  uint64_t somewhere_checked_ = 0;        ///< ns: when both were read last, which begins each look
  std::atomic<uint64_t> end_{UINT64_MAX}; ///< ns
  LifeEvents lives_{threads_.registry, cgroups_, cpus_, end_};
  UniqueFd epoll_, stop_event_, flush_event_;
  std::atomic<uint64_t> flushes_wanted_{0}, flushes_done_{0};
  std::atomic<uint64_t> flushed_{0}; ///< what the last flush returns
  std::atomic<bool> pause_wanted_{false};
  bool paused_ = false;
  InheritingMutex threads_mutex_; ///< while the reader changes threads_
  InheritingMutex marks_mutex_;
  std::vector<std::pair<uint64_t, uint16_t>> marks_; ///< time and number: not written yet
  std::atomic<uint64_t> threads_so_far_{0}, fullest_ring_{0};
  std::latch started_{1};
  std::function<void()> begin_;
  std::promise<void> began_;
  std::thread thread_;
};

} // namespace ovnitrace
