// SPDX-License-Identifier: BSD-2-Clause
// Turns the transitions of one CPU into chunks of FTrace records, each readable alone.
#pragma once

#include "emulator/format/switch_record.h"
#include "user/chunk/chunk_pool.h"
#include "user/chunk/context_table.h"
#include "user/chunk/sched_transition.h"
#include "user/chunk/thread_registry.h"

#include <ovnitrace/capture.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace ovnitrace {

/// Writes the format of docs/format.md. Each chunk starts with the thread that runs on the CPU, if
/// that thread is known and traced, so that the chunk can be read alone. Transitions come in time
/// order.
///
/// Other records may come slightly late. A thread logs its creation, renaming or end with
/// interrupts on. An interrupt between its look at the clock and its message may log something that
/// is written first. What comes late is written at the time of the last record.
class ChunkWriter {
public:
  /// `sink` and `registry` outlive it. `begin`: the start of the capture, ns. What was logged
  /// before it (while a snapshot was taken) is written before trace_start.
  ChunkWriter(uint32_t cpu, uint64_t begin, const ThreadRegistry &registry, ChunkPool &sink);

  /// Returns the number of the stack that a record of SCHED_KIND_STACK names; 0 if it is not known.
  using StackNumber = std::function<uint32_t(const SchedTransition &record)>;
  /// Sets what numbers stacks. Without it, stacks are left out.
  void set_stacks(StackNumber number) { stack_number_ = std::move(number); }

  /// Sets the devices that wakeups name by their place: CAPTURE_DEVICES of them, which the kernel
  /// may be writing. They outlive this. Without them, devices are left out.
  void set_devices(const uint32_t *devices) { devices_ = devices; }

  void transition(const SchedTransition &record);
  /// `record.cgroup`: the number of the cgroup in trace.json.
  void life(const life_record &record);
  void family(const family_record &record);

  /// Writes mark `number` of `ovnitrace ctl`.
  void mark(uint64_t time, uint16_t number);

  void blackout_start(uint64_t time, ftrace_blackout what);
  void blackout_end(uint64_t time, uint64_t lost, ftrace_blackout what);
  /// Notes that all events before `time` were written. Writes trace_start if it is due: the next
  /// event may be in a later part of the trace. A file without records stays empty.
  void settle(uint64_t time);
  /// Hands over a chunk that was begun a second before `now`, full or not, so that a tracer that is
  /// killed has lost no more.
  void pass_on(uint64_t now);
  /// Notes that from `time` on the tid belongs to another thread, which must be introduced anew.
  void expire(uint32_t tid, uint64_t time) { contexts_.expire(tid, time); }
  /// Ends the last chunk with trace_stop and hands it over. Nothing may follow.
  void finish(uint64_t time);

  /// Forgets which thread runs on the CPU.
  void forget_running() { running_.reset(); }

  uint64_t last_time() const { return last_time_; } ///< of the last record
  uint64_t records() const { return records_; }     ///< written so far, identities included
  uint64_t events() const {
    return events_;
  } ///< of them, events as readers of the trace count them

private:
  using Handler = void (ChunkWriter::*)(const SchedTransition &);
  static const Handler kHandlers[16];
  void on_nothing(const SchedTransition &) {}
  void on_switch(const SchedTransition &record);
  void on_wakeup(const SchedTransition &record);
  void on_migrate(const SchedTransition &record);
  void on_exec(const SchedTransition &record);
  void on_stack(const SchedTransition &record);
  void on_work(const SchedTransition &record);
  void on_refill(const SchedTransition &record);
  void on_holder(const SchedTransition &record);
  void put_off_cpu(const SchedTransition &record, uint16_t context, const SwitchParts &parts);
  void put_device(const SchedTransition &record, uint16_t context);
  void put_stack(uint16_t code, uint32_t whose, uint16_t context, uint64_t time);
  void learn_running(const life_record &record);
  void take_over(uint32_t tid, uint32_t before);

  void begin_chunk(uint64_t time);
  void end_chunk(uint16_t last_code, uint64_t time);
  void make_room(uint64_t time);
  void put(uint16_t code, uint16_t par1, uint64_t time, uint32_t par2);
  void take_back();
  /// Writes a record with the system call in which a thread is blocked. `call`: enum ftrace_call.
  void put_blocked(uint16_t code, uint16_t par1, uint64_t time, uint32_t par2, uint16_t call);
  void put_affinity(uint16_t context, uint64_t time, const life_record &record);
  void put_cgroup(uint16_t context, uint64_t time, const life_record &record);
  uint16_t context_of(uint32_t tid, uint64_t time);
  uint16_t introduce(uint32_t tid, uint64_t time);
  void expect_running(uint32_t tid, uint64_t time);

  const uint32_t cpu_;
  const uint64_t begin_;
  const ThreadRegistry &registry_;
  StackNumber stack_number_; ///< empty: stacks are left out
  const uint32_t *devices_ = nullptr;
  ChunkPool &sink_;
  Chunk *chunk_ = nullptr;
  ContextTable contexts_;
  uint32_t chunk_number_ = 0;
  uint64_t chunk_begin_ = 0; ///< ns
  uint64_t last_time_ = 0;
  /// The traced thread that has the CPU, 0: another; not known before the first switch.
  std::optional<uint32_t> running_;
  bool known_early_ = false;   ///< that it runs: by expect_running()
  bool started_ = false;       ///< trace_start is written
  SchedTransition stack_ = {}; ///< one that waits for the record that it belongs to
  uint64_t records_ = 0;
  uint64_t events_ = 0;
};

} // namespace ovnitrace
