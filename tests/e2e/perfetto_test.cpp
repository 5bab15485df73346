// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace export --to perfetto` of real captures: the same switches, states and wakeups that
// `dump` and `info --json` print.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/trace.h"
#include "tests/support/perfetto_trace.h"

namespace ovnitrace::test {

class Perfetto : public CaptureTest {
protected:
  std::string exported() {
    const std::string file = path("trace.pftrace");
    const Outcome outcome =
        run({.argv = {ovnitrace(), "export", "--to", "perfetto", trace(), "-o", file}});
    EXPECT_EQ(outcome.status(), 0) << outcome.err;
    return read_text(file);
  }
  nlohmann::json info() {
    return nlohmann::json::parse(run({.argv = {ovnitrace(), "info", "--json", trace()}}).out);
  }
};

/// What Linux's sched_switch prints for what `dump` prints.
int64_t state_of(const DumpEvent &event) {
  static const std::map<std::string, int64_t> states = {
      {"yielded", 0}, {"preempted", 0x100}, {"sleep", 1},     {"disk", 2},
      {"stopped", 4}, {"traced", 8},        {"parked", 0x40}, {"idle", 0x80}};
  return event.event == "task_end" ? 0x10 : states.at(event.detail("reason"));
}

TEST_F(Perfetto, HasTheSwitchesAndStatesOfTheCapture) {
  record({installed("sched_mix")});
  const PerfettoTrace perfetto(exported());
  const TraceRecord record = read_trace_json(trace());
  ASSERT_EQ(record.lost, 0u);
  size_t runs = 0;
  for (const auto &[tid, events] : by_thread(dump(trace()))) {
    const std::vector<PerfettoTrace::Run> shown = perfetto.runs_of(int32_t(tid));
    std::vector<DumpEvent> taken, left;
    for (const DumpEvent &event : events) {
      if (event.takes_cpu())
        taken.push_back(event);
      if (event.leaves_cpu() && taken.size() == left.size() + 1)
        left.push_back(event);
    }
    ASSERT_EQ(shown.size(), taken.size()) << tid;
    std::vector<PerfettoTrace::Run> sorted = shown;
    std::sort(sorted.begin(), sorted.end(),
              [](const auto &a, const auto &b) { return a.start < b.start; });
    for (size_t n = 0; n < left.size(); n++) {
      ASSERT_EQ(sorted[n].start, record.begin + taken[n].time) << tid;
      ASSERT_EQ(sorted[n].end, record.begin + left[n].time) << tid;
      ASSERT_EQ(int(sorted[n].cpu), taken[n].cpu) << tid;
      ASSERT_EQ(sorted[n].state, state_of(left[n])) << tid << " at " << left[n].time;
    }
    runs += taken.size();
  }
  const auto others =
      std::count_if(perfetto.runs.begin(), perfetto.runs.end(), [&](const PerfettoTrace::Run &run) {
        const bool outside = !record.thread(uint32_t(run.tid));
        EXPECT_TRUE(!outside || run.end - run.start <= 2) << "a waker shows its instant";
        return outside;
      });
  EXPECT_EQ(perfetto.runs.size(), runs + size_t(others)) << "and no others";
  EXPECT_GT(runs, 100u);
  for (const nlohmann::json &thread : info()["threads"]) {
    uint64_t running = 0;
    for (const auto &one : perfetto.runs_of(thread["tid"]))
      running += std::min(one.end, record.end) - one.start;
    EXPECT_EQ(running, thread["time_ns"]["running"].get<uint64_t>()) << thread["tid"];
  }
}

TEST_F(Perfetto, ShowsWakersAndCreators) {
  record({installed("pingpong"), "--threads", "2000"});
  PerfettoTrace perfetto(exported());
  const TraceRecord record = read_trace_json(trace());
  std::vector<DumpEvent> woken, created;
  for (const DumpEvent &event : dump(trace())) {
    if (event.event == "task_activate")
      woken.push_back(event);
    if (event.event == "task_create" && record.thread(event.tid) &&
        record.thread(event.tid)->parent)
      created.push_back(event);
  }
  std::erase_if(perfetto.wakings, [&](const PerfettoTrace::Waking &waking) {
    return !record.thread(uint32_t(waking.tid)); // before the first run of a waker from outside
  });
  ASSERT_EQ(perfetto.wakings.size(), woken.size());
  size_t by_threads = 0;
  for (size_t n = 0; n < woken.size(); n++) {
    const PerfettoTrace::Waking &waking = perfetto.wakings[n];
    ASSERT_EQ(waking.time, record.begin + woken[n].time);
    ASSERT_EQ(waking.tid, int32_t(woken[n].tid));
    const std::string context = woken[n].detail("context");
    const bool by_thread = context == "task";
    ASSERT_EQ(waking.flags.value_or(0) == 0, by_thread || context == "unknown") << woken[n].time;
    ASSERT_TRUE(!by_thread || waking.waker == int32_t(tid_of(woken[n].detail("waker"))))
        << woken[n].time << " by " << waking.waker;
    by_threads += by_thread;
  }
  EXPECT_GE(by_threads, 1000u) << "of 2000 round trips";
  ASSERT_EQ(perfetto.created.size(), created.size());
  for (size_t n = 0; n < created.size(); n++) {
    EXPECT_EQ(perfetto.created[n].tid, int32_t(created[n].tid));
    EXPECT_EQ(perfetto.created[n].creator, int32_t(record.thread(created[n].tid)->parent));
  }
}

} // namespace ovnitrace::test
