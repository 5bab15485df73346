// SPDX-License-Identifier: BSD-2-Clause
// Finds who held the CPU while threads waited, in the slow way: ns by ns.
#pragma once

#include "emulator/core/replay.h"
#include "emulator/models/registry.h"
#include "emulator/open/open_trace.h"
#include "tests/unit/support/collecting_sink.h"

#include <ovnitrace/control.h>
#include <ovnitrace/ftrace_codes.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace ovnitrace::test {

/// By tid of the waiting thread, why ("wakeup", …) and who held the CPU (a tid, "idle", "unseen",
/// "lost"): ns.
using NaiveWaits = std::map<std::tuple<uint32_t, std::string, std::string>, uint64_t>;

class NaiveWhy {
public:
  /// Replays a trace directory; `from` and `to`: ns on its clock.
  NaiveWhy(const std::string &path, uint64_t from, uint64_t to)
      : source_(open_trace({{path}}, sink_)), catalog_(source_->catalog()), from_(from), to_(to),
        replay_(catalog_, models(), {}, sink_, 0), after_(catalog_.cpus.size(), "lost"),
        dark_(catalog_.cpus.size()), kinds_(catalog_.threads.size()),
        holders_(catalog_.cpus.size()), nowhere_(catalog_.threads.size()) {
    for (Event event; source_->next(event);) {
      pass_to(event.time);
      replay(event);
    }
    pass_to(catalog_.end);
  }

  NaiveWaits waits;

private:
  static std::vector<Model> models() {
    std::vector<Model> all;
    all.push_back(ovni_model());
    return all;
  }
  const std::vector<Thread> &threads() { return replay_.system().threads(); }

  bool is_told() const { return catalog_.hosts[0].cpu_holders && !catalog_.hosts[0].all_threads; }
  bool is_exact() const { return catalog_.hosts[0].cpu_holders || catalog_.hosts[0].all_threads; }
  /// Whether a thread waits for a CPU, other than `but`.
  bool waits_for(uint32_t cpu, uint32_t but) {
    for (uint32_t t = 0; t < threads().size(); t++)
      if (t != but && is_waiting(threads()[t].state) && threads()[t].cpu == cpu)
        return true;
    return false;
  }

  uint32_t running_on(uint32_t cpu) {
    for (uint32_t t = 0; t < threads().size(); t++)
      if (threads()[t].state == ThreadState::Running && threads()[t].cpu == cpu)
        return t;
    return kNone;
  }

  /// Counts each ns up to `time` for the thread that has the CPU then.
  void pass_to(uint64_t time) {
    for (; now_ < time; now_++) {
      for (uint32_t cpu = 0; cpu < after_.size(); cpu++) {
        const uint32_t runs = running_on(cpu);
        holders_[cpu].push_back(runs == kNone ? after_[cpu]
                                              : std::to_string(catalog_.threads[runs].tid));
      }
      for (uint32_t t = 0; t < threads().size(); t++) {
        const Thread &thread = threads()[t];
        const bool waits_now =
            thread.state == ThreadState::Warming || thread.state == ThreadState::Cooling;
        if (!waits_now || now_ < std::max(from_, catalog_.threads[t].birth) || now_ >= to_)
          continue;
        const bool placed = thread.cpu != kNone;
        waits[{catalog_.threads[t].tid, kinds_[t], placed ? holders_[thread.cpu][now_] : "lost"}]++;
        if (!placed)
          nowhere_[t].push_back(now_);
      }
    }
  }

  /// A thread that waited on no known CPU did so on the one that it gets.
  void find_place(uint32_t t, const Thread &before) {
    const uint32_t tid = catalog_.threads[t].tid;
    if (threads()[t].state == ThreadState::Running && threads()[t].cpu != kNone &&
        before.cpu == kNone)
      for (const uint64_t ns : nowhere_[t]) {
        if (--waits[{tid, kinds_[t], "lost"}] == 0)
          waits.erase({tid, kinds_[t], "lost"});
        waits[{tid, kinds_[t], holders_[threads()[t].cpu][ns]}]++;
      }
    nowhere_[t].clear();
  }

