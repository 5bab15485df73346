// SPDX-License-Identifier: BSD-2-Clause
// How a chunk that is forgotten changes what is known of its threads.
#include "user/chunk/forgotten_states.h"

#include "emulator/format/switch_record.h"

#include <ovnitrace/control.h>

#include <algorithm>
#include <new>
#include <utility>

namespace ovnitrace {

/// Reads the records of one chunk; contexts are local to it. For frequent events, it only remembers
/// where the last one of each kind and context is, and looks at those in the end. A record then
/// costs a store.
class ForgottenStates::Fold {
public:
  Fold(ForgottenStates &to, const Chunk &chunk);

private:
  using Handler = void (Fold::*)(const ftrace_record &);
  static const std::array<Handler, 256> kHandlers; ///< by code; null: says nothing of a state
  enum Kind : uint8_t { kNothing, kPlaced, kWoken, kAtOnce, kSwitched };
  static const std::array<Kind, 256> kKinds; ///< by code
  void on_id(const ftrace_record &record);
  void on_process(const ftrace_record &record);
  void on_identity(const ftrace_record &record);
  void on_name(const ftrace_record &record);
  template <ThreadState state> void on_placed(const ftrace_record &record);
  void on_switched(const ftrace_record &record, uint16_t context);
  void on_woken(const ftrace_record &record);
  void on_moved(const ftrace_record &record);
  void on_refilled(const ftrace_record &record);
  void on_snapshot(const ftrace_record &record);
  void on_exec(const ftrace_record &record);
  void on_region(const ftrace_record &record);
  void on_blackout_start(const ftrace_record &record);
  void on_blackout_end(const ftrace_record &record);

  void handle(const ftrace_record &record);
  void take_last(uint16_t context);
  void remember(uint16_t context, Kind kind, uint32_t record);
  Thread *thread_of(uint16_t context) const;
  Thread *thread_of(const ftrace_record &record) const { return thread_of(record.par1); }
  void bind(uint16_t context);
  Moment moment(const ftrace_record &record);

