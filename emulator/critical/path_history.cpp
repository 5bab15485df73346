// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/critical/path_history.h"

#include "emulator/core/program_threads.h"
#include "emulator/input/call_name.h"
#include "emulator/input/thread_group.h"

#include <ovnitrace/control.h>
#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace ovnitrace {

HistoryRecorder::HistoryRecorder(const Catalog &catalog, const PathQuery &query,
                                 std::vector<uint8_t> kept)
    : catalog_(catalog), served_(catalog.cpus.size()), ran_(catalog.threads.size()),
      ended_(catalog.threads.size(), UINT64_MAX), gate_(catalog, started_threads(catalog)),
      spins_(catalog) {
  if (!query.section)
    return;
  for (size_t n = 0; query.tid && n < kept.size(); n++)
    kept[n] = kept[n] && catalog.threads[n].tid == *query.tid;
  sections_.emplace(*query.section, 1, std::move(kept));
}

void HistoryRecorder::on_event(const Event &event, const System &system) {
  wakeup_.thread = yields_ = executes_ = kNone;
  served_.event(event);
  gate_.event(event);
  if (sections_)
    sections_->on_event(event, system);
  switch (event.kind) {
  case FTrace_EVT_task_activate:
    wakeup_ = event;
    wakeup_interrupt_ = served_.innermost(event.cpu);
    wakeup_work_ = {};
    if (const auto work = work_.find(event.thread); work != work_.end()) {
      wakeup_work_ = work->second;
      work_.erase(work);
    }
    wakeup_device_ = served_.device(event);
    return;
  case FTrace_EVT_task_epilogue:
    if (event.reason() == FTRACE_OFFCPU_YIELDED)
      yields_ = event.thread;
    return;
  case FTrace_EXT_exec:
    if (event.par2 && event.par2 != catalog_.threads[event.thread].tid)
      executes_ = system.find_thread(catalog_.threads[event.thread].host, event.par2, event.time);
    return;
  case FTrace_EXT_work:
    work_[event.thread] = {false, event.named(), 0};
    return;
  case FTrace_EXT_work_age: {
    const uint64_t age = event.par2 & ~FTRACE_WORK_MICROSECONDS;
    Work &work = work_[event.thread];
    work.queued = event.time - (event.par2 & FTRACE_WORK_MICROSECONDS ? age * 1000 : age);
    work.is = work.queuer.tid != kNone && work.queued <= event.time;
    return;
  }
  case FTrace_EXT_holder:
    return hold(event, system);
  case FTrace_EVT_blackout_start:
  case FTrace_EVT_blackout_end:
    if (hides_states(event))
      end_left(event.cpu, event.time); // who gets it now is not known
    return;
  case FTrace_EXT_region:
    if (event.thread != kNone && FTRACE_REGION_STARTS(event.par2))
      forget_holders(catalog_.threads[event.thread].host, event.time);
    return;
  }
}

LongSection HistoryRecorder::section() const {
  return sections_ && !sections_->found().empty() ? sections_->found().front() : LongSection();
}

void HistoryRecorder::on_slice(const Slice &slice) {
  if (slice.state == ThreadState::Running)
    ran_[slice.thread] += slice.length();
  ended_[slice.thread] = slice.state == ThreadState::Dead ? slice.start : UINT64_MAX;
  if (sections_)
    sections_->on_slice(slice);
  HistoryRecord record = {.start = slice.start,
                          .end = slice.end,
                          .thread = slice.thread,
                          .cpu = slice.cpu,
                          .waker = slice.waker,
                          .call = slice.call,
                          .state = slice.state,
                          .reason = slice.reason,
                          .context = slice.context};
  if (const auto moved = moved_.find(slice.thread); moved != moved_.end()) {
    record.cpu = moved->second.cpu;
    record.on_cpu_since = moved->second.time;
    moved_.erase(moved);
  }
  if (slice.state == ThreadState::Dead)
    record.waker = {.thread = executes_};
  const bool asleep = is_blocked(slice.state) || slice.state == ThreadState::Unknown;
  const bool wakes = slice.ends && wakeup_.thread == slice.thread && asleep;
  // If nothing is known about a thread before a wakeup, only a new thread's first wakeup says
  // something: the thread did not exist before.
  if (wakes && (is_blocked(slice.state) || wakeup_.wakes_new_thread())) {
    record.woken = true;
    record.waker = wakeup_.named();
    record.context = wakeup_.waker_context();
    record.timer = ends_sleep(call_name(catalog_, slice.thread, slice.call), record.context);
    record.device = wakeup_device_;
    record.interrupt = record.context == FTRACE_WAKER_TASK ? kNoInterrupt : wakeup_interrupt_;
    record.worker = record.context == FTRACE_WAKER_TASK && is_blocked(slice.state) &&
                    (wakeup_work_.is || is_worker(record.waker, slice.thread));
    if (record.worker && wakeup_work_.is) {
      record.next = wakeup_work_.queuer;
      record.since = wakeup_work_.queued;
    }
  }
  if (slice.reason == FTRACE_OFFCPU_YIELDED && spins_.spins(slice.thread)) {
    record.spins = true;
    record.since = spins_.since(slice.thread);
  }
  slices_.append(record);
  if (slice.state == ThreadState::Running && slice.cpu < left_.size() && left_[slice.cpu].is &&
      left_[slice.cpu].since == slice.end && slice.next.thread == kNone && says_holders(slice.cpu))
    left_[slice.cpu].next = slice.next;
}

