// SPDX-License-Identifier: BSD-2-Clause
// Shows servers: budgets of SCHED_DEADLINE threads, and the servers of S.Ha.R.K.
#include "emulator/models/registry.h"

#include "emulator/models/host_rows.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>

namespace ovnitrace {

namespace {

enum : uint32_t { kState, kBudget, kOverrun, kEvent, kServer, kReclaimed };

enum : int64_t { kHasBudget = 1, kExhausted, kNextPeriod, kReclaiming };

/// Returns whether the server is a thread, as on Linux. If it is not, shows the event on the CPU:
/// in the manual, a server has a number and no context.
bool is_thread(ModelContext &ctx, const Event &event) {
  if (event.thread != kNone)
    return true;
  if (event.cpu != kNone) {
    ctx.punctual(kEvent, event.cpu, int64_t(event.kind >> 4) + 1);
    ctx.punctual(kServer, event.cpu, int64_t(event.par2) + 1);
  }
  return false;
}

template <int64_t state> void becomes(ModelContext &ctx, const Event &event) {
  if (is_thread(ctx, event))
    ctx.set(kState, event.thread, state);
}

void active(ModelContext &ctx, const Event &event) {
  if (!is_thread(ctx, event))
    return;
  ctx.set(kState, event.thread, kHasBudget);
  ctx.set(kBudget, event.thread, event.par2);
}

void exhaust(ModelContext &ctx, const Event &event) {
  if (!is_thread(ctx, event))
    return;
  const bool yielded = event.par2 & FTRACE_SERVER_YIELDED;
  ctx.set(kState, event.thread, yielded ? kNextPeriod : kExhausted);
  ctx.set(kBudget, event.thread, 0);
  if (!yielded)
    ctx.punctual(kOverrun, event.thread, std::max<uint32_t>(event.par2, 1));
}

void remove(ModelContext &ctx, const Event &event) {
  if (!is_thread(ctx, event))
    return;
  ctx.set(kState, event.thread, 0);
  ctx.set(kBudget, event.thread, 0);
}

/// Handles the event, whose parameters are always (reclaiming, server).
void using_reclaimed(ModelContext &ctx, const Event &event) {
  if (!is_thread(ctx, event) && event.cpu != kNone)
    ctx.punctual(kReclaimed, event.cpu, int64_t(event.par1) + 1);
}

/// Clears budgets: what happened to them while events were lost is not known.
void blackout(ModelContext &ctx, const Event &event) {
  each_thread_of_host(ctx, event, [&](uint32_t thread) {
    ctx.set(kState, thread, 0);
    ctx.set(kBudget, thread, 0);
  });
}

} // namespace

Model server_model() {
  return {
      "server",
      "budgets of SCHED_DEADLINE threads, and servers of S.Ha.R.K.",
      {
          {.name = "server",
           .label = "Budget of the SCHED_DEADLINE thread",
           .none = "No budget known",
           .thread_type = 450,
           .cpu_type = 450,
           .cpu_track = Track::running,
           .scheduling = true,
           .values = {{kHasBudget, "Has budget"},
                      {kExhausted, "Exhausted: throttled"},
                      {kNextPeriod, "Yielded: waits for its next period"},
                      {kReclaiming, "Reclaiming"}}},
          {.name = "budget left",
           .label = "Budget that was left when it got the CPU (ns)",
           .none = "Not known",
           .thread_type = 451,
           .cpu_type = 451,
           .thread_track = Track::running,
           .cpu_track = Track::running,
           .scheduling = true,
           .paint = Paint::gradient},
          {.name = "overrun",
           .label = "Time that it ran beyond its budget (ns)",
           .none = "No overrun",
           .thread_type = 452,
           .paint = Paint::gradient},
          {.name = "server event",
           .label = "What happens to a server of S.Ha.R.K.",
           .none = "Nothing",
           .cpu_type = 453,
           .scope = Scope::cpu,
           .values = {{1, "Create"},
                      {2, "Replenish"},
                      {3, "Exhaust"},
                      {4, "Reclaiming"},
                      {5, "Remove"},
                      {6, "Active"},
                      {7, "Uses reclaimed time"}}},
          {.name = "server number",
           .label = "Server of S.Ha.R.K. to which it happens, + 1",
           .none = "No server",
           .cpu_type = 454,
           .scope = Scope::cpu},
          {.name = "reclaiming",
           .label = "Parameter reclaiming of server_using_rec, + 1",
           .cpu_type = 455,
           .scope = Scope::cpu},
      },
      {
          {FTrace_EVT_server_create, becomes<kHasBudget>, "has budget", false},
          {FTrace_EVT_server_replenish, becomes<kHasBudget>, "has budget", false},
          {FTrace_EVT_server_active, active, "has budget, of which parameter 2 is left", false},
          {FTrace_EVT_server_exhaust, exhaust, "exhausted, and punctual: the overrun; or yielded",
           false},
          {FTrace_EVT_server_reclaiming, becomes<kReclaiming>, "reclaiming", false},
          {FTrace_EVT_server_remove, remove, "no server any more", false},
          {FTrace_EVT_server_using_rec, using_reclaimed,
           "only S.Ha.R.K., shown on the CPU; punctual: reclaiming + 1", false},
          {FTrace_EVT_blackout_start, blackout, "no budget is known", false},
          {FTrace_EVT_blackout_end, blackout, "no budget is known", false},
          {FTrace_filter_server, if_filtered<blackout>, "with parameter 1 = 1 no budget is known",
           false},
      },
  };
}

} // namespace ovnitrace