  void replay(const Event &event) {
    std::vector<uint32_t> ran;
    for (uint32_t cpu = 0; cpu < after_.size(); cpu++)
      ran.push_back(running_on(cpu));
    const std::vector<Thread> before = threads();
    if (event.kind == FTrace_EXT_refill && event.thread != kNone && event.time <= to_ &&
        threads()[event.thread].state == ThreadState::Cooling &&
        (kinds_[event.thread] == "throttling" || kinds_[event.thread] == "budget" ||
         kinds_[event.thread] == "period")) {
      kinds_[event.thread] = "refill";
      nowhere_[event.thread].clear(); // where it waited before stays unknown
    }
    replay_.handle(event);
    replay_.skip();
    const bool leaves =
        event.kind == FTrace_EVT_task_epilogue || event.kind == FTrace_EVT_task_sleep;
    const uint32_t next = event.par2 & FTRACE_TID_MASK, reason = event.par2 >> FTRACE_REASON_SHIFT;
    for (uint32_t cpu = 0; cpu < after_.size(); cpu++) {
      if (ran[cpu] == kNone || running_on(cpu) == ran[cpu])
        continue;
      const bool own = leaves && event.thread == ran[cpu];
      if (dark_[cpu] || threads()[ran[cpu]].state == ThreadState::Unknown)
        after_[cpu] = "lost";
      else if (own && is_exact() && event.peer == kNone)
        after_[cpu] = next ? std::to_string(next) : "idle";
      else
        after_[cpu] = catalog_.hosts[0].all_threads ? "idle" : is_told() ? "lost" : "unseen";
    }
    if (event.kind == FTrace_EXT_holder && event.par1 < after_.size() && !dark_[event.par1])
      after_[event.par1] = next ? std::to_string(next) : "idle";
    if (event.kind == FTrace_EVT_blackout_start || event.kind == FTrace_EVT_blackout_end) {
      dark_[event.cpu] = event.kind == FTrace_EVT_blackout_start;
      after_[event.cpu] = "lost";
      for (uint32_t cpu = 0; cpu < after_.size(); cpu++)
        if (!dark_[event.cpu] && is_told() && !waits_for(cpu, kNone))
          after_[cpu] = "lost";
    }
    if (event.kind == FTrace_EXT_region && FTRACE_REGION_STARTS(event.par2))
      for (uint32_t cpu = 0; cpu < after_.size(); cpu++)
        if (is_told() && !waits_for(cpu, kNone))
          after_[cpu] = "lost";
    const bool any_dark = std::find(dark_.begin(), dark_.end(), 1) != dark_.end();
    for (uint32_t t = 0; t < threads().size() && any_dark && is_told(); t++)
      if ((threads()[t].cpu != before[t].cpu || threads()[t].state != before[t].state) &&
          is_waiting(threads()[t].state) && threads()[t].cpu < after_.size() &&
          !waits_for(threads()[t].cpu, t))
        after_[threads()[t].cpu] = "lost";
    for (uint32_t t = 0; t < threads().size(); t++) {
      const bool moved = threads()[t].cpu != before[t].cpu;
      if ((moved || threads()[t].state != before[t].state) && event.time <= to_)
        find_place(t, before[t]);
      if (threads()[t].state == before[t].state)
        continue;
      const bool own = event.thread == t && (leaves || event.kind == FTrace_EXT_snapshot);
      const bool found = own && event.kind == FTrace_EXT_snapshot;
      const bool without_budget = event.thread == t && event.kind == FTrace_EVT_task_activate;
      kinds_[t] = threads()[t].state == ThreadState::Warming         ? found ? "unknown" : "wakeup"
                  : without_budget                                   ? "budget"
                  : own && reason == FTRACE_OFFCPU_PREEMPTED         ? "preemption"
                  : own && leaves && reason == FTRACE_OFFCPU_YIELDED ? "yield"
                  : own && reason == FTRACE_OFFCPU_THROTTLED         ? "throttling"
                  : own && reason == FTRACE_OFFCPU_EXHAUSTED         ? "budget"
                  : own && reason == FTRACE_OFFCPU_NEXT_PERIOD       ? "period"
                                                                     : "unknown";
    }
  }

  CollectingSink sink_;
  std::unique_ptr<EventSource> source_;
  const Catalog &catalog_;
  uint64_t from_, to_, now_ = 0;
  Replay replay_;
  std::vector<std::string> after_; ///< by CPU: who has it while no thread of the trace runs there
  std::vector<uint8_t> dark_;      ///< by CPU
  std::vector<std::string> kinds_; ///< by thread
  std::vector<std::vector<std::string>> holders_; ///< by CPU and ns: who had it
  std::vector<std::vector<uint64_t>> nowhere_;    ///< by thread: ns in which it waited on no CPU
};

} // namespace ovnitrace::test
