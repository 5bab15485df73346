// SPDX-License-Identifier: BSD-2-Clause
// Handles the scheduler's records: docs/format.md, "Events".
#include "emulator/models/ovni/ovni.h"

#include <fmt/format.h>
#include <ovnitrace/control.h>
#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace::ovni_model_parts {

namespace {

/// Clears other threads on a CPU: only one runs there, so nothing is known about another that
/// should.
void evict_others(ModelContext &ctx, const Event &event, uint32_t cpu) {
  const Cpu &c = ctx.system.cpus()[cpu];
  if (c.running.count() == 0 || c.running.is_only(event.thread))
    return;
  const auto evict = [&](uint32_t t) {
    const Thread &other = ctx.system.threads()[t];
    if (t == event.thread || other.cpu != cpu || other.state != ThreadState::Running)
      return;
    ctx.faults.add_unseen_switch(event, t, [&] {
      return fmt::format("{} gets {}, on which {} still runs", who(ctx, event.thread),
                         cpu_name(ctx.system, cpu), who(ctx, t));
    });
    put(ctx, t, ThreadState::Unknown, kNone);
  };
  if (c.running.count() == 1)
    evict(c.running.only());
  else
    ctx.system.known().for_each(evict);
}

void dispatch(ModelContext &ctx, const Event &event) {
  const Thread &thread = ctx.system.threads()[event.thread];
  ThreadAction action =
      thread.state == ThreadState::Unknown ? ThreadAction::execute : ThreadAction::resume;
  if (!is_legal(thread.state, action)) {
    const auto what = [&] {
      return fmt::format("{} gets {}, but is {} on {}", who(ctx, event.thread),
                         cpu_name(ctx.system, event.cpu), name(thread.state),
                         cpu_name(ctx.system, thread.cpu));
    };
    if (thread.state == ThreadState::Running)
      ctx.faults.add_unseen_switch(event, event.thread, what);
    else
      ctx.faults.add(event, what);
  }
  if (event.cpu != kNone)
    evict_others(ctx, event, event.cpu);
  put(ctx, event.thread, ThreadState::Running, event.cpu);
}

/// Notes that a thread that leaves a CPU was running on it, even if it was Unknown.
template <ThreadAction action> void leave_cpu(ModelContext &ctx, const Event &event) {
  const Thread &thread = ctx.system.threads()[event.thread];
  bool ran_here = thread.state == ThreadState::Running && thread.cpu == event.cpu;
  if (!ran_here && thread.state != ThreadState::Unknown)
    ctx.faults.add(event, [&] {
      return fmt::format("{} leaves {} (to {}), but is {} on {}", who(ctx, event.thread),
                         cpu_name(ctx.system, event.cpu), name(action), name(thread.state),
                         cpu_name(ctx.system, thread.cpu));
    });
  constexpr ThreadState after = kStateAfter[size_t(action)];
  put(ctx, event.thread, after, after == ThreadState::Dead ? kNone : event.cpu);
}

/// Handles a wakeup. If the thread never left its CPU, or is already woken, this is not a
/// transition. A thread without quota or budget cannot use a CPU yet.
void activate(ModelContext &ctx, const Event &event) {
  const Thread &thread = ctx.system.threads()[event.thread];
  if (is_legal(thread.state, ThreadAction::warm))
    put(ctx, event.thread, event.held_back() ? ThreadState::Cooling : ThreadState::Warming,
        thread.cpu);
}

void migrate(ModelContext &ctx, const Event &event) {
  const Thread &thread = ctx.system.threads()[event.thread];
  uint32_t cpu = ctx.system.find_cpu(thread.host, event.par2);
  if (cpu == kNone)
    ctx.faults.add(event, [&] {
      return fmt::format("{} is put on CPU {}, which is not in the trace", who(ctx, event.thread),
                         event.par2);
    });
  if (thread.state == ThreadState::Running || thread.state == ThreadState::Dead) {
    ctx.faults.add(event, [&] {
      return fmt::format("{} is put on CPU {}, but is {} on {}", who(ctx, event.thread), event.par2,
                         name(thread.state), cpu_name(ctx.system, thread.cpu));
    });
    return;
  }
  put(ctx, event.thread, thread.state, cpu);
}

/// Handles an execve of a thread that is not the main one: it takes the main thread's tid. The row
/// of its old tid ends, and that of the main thread runs in its place.
void exec(ModelContext &ctx, const Event &event) {
  const Catalog &catalog = ctx.system.catalog();
  const ThreadInfo &info = catalog.threads[event.thread];
  if (event.par2 == 0 || event.par2 == info.tid)
    return;
  uint32_t old = ctx.system.find_thread(info.host, event.par2, event.time);
  if (old != kNone && catalog.threads[old].pid == info.pid)
    put(ctx, old, ThreadState::Dead, kNone);
  else if (ctx.system.threads()[event.thread].state !=
           ThreadState::Unknown) // otherwise its start was not seen
    ctx.faults.add(event, [&] {
      return fmt::format("{} goes on with execve of thread {}, which its process does not have",
                         who(ctx, event.thread), event.par2);
    });
  if (event.cpu != kNone)
    evict_others(ctx, event, event.cpu);
  put(ctx, event.thread, ThreadState::Running, event.cpu);
}

/// Sets the real state of a thread of which nothing is known. Events of other CPUs may have said
/// more by now.
void restore(ModelContext &ctx, const Event &event) {
  const Thread &thread = ctx.system.threads()[event.thread];
  uint32_t state = event.par2 & FTRACE_SNAPSHOT_STATE_MASK;
  if (state >= kThreadStates) {
    ctx.faults.add(event, [&] {
      return fmt::format("{} is said to be in state {}, which does not exist",
                         who(ctx, event.thread), state);
    });
    return;
  }
  const uint32_t number = event.par2 >> FTRACE_SNAPSHOT_CPU_SHIFT & 0xffff;
  uint32_t cpu = ctx.system.find_cpu(thread.host, number);
  const bool known = number != FTRACE_SNAPSHOT_NO_CPU;
  if (cpu == kNone && known &&
      is_active(ThreadState(state))) // a thread that sleeps may have left a CPU that is now offline
    ctx.faults.add(event, [&] {
      return fmt::format("{} is said to be {} on CPU {}, which is not in the trace",
                         who(ctx, event.thread), name(ThreadState(state)), number);
    });
  bool running = ThreadState(state) == ThreadState::Running;
  bool taken = cpu != kNone && ctx.system.cpus()[cpu].running.count() > 0;
  if (thread.state == ThreadState::Unknown && !(running && taken))
    put(ctx, event.thread, ThreadState(state), cpu);
}

/// Handles a thread at the start, or one that passes the filters of the capture from now on. If the
/// state is Unknown, it no longer passes them.
void snapshot(ModelContext &ctx, const Event &event) {
  const bool left = ThreadState(event.par2 & FTRACE_SNAPSHOT_STATE_MASK) == ThreadState::Unknown;
  ctx.system.set_left(event.thread, left);
  if (left)
    put(ctx, event.thread, ThreadState::Unknown, kNone);
  else
    restore(ctx, event);
}

/// Sets a state for readers that lack earlier events. After a blackout of forgotten events, all
/// later events of this thread are kept.
void state(ModelContext &ctx, const Event &event) {
  if (event.cpu != kNone && ctx.system.cpus()[event.cpu].blackout == Blackout::forgotten)
    ctx.system.set_whole(event.thread);
  restore(ctx, event);
}

void blackout_start(ModelContext &ctx, const Event &event) {
  if (!hides_states(event))
    return;
  const bool forgotten = event.par1 == FTRACE_BLACKOUT_FORGOTTEN;
  ctx.system.set_blackout(event.cpu, forgotten ? Blackout::forgotten : Blackout::lost);
  ctx.system.known().for_each([&](uint32_t t) {
    const Thread &thread = ctx.system.threads()[t];
    put(ctx, t, thread.state, thread.cpu);
  });
}

void blackout_end(ModelContext &ctx, const Event &event) {
  if (hides_states(event))
    ctx.system.set_blackout(event.cpu, Blackout::none);
}

/// Clears threads outside regions: nothing is recorded there.
void region(ModelContext &ctx, const Event &event) {
  const bool of_thread = event.par2 & FTRACE_REGION_THREAD;
  if ((event.par2 >> FTRACE_REGION_EVENT_SHIFT & 3) != CONTROL_STOP)
    return;
  const ThreadInfo &info = ctx.system.catalog().threads[event.thread];
  ctx.system.known().for_each([&](uint32_t t) {
    const ThreadInfo &other = ctx.system.catalog().threads[t];
    if (of_thread ? t == event.thread : other.host == info.host && other.pid == info.pid)
      put(ctx, t, ThreadState::Unknown, kNone);
  });
}

} // namespace

