// SPDX-License-Identifier: BSD-2-Clause
// Shows the regions of --control: the chain whose region a thread is recorded in.
#include "emulator/format/value_names.h"
#include "emulator/models/registry.h"

#include <fmt/format.h>
#include <ovnitrace/control.h>
#include <ovnitrace/ftrace_codes.h>

#include <map>
#include <utility>

namespace ovnitrace {

namespace {

constexpr int64_t kNoChain = CONTROL_CHAINS + 1; ///< started by no chain

/// Added to 1 + the event in PRV type 481.
constexpr int64_t kMarkBcast = 4, kMarkAgain = 8, kMarkOther = 16;

struct Open {
  /// By host and process, or by host and thread if a region belongs to a thread: the value of the
  /// open region.
  std::map<std::pair<uint32_t, uint32_t>, int64_t> values;
  bool by_thread = false;
  ChannelId channel = kNone, fired = kNone;
};

std::pair<uint32_t, uint32_t> key_of(const ModelContext &ctx, const Open &open, uint32_t thread) {
  const ThreadInfo &info = ctx.system.catalog().threads[thread];
  return {info.host, open.by_thread ? info.tid : info.pid};
}

void set(ModelContext &ctx, uint32_t thread, int64_t value) {
  ctx.system.channels().set(ctx.own<Open>().channel, thread, value);
}

/// Returns all labels of type 481.
std::vector<ValueLabel> mark_labels() {
  std::vector<ValueLabel> labels;
  for (int64_t marks = 0; marks < 2 * kMarkOther; marks += kMarkBcast)
    for (const ValueName &event : kRegionEventNames)
      if (event.value == CONTROL_START || (event.value != CONTROL_PRECOND && !(marks & kMarkAgain)))
        labels.push_back(
            {1 + int64_t(event.value) + marks,
             fmt::format("{}{}{}{}", event.label, marks & kMarkAgain ? " of an open region" : "",
                         marks & kMarkBcast ? ", bcast" : "",
                         marks & kMarkOther ? ", fired in another thread" : "")});
  return labels;
}

int64_t mark_of(uint32_t par2) {
  return 1 + (par2 >> FTRACE_REGION_EVENT_SHIFT & 3) +
         (par2 & FTRACE_REGION_BCAST ? kMarkBcast : 0) +
         (par2 & FTRACE_REGION_AGAIN ? kMarkAgain : 0) +
         (par2 & FTRACE_REGION_OTHER ? kMarkOther : 0);
}

int64_t value_of(uint32_t par2) {
  const uint32_t chain = par2 >> FTRACE_REGION_CHAIN_SHIFT & 0xff;
  return chain ? int64_t(chain) : kNoChain;
}

void region(ModelContext &ctx, const Event &event) {
  Open &open = ctx.own<Open>();
  const uint32_t what = event.par2 >> FTRACE_REGION_EVENT_SHIFT & 3;
  open.by_thread = event.par2 & FTRACE_REGION_THREAD;
  const auto key = key_of(ctx, open, event.thread);
  ctx.system.channels().punctual(open.fired, event.thread, mark_of(event.par2));
  if (event.par2 & FTRACE_REGION_AGAIN)
    return;
  if (what == CONTROL_START) {
    open.values[key] = value_of(event.par2);
    set(ctx, event.thread, open.values[key]);
  } else if (what == CONTROL_STOP) {
    open.values.erase(key);
    const std::vector<ThreadInfo> &threads = ctx.system.catalog().threads;
    for (uint32_t t = 0; t < threads.size(); t++)
      if (key_of(ctx, open, t) == key)
        set(ctx, t, 0);
  }
}

/// Shows the region of a thread that exists and is recorded.
void seen(ModelContext &ctx, const Event &event) {
  const Open &open = ctx.own<Open>();
  if (open.values.empty())
    return;
  const auto at = open.values.find(key_of(ctx, open, event.thread));
  if (at != open.values.end())
    set(ctx, event.thread, at->second);
}

/// Forgets the region of an older process or thread of the same number, which did not stop.
void created(ModelContext &ctx, const Event &event) {
  Open &open = ctx.own<Open>();
  const ThreadInfo &info = ctx.system.catalog().threads[event.thread];
  if (open.by_thread || info.tid == info.pid)
    open.values.erase(key_of(ctx, open, event.thread));
  seen(ctx, event);
}

void ended(ModelContext &ctx, const Event &event) {
  set(ctx, event.thread, 0);
}

/// Uses the names of the chains of the first trace that has some.
void start(ModelContext &ctx) {
  ChannelDef def = {.name = "region",
                    .label = "Region of --control",
                    .none = "Not recorded, or no region",
                    .idle = "Idle",
                    .thread_type = 480,
                    .cpu_type = 480,
                    .cpu_track = Track::running};
  for (const HostInfo &host : ctx.system.catalog().hosts) {
    if (!def.values.empty())
      break;
    for (const std::string &chain : host.chains)
      def.values.push_back({int64_t(def.values.size()) + 1, chain});
  }
  def.values.push_back({kNoChain, "Started by no chain"});
  Open open;
  open.channel = ctx.system.channels().declare(std::move(def));
  open.fired = ctx.system.channels().declare({.name = "region event",
                                              .label = "Event of --control",
                                              .thread_type = 481,
                                              .cpu_type = 481,
                                              .cpu_track = Track::running,
                                              .values = mark_labels()});
  ctx.keep(std::move(open));
}

} // namespace

Model region_model() {
  return {
      "region",
      "regions of --control",
      {},
      {
          {FTrace_EXT_region, region,
           "punctual: the event with its flags (`bcast`, open already, other thread); start: the "
           "chain's number on the thread; stop: 0 on all threads of the process, or, with --region "
           "thread, on that thread"},
          {FTrace_EXT_snapshot, seen, "the thread is in the region of its process"},
          {FTrace_EVT_task_create, created,
           "the thread is in the region of its process, unless the process is new"},
          {FTrace_EVT_task_dispatch, seen, "the thread is in the region of its process"},
          {FTrace_EVT_task_end, ended, "0"},
      },
      start,
  };
}

} // namespace ovnitrace
