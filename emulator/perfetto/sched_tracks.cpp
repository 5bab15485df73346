// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/perfetto/sched_tracks.h"

#include "emulator/base/human.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>

namespace ovnitrace::perfetto {

namespace {

/// Values of prev_state of sched_switch since Linux 4.14.
enum PrevState : uint32_t {
  kRunnable = 0,
  kInterruptible = 1,
  kUninterruptible = 2,
  kStopped = 4,
  kTraced = 8,
  kDead = 0x10,
  kParked = 0x40,
  kIdle = 0x80,
  kPreempted = 0x100,
  kUnknown = 0x200, // no state that there is: Perfetto shows it as unknown
};

/// Bits in common_flags of an event that an interrupt made.
enum Flags : uint32_t { kHardirq = 0x08, kSoftirq = 0x10, kNmi = 0x40 };

uint32_t blocked_state(uint8_t reason) {
  switch (reason) {
  case FTRACE_OFFCPU_DISK:
    return kUninterruptible;
  case FTRACE_OFFCPU_STOPPED:
    return kStopped;
  case FTRACE_OFFCPU_TRACED:
    return kTraced;
  case FTRACE_OFFCPU_PARKED:
    return kParked;
  case FTRACE_OFFCPU_IDLE:
    return kIdle;
  default:
    return kInterruptible;
  }
}

uint32_t state_after(const Slice &run) {
  switch (run.then) {
  case ThreadState::Paused:
    return blocked_state(run.reason);
  case ThreadState::Dead:
    return kDead;
  case ThreadState::Unknown:
    return kUnknown;
  default:
    return run.reason == FTRACE_OFFCPU_PREEMPTED ? kPreempted : kRunnable;
  }
}

uint32_t flags_of(uint32_t context) {
  switch (context) {
  case FTRACE_WAKER_SOFTIRQ:
    return kSoftirq;
  case FTRACE_WAKER_HARDIRQ:
    return kHardirq;
  case FTRACE_WAKER_NMI:
    return kNmi | kHardirq; // Perfetto looks at kHardirq
  default:
    return 0;
  }
}

constexpr uint32_t kOvniWarm = mcv('O', 'H', 'w');

} // namespace

SchedTracks::SchedTracks(const Catalog &catalog, TimeRange range, const std::vector<uint8_t> &kept,
                         TaskNames &names, EventTracks &tracks, PacketFile &file)
    : catalog_(catalog), range_(range), kept_(kept), names_(names), tracks_(tracks), file_(file) {
  for (const CpuInfo &cpu : catalog.cpus)
    cpus_.emplace_back(cpu.index);
  if (cpus_.empty())
    cpus_.emplace_back(0);
}

void SchedTracks::event(const Event &event, const System &system) {
  if (event.kind == FTrace_EVT_task_dispatch && event.thread != kNone)
    names_.set_priority(event.thread,
                        int32_t(added_par2(event) & FTRACE_PRIO_MASK) - FTRACE_PRIO_BIAS);
  else if ((event.kind == FTrace_EVT_task_activate || event.kind == kOvniWarm) &&
           event.thread != kNone && event.time >= range_.from)
    waking(event, system);
}

/// Adds a wakeup. Columns have no field for the waker: it is the thread that runs on that CPU. An
/// untraced waker is shown there for this instant, because Perfetto drops a waker that does not
/// run, and takes the running thread for an interrupted one. An interrupted thread is no waker. If
/// the waker is not known, the event is written in full.
void SchedTracks::waking(const Event &event, const System &system) {
  const bool captured = event.kind == FTrace_EVT_task_activate;
  const uint32_t par2 = captured ? added_par2(event) : FTRACE_WAKER_UNKNOWN << FTRACE_REASON_SHIFT;
  const uint32_t context = captured ? event.waker_context() : uint32_t(FTRACE_WAKER_UNKNOWN);
  const uint32_t flags = flags_of(context), peer = event.peer;
  const uint32_t target = system.threads()[event.thread].cpu;
  const uint32_t target_number = target < catalog_.cpus.size() ? catalog_.cpus[target].index : 0;
  const bool runs_here = peer != kNone && kept_[peer] && event.cpu != kNone &&
                         system.threads()[peer].state == ThreadState::Running &&
                         system.threads()[peer].cpu == event.cpu;
  counts_.wakeups++;
  const Task task = names_.task(event.thread);
  const uint32_t tid = par2 & FTRACE_TID_MASK;
  const bool outside = captured && tid != 0 && peer == kNone && event.cpu < catalog_.cpus.size() &&
                       context == FTRACE_WAKER_TASK &&
                       system.cpus()[event.cpu].running.count() == 0;
  if (!flags && !runs_here && !outside)
    return add_waking(event.cpu, event.time, tid, task, target_number);
  CpuTrack &track = start(event.cpu);
  if (outside)
    show_outside(track, event.time, tid);
  track.bundle.add_waking(event.time, task, target_number, flags);
  put(track);
}

void SchedTracks::add_waking(uint32_t cpu, uint64_t time, uint32_t waker, const Task &task,
                             uint32_t target) {
  add_event(cpu,
            ftrace_event<SchedWaking>(time, waker, FtraceEvent::sched_waking, [&](auto &waking) {
              waking.add_string(SchedWaking::comm, view(task.name));
              waking.add_int32(SchedWaking::pid, int32_t(task.tid));
              waking.add_int32(SchedWaking::prio, task.priority);
              waking.add_int32(SchedWaking::success, 1);
              waking.add_int32(SchedWaking::target_cpu, int32_t(target));
            }));
}

/// Adds a run of an untraced thread from 1 ns before `time` to 1 ns after it, if nobody else has
/// the CPU then: only `time` is known. The thread is runnable before its first run, as each run is
/// in Perfetto's chains of wakeups.
void SchedTracks::show_outside(CpuTrack &track, uint64_t time, uint32_t tid) {
  if (time < track.end)
    return;
  const Task task = names_.outside(tid);
  const uint64_t from = std::max(track.end, time ? time - 1 : 0);
  if (outside_.insert(tid).second)
    add_waking(uint32_t(&track - cpus_.data()), from ? from - 1 : 0, 0, task, track.number);
  const bool follows = track.thread != kNone && track.end == from;
  if (track.thread != kNone && !follows)
    track.bundle.add_switch(track.end, track.state, TaskNames::idle());
  track.bundle.add_switch(from, follows ? track.state : uint32_t(kRunnable), task);
  track.thread = kOutside;
  track.end = time + 1;
  track.state = kUnknown;
  track.ended = true;
  tracks_.instant({TrackKind::outside_wakers}, time,
                  name_and_number(std::string(task.name), "thread", tid));
}

/// Adds where a thread is blocked, in place of the kernel's function.
void SchedTracks::blocked(const Slice &slice, const std::string &where) {
  const auto [known, is_new] = reasons_.try_emplace(where, uint32_t(reasons_.size() + 1));
  const uint32_t reason = known->second; // clang 14 captures no structured binding
  if (is_new)
    file_.packet([&](PacketBuilder &packet) {
      protozero::pbf_builder<InternedData> data(packet, Packet::interned_data);
      protozero::pbf_builder<InternedString> text(data, InternedData::kernel_symbols);
      text.add_uint64(InternedString::iid, reason);
      text.add_string(InternedString::str, where);
    });
  const uint32_t tid = catalog_.threads[slice.thread].tid;
  add_event(slice.cpu, ftrace_event<BlockedReason>(
                           slice.end, tid, FtraceEvent::sched_blocked_reason, [&](auto &fields) {
                             fields.add_int32(BlockedReason::pid, int32_t(tid));
                             fields.add_uint64(BlockedReason::caller, reason);
                           }));
}

void SchedTracks::add_event(uint32_t cpu, std::string_view fields) {
  CpuTrack &track = start(cpu);
  track.bundle.add_event(fields);
  put(track);
}

/// Adds the first entry of a CPU, which only says who had it before: an unknown thread.
SchedTracks::CpuTrack &SchedTracks::start(uint32_t cpu) {
  CpuTrack &track = cpus_[cpu < cpus_.size() ? cpu : 0];
  if (!track.started) {
    track.bundle.add_switch(range_.from, kRunnable, TaskNames::idle());
    track.started = true;
    track.end = range_.from;
  }
  return track;
}

void SchedTracks::run(const Slice &slice) {
  if (slice.cpu >= catalog_.cpus.size()) {
    counts_.without_cpu++;
    return;
  }
  CpuTrack &track = start(slice.cpu);
  if (track.thread == kOutside)
    track.end = std::min(track.end, std::max(slice.start, track.end - 1));
  const uint64_t from = std::max(slice.start, track.end);
  counts_.doubled += from != slice.start;
  if (from > slice.end)
    return;
  const bool follows = track.thread != kNone && track.end == from;
  if (track.thread != kNone && !follows)
    track.bundle.add_switch(track.end, track.state, TaskNames::idle());
  track.bundle.add_switch(from, follows ? track.state : uint32_t(kRunnable),
                          names_.task(slice.thread));
  track.thread = slice.thread;
  track.end = slice.end;
  track.state = state_after(slice);
  track.ended = slice.end < range_.to || slice.ends;
  counts_.runs++;
  put(track);
}

void SchedTracks::finish() {
  for (CpuTrack &track : cpus_) {
    if (track.thread != kNone && track.ended)
      track.bundle.add_switch(track.end, track.state, TaskNames::idle());
    track.bundle.write(file_);
  }
}

} // namespace ovnitrace::perfetto