  ForgottenStates &to_;
  const Chunk &chunk_;
  const uint16_t cpu_;
  ThreadIdentity bound_;                            ///< by the last id
  const Thread *named_ = nullptr;                   ///< whose name its parts belong to
  std::vector<Thread *> contexts_;                  ///< null: of a thread that is not the latest
  std::vector<std::array<uint32_t, kAtOnce>> last_; ///< by context and kind: which record, 0: none
};

const std::array<ForgottenStates::Fold::Handler, 256> ForgottenStates::Fold::kHandlers = [] {
  std::array<Handler, 256> all{};
  all[FTrace_EVT_id] = &Fold::on_id;
  all[FTrace_EXT_process] = &Fold::on_process;
  all[FTrace_EXT_parent] = &Fold::on_identity;
  all[FTrace_EXT_cgroup] = &Fold::on_identity;
  for (unsigned part = 0; part < ThreadName::kParts; part++)
    all[ThreadName::code_of_part(part)] = &Fold::on_name;
  all[FTrace_EVT_task_create] = &Fold::on_placed<ThreadState::Unknown>;
  all[FTrace_EVT_task_dispatch] = &Fold::on_placed<ThreadState::Running>;
  all[FTrace_EVT_task_epilogue] = &Fold::on_placed<ThreadState::Cooling>;
  all[FTrace_EVT_task_sleep] = &Fold::on_placed<ThreadState::Paused>;
  all[FTrace_EVT_task_end] = &Fold::on_placed<ThreadState::Dead>;
  all[FTrace_EVT_task_activate] = &Fold::on_woken;
  all[FTrace_EXT_migrate] = &Fold::on_moved;
  all[FTrace_EXT_refill] = &Fold::on_refilled;
  all[FTrace_EXT_snapshot] = &Fold::on_snapshot;
  all[FTrace_EXT_exec] = &Fold::on_exec;
  all[FTrace_EXT_region] = &Fold::on_region;
  all[FTrace_EVT_blackout_start] = &Fold::on_blackout_start;
  all[FTrace_EVT_blackout_end] = &Fold::on_blackout_end;
  return all;
}();

const std::array<ForgottenStates::Fold::Kind, 256> ForgottenStates::Fold::kKinds = [] {
  std::array<Kind, 256> all{};
  for (size_t code = 0; code < all.size(); code++)
    all[code] = kHandlers[code] ? kAtOnce : kNothing;
  for (int code : {FTrace_EVT_task_dispatch, FTrace_EVT_task_epilogue, FTrace_EVT_task_sleep,
                   FTrace_EVT_task_end})
    all[size_t(code)] = kPlaced;
  all[FTrace_EXT_switch] = all[FTrace_EXT_wake_switch] = kSwitched;
  all[FTrace_EVT_task_activate] = kWoken;
  return all;
}();

ForgottenStates::Fold::Fold(ForgottenStates &to, const Chunk &chunk)
    : to_(to), chunk_(chunk), cpu_(uint16_t(chunk.cpu)) {
  to_.cpus_[cpu_].forgot = true;
  const std::vector<ftrace_record> &records = chunk.records;
  for (uint32_t n = 0; n < records.size(); n++) {
    const Kind kind = kKinds[code_of(records[n].code)];
    if (kind == kAtOnce)
      handle(records[n]);
    else if (kind)
      remember(records[n].par1, kind == kSwitched ? kPlaced : kind, n);
    if (kind == kSwitched)
      remember(SwitchParts::of(records[n]).next, kPlaced, n);
  }
  for (size_t context = 0; context < last_.size(); context++)
    take_last(uint16_t(context));
  to_.folded_ += records.size();
}

void ForgottenStates::Fold::handle(const ftrace_record &record) {
  (this->*kHandlers[code_of(record.code)])(record);
}

/// Takes the last frequent events of a context.
void ForgottenStates::Fold::take_last(uint16_t context) {
  for (const Kind kind : {kPlaced, kWoken})
    if (const uint32_t n = std::exchange(last_[context][kind], 0)) {
      const ftrace_record &record = chunk_.records[n];
      if (kKinds[code_of(record.code)] == kSwitched)
        on_switched(record, context);
      else
        handle(record);
    }
}

void ForgottenStates::Fold::remember(uint16_t context, Kind kind, uint32_t record) {
  if (context < last_.size())
    last_[context][kind] = record;
}

void ForgottenStates::Fold::on_id(const ftrace_record &record) {
  bound_ = {};
  bound_.take(record);
  bind(record.par1);
}

void ForgottenStates::Fold::on_process(const ftrace_record &record) {
  bound_.take(record);
  bind(record.par1);
  if (Thread *thread = thread_of(record))
    thread->take(record);
}

/// Binds a context. A tid that is used again belongs to another thread, so nothing of the older
/// thread is kept.
void ForgottenStates::Fold::bind(uint16_t context) {
  try {
    if (contexts_.size() <= context) {
      contexts_.resize(size_t(context) + 1);
      last_.resize(contexts_.size());
    }
    contexts_[context] = nullptr;
    Thread &thread = to_.threads_[bound_.tid];
    if (bound_.birth < thread.birth)
      return;
    if (bound_.birth > thread.birth)
      thread = {};
    thread.tid = bound_.tid;
    thread.birth = bound_.birth;
    contexts_[context] = &thread;
  } catch (const std::bad_alloc &) {
    to_.blind_ = true;
  }
}

ForgottenStates::Thread *ForgottenStates::Fold::thread_of(uint16_t context) const {
  return context < contexts_.size() ? contexts_[context] : nullptr;
}

void ForgottenStates::Fold::on_identity(const ftrace_record &record) {
  if (Thread *thread = thread_of(record))
    thread->take(record);
}

/// Takes a part of a name. The parts follow one another, and the first one starts a new name.
void ForgottenStates::Fold::on_name(const ftrace_record &record) {
  Thread *thread = thread_of(record);
  if (ThreadName::part_of(code_of(record.code)) == 0)
    named_ = thread && ftrace_record_tsc(&record) >= thread->name_time ? thread : nullptr;
  if (thread && thread == named_)
    thread->take(record);
}

ForgottenStates::Moment ForgottenStates::Fold::moment(const ftrace_record &record) {
  return {ftrace_record_tsc(&record),
          uint64_t(cpu_) << kPlaceShift |
              (to_.folded_ + uint64_t(&record - chunk_.records.data()))};
}

template <ThreadState state> void ForgottenStates::Fold::on_placed(const ftrace_record &record) {
  constexpr bool off_cpu = state == ThreadState::Cooling || state == ThreadState::Paused;
  if (Thread *thread = thread_of(record))
    thread->place(moment(record), state,
                  state == ThreadState::Unknown ? FTRACE_SNAPSHOT_NO_CPU : cpu_,
                  off_cpu ? par2_of(record) >> FTRACE_REASON_SHIFT : 0, call_of(record));
}

/// Takes what a switch says about the thread of one of its two contexts.
void ForgottenStates::Fold::on_switched(const ftrace_record &record, uint16_t context) {
  Thread *thread = thread_of(context);
  const SwitchParts parts = SwitchParts::of(record);
  if (thread && context == parts.next)
    thread->place(moment(record), ThreadState::Running, cpu_, 0);
  else if (thread)
    thread->place(moment(record),
                  ftrace_offcpu_is_runnable(parts.reason) ? ThreadState::Cooling
                                                          : ThreadState::Paused,
                  cpu_, parts.reason, call_of(record));
}

void ForgottenStates::Fold::on_woken(const ftrace_record &record) {
  Thread *thread = thread_of(record);
  const Moment at = moment(record);
  if (!thread || at < thread->woken)
    return;
  thread->woken = at;
  thread->held_back = uint8_t(record.par2 >> FTRACE_WAKEUP_HELD_SHIFT);
}

void ForgottenStates::Fold::on_moved(const ftrace_record &record) {
  Thread *thread = thread_of(record);
  const Moment at = moment(record);
  if (!thread || at < thread->moved)
    return;
  thread->moved = at;
  thread->moved_to = uint16_t(record.par2);
}

void ForgottenStates::Fold::on_refilled(const ftrace_record &record) {
  if (Thread *thread = thread_of(record))
    thread->refilled = std::max(thread->refilled, moment(record));
}

/// Takes a snapshot. Any event, even an older one, says more, unless the thread does not pass the
/// filters for a time.
void ForgottenStates::Fold::on_snapshot(const ftrace_record &record) {
  Thread *thread = thread_of(record);
  const uint32_t state = record.par2 & FTRACE_SNAPSHOT_STATE_MASK;
  if (!thread || state >= kThreadStates)
    return;
  take_last(record.par1); // events before it
  const bool filtered =
      ThreadState(state) == ThreadState::Unknown || thread->state == ThreadState::Unknown;
  const bool is_first = thread->placed == Moment{};
  if (!is_first && !filtered)
    return;
  thread->place(moment(record), ThreadState(state),
                uint16_t(record.par2 >> FTRACE_SNAPSHOT_CPU_SHIFT),
                par2_of(record) >> FTRACE_REASON_SHIFT, call_of(record));
  thread->snapshot = is_first;
}

/// Handles an execve in a thread that is not the main one: it continues as the main thread.
void ForgottenStates::Fold::on_exec(const ftrace_record &record) {
  Thread *thread = thread_of(record);
  if (!thread || record.par2 == thread->tid)
    return;
  const Moment at = moment(record);
  thread->place(at, ThreadState::Running, cpu_, 0);
  const auto before = to_.threads_.find(record.par2);
  if (before != to_.threads_.end() && before->second.pid == thread->pid)
    before->second.place(at, ThreadState::Dead, cpu_, 0);
}

/// Handles the stop of a region. After it, nothing of its threads is recorded.
void ForgottenStates::Fold::on_region(const ftrace_record &record) {
  const Thread *thread = thread_of(record);
  if (!thread || (record.par2 >> FTRACE_REGION_EVENT_SHIFT & 3) != CONTROL_STOP)
    return;
  const Moment at = moment(record);
  for (auto &[tid, other] : to_.threads_)
    if (record.par2 & FTRACE_REGION_THREAD ? tid == thread->tid : other.pid == thread->pid)
      other.place(at, ThreadState::Unknown, FTRACE_SNAPSHOT_NO_CPU, 0);
}

void ForgottenStates::Fold::on_blackout_start(const ftrace_record &record) {
  to_.cpus_[cpu_].blackouts |= uint8_t(1 << record.par1);
}

void ForgottenStates::Fold::on_blackout_end(const ftrace_record &record) {
  to_.cpus_[cpu_].blackouts &= uint8_t(~(1 << record.par1));
  if (record.par1 != FTRACE_BLACKOUT_FAMILIES)
    to_.cpus_[cpu_].dark_until = ftrace_record_tsc(&record);
}

void ForgottenStates::fold(const Chunk &chunk) {
  Fold(*this, chunk);
}

} // namespace ovnitrace
