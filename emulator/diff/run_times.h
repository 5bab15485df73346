// SPDX-License-Identifier: BSD-2-Clause
// Measures one run: where the time of its critical path and of its groups of threads went, in names
// that mean the same in another run.
#pragma once

#include "emulator/critical/path.h"
#include "emulator/diff/names.h"
#include "emulator/input/trace_dir.h"
#include "emulator/summary/latency_histogram.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ovnitrace {

/// What time passed for.
struct TimeCause {
  enum class Kind : uint8_t {
    running,
    preempted, ///< waited for a CPU after a preemption
    waiting,   ///< waited for a CPU after anything else
    blocked,
    throttled, ///< it had no CPU quota or SCHED_DEADLINE budget left
    spinning,  ///< waited for something by yielding again and again
    unknown,   ///< the thread's state is not known
  };
  std::string group; ///< of the thread: Names::group()
  Kind kind = Kind::unknown;
  std::string call = {};    ///< blocked: in which system call, or another reason; may be empty
  std::string culprit = {}; ///< folded: who held the CPU, or woke the thread; may be empty
  std::string at = {};      ///< blocked: the function of the program, if stacks were recorded

  auto operator<=>(const TimeCause &) const = default;
};
using Times = std::map<TimeCause, uint64_t>; ///< ns

/// Something that should be the same in all runs that are compared.
struct Condition {
  std::string what, value;
};

struct RunTimes {
  std::string trace;                             ///< its path
  std::string of;                                ///< group of the thread whose path it is
  std::string last = {};                         ///< of CriticalPath::last
  uint64_t wall = 0;                             ///< ns: length of the path; see `regions`
  uint64_t from = 0;                             ///< its start, ns on the clock of the trace
  uint32_t thread = kNone;                       ///< whose it is: index into Catalog::threads
  Times path;                                    ///< adds up to `wall`
  std::map<TimeCause, PathSegment> longest;      ///< of the path, by cause
  Times life;                                    ///< of all threads: adds up to their lives
  std::map<std::string, size_t> threads;         ///< by group: how many
  std::map<std::string, LatencyHistogram> waits; ///< by group: lengths of waits for a CPU
  std::set<std::string> lossy;                   ///< groups of which events were lost
  bool part = false;                 ///< a part of a run: `wall` is the capture's length
  bool regions = false;              ///< of --control: the time outside them does not count
  std::vector<Condition> conditions; ///< the same ones, in one order, for each run
  uint64_t lost = 0;                 ///< events
  double stolen = 0;                 ///< share of the CPUs' time; 0 too: not recorded
  uint32_t khz = 0;                  ///< mean frequency of the CPUs; 0: not recorded
};

/// What to measure.
struct RunQuery {
  std::optional<uint32_t> section; ///< the longest section of this number; absent: the whole run
  std::vector<std::string> comms;  ///< only threads with these names; the path is one of theirs
};

/// Measures a run from the time on at which ovnitrace let the program run. `open` opens the trace
/// again. Reads it twice; memory depends on its threads and CPUs. Throws Error.
RunTimes measure(const std::string &trace, const TraceInfo &info, const RunQuery &query,
                 const std::function<std::unique_ptr<EventSource>()> &open, Names &names,
                 const Renames &renames);

} // namespace ovnitrace
