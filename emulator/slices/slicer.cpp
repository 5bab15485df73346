// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/slices/slicer.h"

#include "emulator/core/replay.h"
#include "emulator/format/found_state.h"
#include "emulator/models/registry.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <utility>

namespace ovnitrace {

namespace {

constexpr bool takes_off_cpu(const Event &event) {
  return event.kind == FTrace_EVT_task_epilogue || event.kind == FTrace_EVT_task_sleep;
}

/// Sets how a thread left its CPU, or was found, from its own event.
void set_departure(Slice &slice, const Event &event, uint32_t stack) {
  if (takes_off_cpu(event)) {
    slice.stack = stack;
    slice.reason = event.reason();
    slice.next = event.next();
  } else if (event.kind == FTrace_EVT_task_end) {
    slice.reason = FTRACE_OFFCPU_DEAD; // parameter 2 is its own tid
  } else if (event.kind == FTrace_EVT_task_activate) {
    slice.reason = event.held_back();
  } else if (const uint8_t reason = found_reason(event)) {
    slice.reason = reason;
  }
}

void set_waker(Slice &slice, const Event &event, uint32_t stack) {
  if (event.kind != FTrace_EVT_task_activate)
    return;
  slice.waker_stack = stack;
  slice.context = event.waker_context();
  slice.waker = event.named();
}

} // namespace

Slicer::Slicer(const System &system, const Cut &cut, SliceSink &sink)
    : system_(system), cut_(cut), sink_(sink), range_(range_of(cut, system.catalog())),
      events_from_(cut.from ? range_.from : 0), cpus_(system.cpus().size()) {
  open_.reserve(system.threads().size());
  while (open_.size() < system.threads().size())
    add_thread();
}

void Slicer::add_thread() {
  const Catalog &catalog = system_.catalog();
  const auto index = uint32_t(open_.size());
  const ThreadInfo &info = catalog.threads[index];
  open_.push_back({.thread = index, .start = std::max(catalog.begin, info.birth)});
  kept_.push_back(cut_.keeps(info));
  if (!stacks_.empty())
    stacks_.resize(open_.size());
}

void Slicer::on_born(uint32_t thread) {
  add_thread();
  sink_.on_born(thread);
}

void Slicer::on_named(uint32_t thread) {
  const bool keeps = cut_.keeps(system_.catalog().threads[thread]);
  Slice &open = open_[thread];
  const bool runs = open.state == ThreadState::Running;
  if (kept_[thread] && !keeps) {
    end_slice(open, now_, open.state, false);
    if (runs)
      run(open.cpu, -1);
  } else if (!kept_[thread] && keeps) {
    open.start = std::max(open.start, now_);
    open.starts = false;
    if (runs)
      run(open.cpu, 1);
  }
  kept_[thread] = keeps;
  sink_.on_named(thread);
}

bool Slicer::event(const Event &event) {
  if (event.time > range_.to)
    return false;
  event_ = &event;
  now_ = event.time;
  if (now_ >= events_from_ && (event.thread == kNone || kept_[event.thread]))
    sink_.on_event(event, system_);
  note_stack(event);
  if (event.kind == FTrace_EVT_blackout_start || event.kind == FTrace_EVT_blackout_end)
    blackout(event);
  if (event.kind == FTrace_EXT_refill)
    refill(event.thread);
  return true;
}

/// Starts a new slice: a throttled thread waits for a CPU from now on.
void Slicer::refill(uint32_t thread) {
  if (thread >= open_.size() || open_[thread].state != ThreadState::Cooling ||
      !ftrace_offcpu_is_throttled(open_[thread].reason))
    return;
  Slice &open = open_[thread];
  end_slice(open, now_, ThreadState::Cooling, true);
  start_slice(open, now_, ThreadState::Cooling, open.cpu, true);
  open.reason = FTRACE_OFFCPU_REFILLED;
}

void Slicer::note_stack(const Event &event) {
  if (event.kind != FTrace_EXT_stack && event.kind != FTrace_EXT_waker_stack)
    return;
  if (stacks_.empty())
    stacks_.resize(open_.size());
  if (event.thread >= stacks_.size() || event.par2 == 0)
    return;
  SeenStacks &seen = stacks_[event.thread];
  (event.kind == FTrace_EXT_stack ? seen.own : seen.wakers) = {event.time, event.par2};
}

void Slicer::on_change(uint32_t thread, const StateChange &change) {
  sink_.on_change(thread, change, now_);
  const bool ran = change.from == ThreadState::Running, runs = change.to == ThreadState::Running;
  if (kept_[thread] && ran)
    run(change.old_cpu, -1);
  if (kept_[thread] && runs)
    run(change.cpu, 1);
  if (change.from == change.to && !runs)
    return; // only moved
  const bool own = event_->thread == thread;
  // Other threads' events are not seen, except for execve: it ends the thread whose place the main
  // thread takes.
  const bool seen = !gives_state(*event_) && (own || change.to != ThreadState::Unknown);
  const SeenStacks stacks = thread < stacks_.size() ? stacks_[thread] : SeenStacks{};
  Slice &open = open_[thread];
  if (own && ran)
    set_departure(open, *event_, stacks.own.at(now_));
  if (own && is_blocked(change.from))
    set_waker(open, *event_, stacks.wakers.at(now_));
  end_slice(open, now_, change.to, seen);
  start_slice(open, now_, change.to, change.cpu, seen && change.to != ThreadState::Unknown);
  if (own && (change.to == ThreadState::Cooling || is_blocked(change.to) ||
              (change.to == ThreadState::Warming && gives_state(*event_))))
    set_departure(open, *event_, stacks.own.at(now_));
  if (own && is_blocked(change.to))
    open.call = event_->call;
  if (own)
    set_waker(open, *event_, stacks.wakers.at(now_));
}

/// Passes on the part of a slice that is in the range.
void Slicer::end_slice(Slice &open, uint64_t time, ThreadState then, bool seen) {
  if (!kept_[open.thread] || time < range_.from || open.start > range_.to || time < open.start)
    return;
  Slice slice = open;
  slice.starts = open.starts && in_range(open.start);
  slice.ends = seen && in_range(time);
  slice.start = std::max(open.start, range_.from);
  slice.end = std::min(time, range_.to);
  slice.then = then;
  const bool instant = slice.state != ThreadState::Unknown && (slice.starts || slice.ends);
  if (slice.start < slice.end || instant)
    sink_.on_slice(slice);
}

void Slicer::start_slice(Slice &open, uint64_t time, ThreadState state, uint32_t cpu, bool seen) {
  const uint64_t start = std::max(time, open.start); // not before its birth
  open = {.thread = open.thread,
          .cpu = cpu,
          .start = start,
          .state = state,
          .starts = seen && time == start};
}

/// Notes that one thread more, or one less, runs on a CPU.
void Slicer::run(uint32_t cpu, int more) {
  if (cpu >= cpus_.size())
    return;
  OpenCpu &at = cpus_[cpu];
  if (at.running == 0)
    at.busy_since = now_;
  at.running += uint32_t(more);
  if (at.running == 0)
    put_cpu(CpuSpan::What::busy, cpu, at.busy_since, true);
}

/// Starts or ends a blackout. A second start within a blackout is ignored; its first end ends it.
void Slicer::blackout(const Event &event) {
  if (!hides_states(event) || event.cpu >= cpus_.size())
    return;
  OpenCpu &at = cpus_[event.cpu];
  if (event.kind == FTrace_EVT_blackout_start) {
    if (!at.dark)
      at = {at.running, at.busy_since, now_, true, true};
    at.counted &= !loses_uncounted(event);
  } else if (at.dark) {
    at.dark = false;
    put_cpu(CpuSpan::What::dark, event.cpu, at.dark_since, at.counted);
  }
}

void Slicer::put_cpu(CpuSpan::What what, uint32_t cpu, uint64_t since, bool counted) {
  const uint64_t start = std::max(since, range_.from), end = std::min(now_, range_.to);
  if (start <= end)
    sink_.on_cpu({.cpu = cpu, .start = start, .end = end, .what = what, .counted = counted});
}

void Slicer::finish() {
  range_ = range_of(cut_, system_.catalog()); // of a live source, the end is known only now
  now_ = range_.to;
  for (Slice &open : open_)
    end_slice(open, now_, open.state, false);
  for (uint32_t cpu = 0; cpu < cpus_.size(); cpu++) {
    if (cpus_[cpu].running)
      put_cpu(CpuSpan::What::busy, cpu, cpus_[cpu].busy_since, true);
    if (cpus_[cpu].dark)
      put_cpu(CpuSpan::What::dark, cpu, cpus_[cpu].dark_since, cpus_[cpu].counted);
  }
}

namespace {

/// Passes a replay to the slicers of all views.
class Slicers final : public ReplayPart, public StateObserver {
public:
  Slicers(Replay &replay, std::span<const SliceView> views) : replay_(replay) {
    for (const SliceView &view : views)
      slicers_.emplace_back(replay.system(), view.cut, view.sink);
    replay.system().observe(this);
  }
  /// Returns false after the end of the range: the event must not be handled.
  bool before(const Event &event) {
    bool wanted = false;
    for (Slicer &slicer : slicers_)
      wanted |= slicer.event(event);
    return wanted;
  }
  void after(const Event &) { replay_.skip(); } // nothing is written
  void on_change(uint32_t thread, const StateChange &change) override {
    for (Slicer &slicer : slicers_)
      slicer.on_change(thread, change);
  }
  void on_born(uint32_t thread) override {
    for (Slicer &slicer : slicers_)
      slicer.on_born(thread);
  }
  void on_named(uint32_t thread) override {
    for (Slicer &slicer : slicers_)
      slicer.on_named(thread);
  }
  void on_ended(uint32_t thread) override {
    for (Slicer &slicer : slicers_)
      slicer.on_ended(thread);
  }
  void finish() {
    for (Slicer &slicer : slicers_)
      slicer.finish();
  }

private:
  Replay &replay_;
  std::vector<Slicer> slicers_;
};

} // namespace

void replay_slices(EventSource &source, std::span<const SliceView> views) {
  for (const SliceView &view : views)
    check_cut(view.cut, source.catalog());
  NoDiagnostics silent;
  Replay replay(source.catalog(), state_models(), {}, silent, 0);
  Slicers slicers(replay, views);
  ReadAhead reader(source);
  replay.play(reader, slicers);
  slicers.finish();
}

void replay_slices(EventSource &source, const Cut &cut, SliceSink &sink) {
  const SliceView view{cut, sink};
  replay_slices(source, std::span(&view, 1));
}

} // namespace ovnitrace
