// SPDX-License-Identifier: BSD-2-Clause
#include "user/chunk/chunk_writer.h"

#include "emulator/format/chunk_header.h"
#include "emulator/format/code_kind.h"
#include "emulator/format/thread_state.h"

#include <algorithm>

namespace ovnitrace {

namespace {

constexpr uint32_t kAffinityWords = CAPTURE_LIFE_CPUS / FTRACE_AFFINITY_CPUS;
/// Records that one call can need at most: two identities, two events, an affinity, a stack, a
/// device, a cgroup, trace_start and the end of the chunk.
constexpr size_t kMostPerCall =
    2 * ThreadIdentity::kMostRecords + 2 + kAffinityWords + 1 + 1 + 1 + 1 + 1;
constexpr uint64_t kMostAge = 1'000'000'000; ///< ns

uint32_t tid_a(uint64_t word) {
  return word >> SCHED_A_SHIFT & FTRACE_TID_MASK;
}
uint32_t tid_b(uint64_t word) {
  return word >> SCHED_B_SHIFT & FTRACE_TID_MASK;
}
uint32_t reason(uint64_t word) {
  return word >> SCHED_REASON_SHIFT & 0xf;
}
/// Returns the tid of a thread that is not traced with its class, from the priority in a record.
/// The idle task, tid 0, has no class.
uint32_t with_class(uint32_t tid, uint64_t word) {
  const auto priority = uint32_t(word >> SCHED_PRIO_SHIFT & FTRACE_PRIO_MASK);
  return tid | uint32_t(tid ? ftrace_class_of(priority) : FTRACE_CLASS_UNKNOWN)
                   << FTRACE_CLASS_SHIFT;
}
uint32_t with_reason(uint32_t tid, uint64_t word) {
  return tid | reason(word) << FTRACE_REASON_SHIFT;
}

/// Returns whether a record says that the thread `waker` itself woke this context, and not for the
/// first time.
bool is_wakeup(const ftrace_record &record, uint16_t context, uint32_t waker) {
  return record.code == FTrace_EVT_task_activate && record.par1 == context &&
         record.par2 == (waker | FTRACE_WAKER_TASK << FTRACE_REASON_SHIFT);
}

} // namespace

const ChunkWriter::Handler ChunkWriter::kHandlers[16] = {
    &ChunkWriter::on_nothing, &ChunkWriter::on_switch,  &ChunkWriter::on_wakeup,
    &ChunkWriter::on_wakeup,  &ChunkWriter::on_migrate, &ChunkWriter::on_exec,
    &ChunkWriter::on_stack,   &ChunkWriter::on_holder,  &ChunkWriter::on_nothing,
    &ChunkWriter::on_work,    &ChunkWriter::on_nothing, &ChunkWriter::on_refill,
    &ChunkWriter::on_nothing, &ChunkWriter::on_nothing, &ChunkWriter::on_nothing,
    &ChunkWriter::on_nothing,
};

ChunkWriter::ChunkWriter(uint32_t cpu, uint64_t begin, const ThreadRegistry &registry,
                         ChunkPool &sink)
    : cpu_(cpu), begin_(begin), registry_(registry), sink_(sink) {}

void ChunkWriter::transition(const SchedTransition &record) {
  make_room(record.time);
  (this->*kHandlers[record.word & 0xf])(record);
}

void ChunkWriter::on_switch(const SchedTransition &record) {
  const uint64_t word = record.word, time = record.time;
  const bool leaves = word & SCHED_A_TRACED;
  const uint32_t next = word & SCHED_B_TRACED ? tid_b(word) : 0;
  const bool is_known = known_early_ && !leaves && running_ == next;
  const uint16_t prev_context = leaves ? context_of(tid_a(word), time) : 0;
  const uint16_t next_context = next && !is_known ? context_of(next, time) : 0;
  const SwitchParts parts = {reason(word), next_context,
                             uint32_t(word >> SCHED_PRIO_SHIFT & FTRACE_PRIO_MASK)};
  if (leaves) {
    put_stack(FTrace_EXT_stack, SCHED_STACK_OF_PREV, prev_context, time);
    put_off_cpu(record, prev_context, parts);
  }
  const bool names_next = leaves && parts.reason != FTRACE_OFFCPU_DEAD;
  if (!next && !is_known && !names_next)
    put(FTrace_EXT_holder, uint16_t(cpu_), time, with_class(tid_b(word), word));
  if (next_context && !names_next)
    put(FTrace_EVT_task_dispatch, next_context, time, parts.priority);
  running_ = next;
  known_early_ = false;
}

/// Writes that a thread leaves its CPU. The record also has the dispatch of the next thread if that
/// has a context and the first thread will come back. It also has the wakeup if that was the last
/// record.
void ChunkWriter::put_off_cpu(const SchedTransition &record, uint16_t context,
                              const SwitchParts &parts) {
  const uint64_t word = record.word, time = record.time;
  if (parts.reason == FTRACE_OFFCPU_DEAD)
    return put(FTrace_EVT_task_end, context, time, tid_a(word));
  const bool is_blocked = !ftrace_offcpu_is_runnable(parts.reason);
  const uint16_t call = is_blocked ? record.call : uint16_t(FTRACE_CALL_UNKNOWN);
  if (!parts.next)
    put_blocked(off_cpu_code(parts.reason), context, time,
                with_reason(with_class(tid_b(word), word), word), call);
  else if (const ftrace_record last = chunk_->records.back();
           is_wakeup(last, parts.next, tid_a(word)) &&
           parts.fits_wake(time - ftrace_record_tsc(&last))) {
    take_back();
    put_blocked(FTrace_EXT_wake_switch, context, time,
                parts.wake_par2(time - ftrace_record_tsc(&last)), call);
  } else {
    put_blocked(FTrace_EXT_switch, context, time, parts.par2(), call);
  }
}

void ChunkWriter::on_holder(const SchedTransition &record) {
  put(FTrace_EXT_holder, uint16_t(tid_b(record.word)), record.time,
      with_class(tid_a(record.word), record.word));
}

/// Handles an execve in a thread that is not the main one: it takes over the main thread's tid.
void ChunkWriter::take_over(uint32_t tid, uint32_t before) {
  if (running_ == before)
    running_ = tid;
}

/// Makes up for a switch that the kernel did not show. It is noticed when the thread leaves its
/// CPU. Its time comes from another clock and can be slightly late, if the thread has logged
/// something before. The thread that ran before is not known: the reader counts this as a switch
/// that was not seen.
void ChunkWriter::expect_running(uint32_t tid, uint64_t time) {
  if (!running_ || *running_ == tid)
    return;
  put(FTrace_EVT_task_dispatch, context_of(tid, time), time, 0);
  running_ = tid;
  known_early_ = true;
}

void ChunkWriter::on_wakeup(const SchedTransition &record) {
  uint64_t word = record.word;
  bool first = (word & 0xf) == SCHED_KIND_WAKEUP_NEW;
  const uint16_t context = context_of(tid_a(word), record.time);
  put_stack(FTrace_EXT_waker_stack, SCHED_STACK_OF_WAKER, context, record.time);
  put_device(record, context);
  const uint32_t held = word & SCHED_HELD_EXHAUSTED   ? FTRACE_OFFCPU_EXHAUSTED
                        : word & SCHED_HELD_THROTTLED ? FTRACE_OFFCPU_THROTTLED
                                                      : 0;
  put(FTrace_EVT_task_activate, context, record.time,
      with_reason(tid_b(word), word) | (first ? FTRACE_WAKEUP_NEW : 0) |
          held << FTRACE_WAKEUP_HELD_SHIFT);
}

/// Writes the device that makes the next wakeup.
void ChunkWriter::put_device(const SchedTransition &record, uint16_t context) {
  const uint32_t place = record.word >> SCHED_PRIO_SHIFT & (CAPTURE_DEVICES - 1);
  if (place && devices_)
    put(FTrace_EXT_device, context, record.time,
        __atomic_load_n(&devices_[place], __ATOMIC_RELAXED));
}

void ChunkWriter::on_refill(const SchedTransition &record) {
  put(FTrace_EXT_refill, context_of(tid_a(record.word), record.time), record.time, 0);
}

void ChunkWriter::on_migrate(const SchedTransition &record) {
  put(FTrace_EXT_migrate, context_of(tid_a(record.word), record.time), record.time,
      tid_b(record.word));
}

void ChunkWriter::on_exec(const SchedTransition &record) {
  put(FTrace_EXT_exec, context_of(tid_a(record.word), record.time), record.time,
      tid_b(record.word));
  take_over(tid_a(record.word), tid_b(record.word));
}

void ChunkWriter::on_work(const SchedTransition &record) {
  const uint16_t context = context_of(tid_a(record.word), record.time);
  const uint32_t age = SCHED_WORK_AGE(record.call, record.word);
  put(FTrace_EXT_work, context, record.time, tid_b(record.word));
  put(FTrace_EXT_work_age, context, record.time,
      (age & ~SCHED_WORK_MICROSECONDS) |
          (age & SCHED_WORK_MICROSECONDS ? FTRACE_WORK_MICROSECONDS : 0));
}

/// Keeps a stack until the record that it belongs to, which comes next.
void ChunkWriter::on_stack(const SchedTransition &record) {
  stack_ = record;
}

void ChunkWriter::put_stack(uint16_t code, uint32_t whose, uint16_t context, uint64_t time) {
  const bool waits =
      stack_.time == time && stack_.word && (stack_.word >> SCHED_STACK_WHOSE_SHIFT & 1) == whose;
  const uint32_t number = waits && stack_number_ ? stack_number_(stack_) : 0;
  stack_ = {};
  if (number)
    put(code, context, time, number);
}

void ChunkWriter::life(const life_record &record) {
  uint64_t time = std::max<uint64_t>(record.time, last_time_);
  make_room(time);
  if (record.kind == LIFE_NEW || record.kind == LIFE_ENTER)
    introduce(record.tid, time); // never the context of an earlier thread with that tid
  uint16_t context = context_of(record.tid, time);
  put_cgroup(context, time, record);
  switch (record.kind) {
  case LIFE_NEW:
    put(FTrace_EVT_task_create, context, time, record.tid);
    break;
  case LIFE_EXEC:
    take_over(record.tid, record.arg);
    put(FTrace_EXT_exec, context, time, record.arg);
    break;
  case LIFE_EXIT:
    put(FTrace_EXT_exit, context, time, record.arg);
    break;
  case LIFE_CGROUP:
    put(FTrace_EXT_cgroup_move, context, time, uint32_t(record.cgroup));
    break;
  case LIFE_REGION:
    put(FTrace_EXT_region, context, time, record.arg);
    break;
  case LIFE_ENTER:
  case LIFE_SNAPSHOT:
    learn_running(record);
    put_blocked(FTrace_EXT_snapshot, context, time, record.arg, record.call);
    break;
  case LIFE_RENAME:
    ThreadName(record.comm).encode([&](uint16_t code, uint32_t four) {
      put(code, context, time, four);
    });
    break;
  }
  if (record.has_cpus)
    put_affinity(context, time, record);
}

/// Writes the cgroup of a thread. Its identity in the registry has the latest known cgroup, into
/// which it may be put only later.
void ChunkWriter::put_cgroup(uint16_t context, uint64_t time, const life_record &record) {
  const TracedThread *thread = registry_.find(record.tid, time);
  const bool is_other = thread && thread->cgroup != record.cgroup;
  if (record.cgroup && (record.kind == LIFE_CGROUP || is_other))
    put(FTrace_EXT_cgroup, context, time, uint32_t(record.cgroup));
}

/// Notes whether a thread that passes the filters from now on, or no longer, runs on this CPU.
void ChunkWriter::learn_running(const life_record &record) {
  const bool runs = (record.arg & FTRACE_SNAPSHOT_STATE_MASK) == uint32_t(ThreadState::Running);
  if (runs && (record.arg >> FTRACE_SNAPSHOT_CPU_SHIFT & 0xffff) == cpu_)
    running_ = record.tid;
  else if (running_ == record.tid)
    running_.reset();
}

/// Words without a CPU are left out, but for the first of the mask.
void ChunkWriter::put_affinity(uint16_t context, uint64_t time, const life_record &record) {
  const uint32_t first = record.kind == LIFE_AFFINITY ? record.arg / FTRACE_AFFINITY_CPUS : 0;
  for (uint32_t n = 0; n < kAffinityWords; n++) {
    uint32_t word = 0;
    for (uint32_t bit = 0; bit < FTRACE_AFFINITY_CPUS; bit++) {
      const uint32_t cpu = n * FTRACE_AFFINITY_CPUS + bit;
      word |= uint32_t(record.cpus[cpu / 64] >> cpu % 64 & 1) << bit;
    }
    if (word || first + n == 0)
      put(FTrace_EXT_affinity, context, time, word | (first + n) << FTRACE_AFFINITY_SHIFT);
  }
}

void ChunkWriter::family(const family_record &record) {
  uint64_t time = std::max<uint64_t>(record.time, last_time_);
  make_room(time);
  uint16_t par1 = record.par1;
  if (record.par1_tid & FAMILY_OWN && record.time >= last_time_)
    expect_running(record.par1_tid & FTRACE_TID_MASK, time);
  else if (record.par1_tid && !(record.par1_tid & FAMILY_OWN))
    par1 = context_of(record.par1_tid, time);
  uint32_t par2 = record.par2_tid ? context_of(record.par2_tid, time) : record.par2;
  put(record.code, par1, time, par2);
}

void ChunkWriter::mark(uint64_t time, uint16_t number) {
  time = std::max(time, last_time_);
  make_room(time);
  put(FTrace_EXT_mark, number, time, 0);
}

void ChunkWriter::blackout_start(uint64_t time, ftrace_blackout what) {
  time = std::max(time, last_time_);
  make_room(time);
  put(FTrace_EVT_blackout_start, what, time, 0);
  if (what != FTRACE_BLACKOUT_FAMILIES)
    running_.reset();
}

void ChunkWriter::blackout_end(uint64_t time, uint64_t lost, ftrace_blackout what) {
  time = std::max(time, last_time_);
  make_room(time);
  put(FTrace_EVT_blackout_end, what, time, uint32_t(std::min<uint64_t>(lost, UINT32_MAX)));
  if (what != FTRACE_BLACKOUT_FAMILIES)
    running_.reset(); // what was seen meanwhile may be over
}

void ChunkWriter::settle(uint64_t time) {
  if (!started_ && last_time_ && time >= begin_)
    make_room(begin_);
}

void ChunkWriter::pass_on(uint64_t now) {
  if (chunk_ && now > chunk_begin_ + kMostAge)
    end_chunk(FTrace_EVT_next_chunk, last_time_);
}

void ChunkWriter::finish(uint64_t time) {
  time = std::max(time, last_time_);
  make_room(time);
  end_chunk(FTrace_EVT_trace_stop, time);
}

void ChunkWriter::begin_chunk(uint64_t time) {
  chunk_ = sink_.borrow(cpu_);
  chunk_begin_ = time;
  contexts_.clear();
  const ChunkHeader header = {uint16_t(cpu_), chunk_number_++, time};
  for (const ftrace_record &record : header.encode()) // end_chunk() sets the number of records
    chunk_->records.push_back(record);
  last_time_ = time;
}

void ChunkWriter::end_chunk(uint16_t last_code, uint64_t time) {
  put(last_code, 0, time, last_code == FTrace_EVT_next_chunk ? chunk_number_ : 0);
  ChunkHeader::set_records(chunk_->records, uint32_t(chunk_->records.size()));
  records_ += chunk_->records.size();
  sink_.give(chunk_);
  chunk_ = nullptr;
}

/// Makes room for all records and contexts that one call at `time` can write.
void ChunkWriter::make_room(uint64_t time) {
  if (chunk_ && (chunk_->records.capacity() - chunk_->records.size() < kMostPerCall ||
                 contexts_.remaining() < 2))
    end_chunk(FTrace_EVT_next_chunk, last_time_);
  const bool begins = !chunk_;
  if (begins)
    begin_chunk(time);
  if (!started_ && time >= begin_) {
    put(FTrace_EVT_trace_start, 0, begin_, 1'000'000);
    started_ = true;
  }
  if (begins && running_.value_or(0))
    put(FTrace_EXT_state, context_of(*running_, time), time,
        uint32_t(ThreadState::Running) | cpu_ << FTRACE_SNAPSHOT_CPU_SHIFT);
}

void ChunkWriter::put(uint16_t code, uint16_t par1, uint64_t time, uint32_t par2) {
  // The capacity was checked by make_room(), so this never allocates.
  ftrace_record &record = chunk_->records.emplace_back();
  ftrace_record_set(&record, code, par1, time, par2);
  events_ += event_count(kCodeKinds[code & FTRACE_CODE_MASK]);
  last_time_ = time; // a birth is followed by a name, at the present time
}

/// Removes the last record, because the next one says the same and more.
void ChunkWriter::take_back() {
  events_ -= event_count(kCodeKinds[chunk_->records.back().code & FTRACE_CODE_MASK]);
  chunk_->records.pop_back();
}

void ChunkWriter::put_blocked(uint16_t code, uint16_t par1, uint64_t time, uint32_t par2,
                              uint16_t call) {
  put(uint16_t(code | FTRACE_CALL_CODE(call)), par1, time, par2 | FTRACE_CALL_PAR2(call));
}

uint16_t ChunkWriter::context_of(uint32_t tid, uint64_t time) {
  uint16_t context = contexts_.find(tid, time);
  return context ? context : introduce(tid, time);
}

uint16_t ChunkWriter::introduce(uint32_t tid, uint64_t time) {
  uint16_t context = contexts_.assign(tid, registry_.until(tid, time));
  const TracedThread *thread = registry_.find(tid, time);
  (thread ? thread->at(time) : ThreadIdentity{.tid = tid})
      .encode(context, time, [this](uint16_t code, uint16_t par1, uint64_t at, uint32_t par2) {
        put(code, par1, at, par2);
      });
  return context;
}

} // namespace ovnitrace
