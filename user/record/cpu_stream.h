// SPDX-License-Identifier: BSD-2-Clause
// Puts everything that comes from one CPU in order of time and into chunks.
#pragma once

#include "user/chunk/chunk_writer.h"
#include "user/record/family_queue.h"
#include "user/record/stage_reader.h"
#include "user/ring/ring_buffer.h"

#include <ovnitrace/capture.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>

namespace ovnitrace {

/// How much one CPU logged.
struct CpuCount {
  uint64_t events = 0;        ///< transitions logged, lost ones included
  uint64_t lost = 0;          ///< of them, found no room in the ring
  uint64_t family_events = 0; ///< events of other families, lost ones included
  uint64_t family_lost = 0;
};

/// Returns what one CPU logged, lost events included, without what came after the end. `families`:
/// its counts of the other families; may be null. `late`: CpuStream::late().
CpuCount recorded_of(const cpu_stage &stage, const volatile family_count *families,
                     const CpuCount &late);

/// Merges the events of one CPU. Transitions come in order, up to 31 of them late because they are
/// staged. Life events, blackouts and events of other families wait for the transitions before
/// them.
class CpuStream {
public:
  /// `end`, ns, outlives it: what was logged later is left out.
  CpuStream(ChunkWriter &&writer, const std::atomic<uint64_t> &end)
      : writer_(std::move(writer)), end_(end) {}

  /// Sets the ring of a CPU that was there at the beginning. `fd` stays the caller's.
  void set_ring(int fd, size_t bytes) { ring_.emplace(fd, bytes); }

  /// Notes where the producer is `now` (ns): drain() reads up to there.
  void note_position(uint64_t now) {
    until_ = ring_ ? ring_->produced() : 0;
    now_ = now;
  }
  /// Returns how many bytes of the ring are taken now.
  uint64_t ring_used() const { return ring_ ? ring_->used() : 0; }
  /// Reads messages. Returns false if a message is still being written: that message and those
  /// behind it are for the next look.
  bool drain();

  /// Takes what was staged at the last look, which was at `settled` (ns), and writes everything
  /// that is older than that, unless the staging area cannot be read now. Events of a CPU that
  /// rarely switches therefore do not wait for long.
  void settle(const volatile cpu_stage &stage, uint64_t settled);
  /// Returns a time (ns): all older events were written. 0: not known yet.
  uint64_t settled() const { return settled_; }

  void add_life(const life_record &life) { add({Waiting::kLife, life.time, 0, {}, life}); }
  /// Notes that from `time` (ns) on it is not known which thread runs on this CPU.
  void add_region_stop(uint64_t time) { add({Waiting::kRegionStop, time, 0, {}, {}}); }
  /// Writes nothing from `time` (ns) on, or writes again.
  void add_pause(uint64_t time, bool on) {
    add({on ? Waiting::kPause : Waiting::kResume, time, 0, FTRACE_BLACKOUT_PAUSED, {}});
  }
  void add_mark(uint64_t time, uint16_t number) {
    add({Waiting::kMark, time, number, FTRACE_BLACKOUT_TRANSITIONS, {}});
  }
  void add_blackout(uint64_t start, uint64_t end, uint64_t lost, ftrace_blackout what);

  /// Takes what is left in the staging area, and then everything that waits. REQUIRES: detached
  void take_stage(const cpu_stage &stage);
  /// Counts records and events as ChunkWriter does.
  void expire(uint32_t tid, uint64_t time) { writer_.expire(tid, time); }
  void pass_on(uint64_t now) { writer_.pass_on(now); }
  /// Ends the file.
  void finish() { writer_.finish(end_); }

  const ChunkWriter &writer() const { return writer_; }
  /// What to subtract from the kernel's counts: events that were logged after the end or during a
  /// pause, and losses that were read in the staging area after all.
  const CpuCount &late() const { return late_; }

private:
  /// Something rare that waits for its turn in time.
  struct Waiting {
    enum Kind { kLife, kBlackoutStart, kBlackoutEnd, kRegionStop, kPause, kResume, kMark } kind;
    uint64_t time;
    uint64_t lost; ///< of a mark: its number
    ftrace_blackout what;
    life_record life;
  };

  void add(const Waiting &waiting);
  void take_family(const family_record &record);
  void take_batch(const sched_batch &batch, uint32_t count);
  void take_loss(const sched_batch &batch, uint32_t count, uint32_t rescued);
  void take_transition(const SchedTransition &record);
  void write_until(uint64_t time);
  void write(const Waiting &waiting);
  void start_blackout(uint64_t time, ftrace_blackout what);
  void end_blackout(uint64_t time, uint64_t lost, ftrace_blackout what);
  void find_first();

  std::optional<RingBuffer> ring_;
  ChunkWriter writer_;
  const std::atomic<uint64_t> &end_;
  StageReader stage_;
  std::deque<Waiting> waiting_; ///< by time
  FamilyQueue families_;
  uint64_t first_ = UINT64_MAX; ///< time of the first that waits, in either
  uint64_t until_ = 0;          ///< position of the producer, for the look under way
  uint64_t now_ = 0;            ///< ns: when that was, by which records have their whole time
  uint64_t settled_ = 0;
  bool paused_ = false; ///< nothing is written
  uint32_t dark_ = 0;   ///< kinds of blackouts that hide states and have not ended: a bit for each
  CpuCount late_;
};

} // namespace ovnitrace
