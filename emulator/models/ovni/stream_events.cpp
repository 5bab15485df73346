// SPDX-License-Identifier: BSD-2-Clause
// Handles the events of ovni's own model in its streams: OH*, OA*, OB*, OC*, OF*, OU*.
#include "emulator/format/event_names.h"
#include "emulator/models/on_cpu.h"
#include "emulator/models/ovni/ovni.h"
#include "emulator/models/payload.h"

#include <fmt/format.h>

#include <vector>

namespace ovnitrace::ovni_model_parts {

namespace {

/// Calls put() and checks physical CPUs: at most one thread runs on each. ovni does not order
/// events of one time in two streams, so a CPU can be handed over only at a later time.
void place(ModelContext &ctx, const Event &event, uint32_t thread, ThreadState state,
           uint32_t cpu) {
  std::vector<OvniState::Freed> &freed = ctx.own<OvniState>().freed;
  const Thread before = ctx.system.threads()[thread];
  put(ctx, thread, state, cpu);
  const Thread &now = ctx.system.threads()[thread];
  const bool ran = before.state == ThreadState::Running && before.cpu != kNone;
  const bool runs = now.state == ThreadState::Running && now.cpu != kNone;
  if (ran && runs && now.cpu == before.cpu)
    return;
  if (ran)
    freed[before.cpu] = {event.time, thread};
  if (!runs || ctx.system.cpus()[cpu].index == kNone) // the virtual CPU has room for all
    return;
  const bool shared = ctx.system.cpus()[cpu].running.count() > 1;
  const OvniState::Freed &last = freed[cpu];
  if (shared)
    ctx.faults.add(event, [&] {
      return fmt::format("{}: {} runs on {}, on which another thread runs", kind_name(event.kind),
                         who(ctx, thread), cpu_name(ctx.system, cpu));
    });
  else if (last.thread != kNone && last.thread != thread && last.time == event.time)
    ctx.faults.add(event, [&] {
      return fmt::format("{}: {} gets {} at the time at which {} leaves it: their order is open",
                         kind_name(event.kind), who(ctx, thread), cpu_name(ctx.system, cpu),
                         who(ctx, last.thread));
    });
}

/// Checks that the payload has the size that ovni requires.
void check_payload(ModelContext &ctx, const Event &event, uint32_t bytes) {
  if (event.payload_size != bytes)
    ctx.faults.add(event, [&] {
      return fmt::format("{} of {} has a payload of {} bytes, not {}", kind_name(event.kind),
                         who(ctx, event.thread), event.payload_size, bytes);
    });
}

void act(ModelContext &ctx, const Event &event, ThreadAction action, uint32_t cpu) {
  ThreadState from = ctx.system.threads()[event.thread].state;
  if (!is_legal_in_ovni(from, action))
    ctx.faults.add(event, [&] {
      return fmt::format("{}: {} cannot {}: it is {}", kind_name(event.kind),
                         who(ctx, event.thread), name(action), name(from));
    });
  place(ctx, event, event.thread, kStateAfter[size_t(action)], cpu);
}

/// Reads the CPU from the payload: its number in the loom, -1 for the virtual one. Returns false,
/// and reports it, if the payload is too short or there is no such CPU.
bool payload_cpu(ModelContext &ctx, const Event &event, uint32_t &cpu) {
  int32_t index;
  if (!read_payload(event, 0, index)) {
    ctx.faults.add(event, [&] {
      return fmt::format("{} of {} has a payload of {} bytes, too short for a CPU",
                         kind_name(event.kind), who(ctx, event.thread), event.payload_size);
    });
    return false;
  }
  uint32_t host = ctx.system.threads()[event.thread].host;
  cpu = index == -1 ? ctx.system.virtual_cpu(host) : ctx.system.find_cpu(host, uint32_t(index));
  if (cpu == kNone)
    ctx.faults.add(event, [&] {
      return fmt::format("{} of {} names CPU {}, which is not in the trace", kind_name(event.kind),
                         who(ctx, event.thread), index);
    });
  return cpu != kNone;
}

void execute(ModelContext &ctx, const Event &event) {
  uint32_t cpu;
  if (!payload_cpu(ctx, event, cpu))
    cpu = ctx.system.virtual_cpu(ctx.system.threads()[event.thread].host);
  act(ctx, event, ThreadAction::execute, cpu);
}

/// Returns where a thread is; the virtual CPU if that is not known.
uint32_t present_cpu(const ModelContext &ctx, uint32_t thread) {
  const Thread &t = ctx.system.threads()[thread];
  return t.cpu != kNone ? t.cpu : ctx.system.virtual_cpu(t.host);
}

template <ThreadAction action> void change(ModelContext &ctx, const Event &event) {
  act(ctx, event, action, action == ThreadAction::end ? kNone : present_cpu(ctx, event.thread));
}

void affinity_set(ModelContext &ctx, const Event &event) {
  const Thread &thread = ctx.system.threads()[event.thread];
  uint32_t cpu;
  if (!payload_cpu(ctx, event, cpu))
    return;
  check_payload(ctx, event, 4);
  if (!is_active(thread.state)) {
    ctx.faults.add(event, [&] {
      return fmt::format("OAs: {} cannot change its CPU: it is {}", who(ctx, event.thread),
                         name(thread.state));
    });
    return;
  }
  place(ctx, event, event.thread, thread.state, cpu);
}

void affinity_remote(ModelContext &ctx, const Event &event) {
  uint32_t cpu;
  if (!payload_cpu(ctx, event, cpu))
    return;
  // Two processes of a loom may each have a thread of this tid: the input has found the one that is
  // meant.
  uint32_t target = event.peer;
  if (target == kNone) {
    ctx.faults.add(event, [&] {
      return fmt::format("OAr of {} names no thread of the trace", who(ctx, event.thread));
    });
    return;
  }
  check_payload(ctx, event, 8);
  const Thread &thread = ctx.system.threads()[target];
  if (thread.state == ThreadState::Unknown || thread.state == ThreadState::Dead) {
    ctx.faults.add(event, [&] {
      return fmt::format("OAr: {} cannot be put on {}: it is {}", who(ctx, target),
                         cpu_name(ctx.system, cpu), name(thread.state));
    });
    return;
  }
  if (thread.cpu == cpu)
    ctx.faults.add(event, [&] {
      return fmt::format("OAr: {} is put on {}, where it is already", who(ctx, target),
                         cpu_name(ctx.system, cpu));
    });
  place(ctx, event, target, thread.state, cpu);
}

template <int64_t begins> void flush(ModelContext &ctx, const Event &event) {
  if (ctx.value(kFlush, event.thread) == begins)
    ctx.faults.add(event, [&] {
      return fmt::format("{}: {} {}", kind_name(event.kind), who(ctx, event.thread),
                         begins ? "is flushing already" : "does not flush");
    });
  ctx.set(kFlush, event.thread, begins);
}

} // namespace

std::vector<EventDef> stream_events() {
  return {
      {mcv('O', 'H', 'C'), on_cpu<>, "is about to create a thread; no transition"},
      {mcv('O', 'H', 'x'), on_cpu<execute>, "execute: Unknown or Dead to Running on a CPU"},
      {mcv('O', 'H', 'p'), on_cpu<change<ThreadAction::pause>>,
       "pause: Running or Cooling to Paused"},
      {mcv('O', 'H', 'r'), on_cpu<change<ThreadAction::resume>>,
       "resume: Paused or Warming to Running"},
      {mcv('O', 'H', 'c'), on_cpu<change<ThreadAction::cool>>, "cool: Running to Cooling"},
      {mcv('O', 'H', 'w'), on_cpu<change<ThreadAction::warm>>, "warm: Paused to Warming"},
      {mcv('O', 'H', 'e'), on_cpu<change<ThreadAction::end>>, "end: Running or Cooling to Dead"},
      {mcv('O', 'A', 's'), on_cpu<affinity_set>, "affinity set: an active thread moves itself"},
      {mcv('O', 'A', 'r'), on_cpu<affinity_remote>,
       "affinity remote: a thread not Unknown or Dead is moved by another"},
      {mcv('O', 'B', 0), on_cpu<>, "burst, a measure of ovni's own cost; no effect"},
      {mcv('O', 'C', 'n'), on_cpu<>, "an old event that ovni ignores too"},
      {mcv('O', 'F', '['), on_cpu<flush<1>>, "starts to flush the buffer of ovni"},
      {mcv('O', 'F', ']'), on_cpu<flush<0>>, "has flushed it"},
      {mcv('O', 'U', 0), on_cpu<>, "events out of order start or end; no effect here"},
  };
}

} // namespace ovnitrace::ovni_model_parts
