// SPDX-License-Identifier: BSD-2-Clause
// Work items in which kernel workers wake threads: who queued them, and when.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/trace.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace ovnitrace::test {

namespace {

struct RunTime {
  uint64_t from, to;
};

std::map<uint32_t, std::vector<RunTime>> runs_of(const std::vector<DumpEvent> &events) {
  std::map<uint32_t, std::vector<RunTime>> runs;
  for (const DumpEvent &event : events)
    if (event.takes_cpu())
      runs[event.tid].push_back({event.time, UINT64_MAX});
    else if (event.leaves_cpu() && !runs[event.tid].empty())
      runs[event.tid].back().to = event.time;
  return runs;
}

/// Whether a thread ran at some instant from `from` to `to`.
bool ran(const std::vector<RunTime> &runs, uint64_t from, uint64_t to) {
  for (const RunTime &run : runs)
    if (run.from <= to && run.to >= from)
      return true;
  return false;
}

} // namespace

class WorkItems : public CaptureTest {};

// Some kernels hide switches of certain threads, so a few runs may be missing.
TEST_F(WorkItems, AreQueuedByAThreadThatRanThen) {
  const std::string line = installed("terminal") + " 1";
  record({"sh", "-c", "for n in $(seq 20); do " + line + "; done"}, {"-a"});
  std::set<uint32_t> writers;
  for (const ThreadRecord &thread : read_trace_json(trace()).threads)
    if (thread.name == "writer")
      writers.insert(thread.tid);
  const std::vector<DumpEvent> events = dump(trace());
  const auto runs = runs_of(events);
  std::map<uint32_t, DumpEvent> work; // by thread: what its next wakeup belongs to
  size_t by_writer = 0, checked = 0, right = 0;
  for (const DumpEvent &event : events) {
    if (event.event == "EXT_work") {
      work[event.tid] = event;
    } else if (event.event == "EXT_work_age") {
      ASSERT_TRUE(work.contains(event.tid)) << event.time;
      const uint32_t queuer = tid_of(work[event.tid].detail("queued_by"));
      const bool in_us = event.detail("ns").empty();
      const uint64_t unit = in_us ? 1000 : 1,
                     age = unit * std::stoull(event.detail(in_us ? "us" : "ns"));
      if (!queuer || event.time < age || !runs.contains(queuer))
        continue;
      by_writer += writers.contains(queuer);
      checked++;
      right +=
          ran(runs.at(queuer), event.time - std::min(event.time, age + unit), event.time - age);
    } else if (event.event == "task_activate" && work.erase(event.tid)) {
      EXPECT_TRUE(event.detail("waker").starts_with("kworker/")) << event.details;
      EXPECT_EQ(event.detail("context"), "task");
    }
  }
  EXPECT_GT(by_writer, 2u) << "of 20 lines";
  EXPECT_GE(right, checked - checked / 10) << "of " << checked;
}

} // namespace ovnitrace::test