/// Recognizes a kernel worker by its name, for traces that do not say who queued the work item. A
/// thread of a program can have such a name, too.
bool HistoryRecorder::is_worker(const Peer &waker, uint32_t woken) const {
  constexpr std::string_view kWorker = "kworker/";
  const uint32_t host = catalog_.threads[woken].host;
  if (is_of_program(catalog_, waker, host, wakeup_.time))
    return false;
  if (waker.thread != kNone)
    return catalog_.threads[waker.thread].name.starts_with(kWorker);
  const std::vector<PeerName> &peers = catalog_.hosts[host].peers;
  const PeerName *name = waker.tid == kNone ? nullptr : find_peer(peers, waker.tid, wakeup_.time);
  return name && name->name.starts_with(kWorker);
}

std::vector<uint32_t> HistoryRecorder::by_running(const std::vector<uint8_t> &kept) const {
  std::vector<uint32_t> threads;
  for (uint32_t t = 0; t < ran_.size(); t++)
    if (kept[t] && ran_[t])
      threads.push_back(t);
  std::stable_sort(threads.begin(), threads.end(),
                   [&](uint32_t a, uint32_t b) { return ran_[a] > ran_[b]; });
  return threads;
}

uint32_t HistoryRecorder::longest_running(const std::vector<uint8_t> &kept) const {
  uint32_t longest = kNone;
  for (uint32_t t = 0; t < ran_.size(); t++)
    if (ran_[t] && kept[t] &&
        (longest == kNone || std::pair(ended_[t] == UINT64_MAX, ran_[t]) >
                                 std::pair(ended_[longest] == UINT64_MAX, ran_[longest])))
      longest = t;
  return longest;
}

void HistoryRecorder::on_change(uint32_t thread, const StateChange &change, uint64_t time) {
  spins_.change(thread, change, time, thread == yields_);
  if (change.from == change.to && is_waiting(change.to) && change.cpu != change.old_cpu)
    note_move(thread, change, time);
  if (is_waiting(change.from) && change.old_cpu == kNone && change.to == ThreadState::Running)
    moved_.try_emplace(thread, Moved{change.cpu, 0}); // a new thread: only this says where
  if (change.from == ThreadState::Running && change.old_cpu != kNone)
    leave(change.old_cpu, time);
  if (change.to == ThreadState::Running && change.cpu != kNone)
    end_left(change.cpu, time);
}

void HistoryRecorder::note_move(uint32_t thread, const StateChange &change, uint64_t time) {
  HistoryRecord move = {};
  move.start = move.end = time;
  move.thread = thread;
  move.cpu = change.old_cpu;
  move.moved = true;
  const auto [at, first] = moved_.try_emplace(thread, Moved{change.cpu, time});
  if (!first) {
    move.on_cpu_since = at->second.time;
    at->second = {change.cpu, time};
  }
  slices_.append(move);
}

bool HistoryRecorder::says_holders(uint32_t cpu) const {
  const HostInfo &host = catalog_.hosts[catalog_.cpus[cpu].host];
  return host.all_threads || host.cpu_holders;
}

/// Notes who has a CPU on which no thread of the trace runs.
void HistoryRecorder::hold(const Event &event, const System &system) {
  const uint32_t cpu =
      event.cpu == kNone ? kNone : system.find_cpu(system.cpus()[event.cpu].host, event.par1);
  if (cpu == kNone || system.cpus()[cpu].running.count())
    return;
  end_left(cpu, event.time);
  leave(cpu, event.time);
  left_[cpu].next = event.named();
}

/// Forgets who has CPUs: before a region of --control, switches may not have been recorded.
void HistoryRecorder::forget_holders(uint32_t host, uint64_t time) {
  for (uint32_t cpu = 0; cpu < left_.size(); cpu++)
    if (left_[cpu].is && left_[cpu].next.tid != kNone && catalog_.cpus[cpu].host == host) {
      end_left(cpu, time);
      leave(cpu, time);
    }
}

void HistoryRecorder::leave(uint32_t cpu, uint64_t time) {
  if (cpu >= left_.size())
    left_.resize(cpu + 1);
  left_[cpu] = {true, time, {}};
}

void HistoryRecorder::end_left(uint32_t cpu, uint64_t time) {
  if (cpu >= left_.size() || !left_[cpu].is)
    return;
  HistoryRecord gap = {};
  gap.start = left_[cpu].since;
  gap.end = time;
  gap.cpu = cpu;
  gap.next = left_[cpu].next;
  slices_.append(gap);
  left_[cpu].is = false;
}

void HistoryRecorder::finish(uint64_t time) {
  for (uint32_t cpu = 0; cpu < left_.size(); cpu++)
    end_left(cpu, time);
}

} // namespace ovnitrace