std::vector<EventDef> kernel_events() {
  return {
      {FTrace_EVT_task_create, nullptr, "the thread is born; it stays Unknown"},
      {FTrace_EVT_task_dispatch, dispatch,
       "gets the CPU: Unknown, Paused, Warming or Cooling to Running"},
      {FTrace_EVT_task_epilogue, leave_cpu<ThreadAction::cool>,
       "loses the CPU while runnable: Running to Cooling"},
      {FTrace_EVT_task_sleep, leave_cpu<ThreadAction::pause>,
       "leaves the CPU blocked: Running to Paused"},
      {FTrace_EVT_task_end, leave_cpu<ThreadAction::end>,
       "leaves the CPU for ever: Running to Dead"},
      {FTrace_EVT_task_activate, activate,
       "is woken: Paused or Unknown to Warming; in any other state no transition"},
      {FTrace_EXT_migrate, migrate, "is put on another CPU; same state"},
      {FTrace_EXT_exec, exec,
       "execve. A thread that is not the main one goes on in the row of the main thread"},
      {FTrace_EXT_cgroup_move, nullptr, "is put into another cgroup; no transition"},
      {FTrace_EXT_exit, nullptr, "starts to exit; no transition yet"},
      {FTrace_EXT_snapshot, snapshot,
       "state and CPU of a thread at the start of the capture, or when it passes the filters "
       "again: Unknown to any. If the record has the state 0, the thread no longer passes the "
       "filters"},
      {FTrace_EXT_state, state,
       "state and CPU at the start of a chunk, or of a flight recorder's events: Unknown to any"},
      {FTrace_EXT_region, region, "a region stops: the threads in it become Unknown"},
      {FTrace_EVT_blackout_start, blackout_start,
       "events are being lost: every thread becomes Unknown, unless it is Running on a CPU without "
       "a blackout",
       false},
      {FTrace_EVT_blackout_end, blackout_end,
       "no more events are lost: threads stay Unknown until their next event", false},
  };
}

} // namespace ovnitrace::ovni_model_parts
