// SPDX-License-Identifier: BSD-2-Clause
// Threads that may not run until the next period: several at once, in cgroups inside cgroups, and
// when a capture starts.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/quota.h"
#include "tests/e2e/support/trace.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <sched.h>
#include <set>
#include <utility>

namespace ovnitrace::test {

namespace {

using nlohmann::json;

/// What a trace says of threads that were throttled, in ns by tid.
struct Throttled {
  std::map<uint32_t, uint64_t> ns;
  std::map<uint32_t, size_t> refills;
  std::string wrong; ///< events that contradict each other
};

/// Takes a snapshot that says so for the start of a time, too. The CPU whose timer refills a thread
/// may be interrupted, and log it when the thread already runs on another CPU.
Throttled throttled_in(const std::vector<DumpEvent> &events) {
  Throttled found;
  std::map<uint32_t, uint64_t> since;
  std::set<uint32_t> known;           // the state of a thread. Before, it may have been throttled
  std::map<uint32_t, uint64_t> early; // a dispatch before the refill
  const auto complain = [&](const char *what, uint32_t tid, uint64_t time) {
    found.wrong += what + std::to_string(tid) + " at " + std::to_string(time) + "\n";
  };
  for (const DumpEvent &event : events) {
    const std::string reason = event.detail("reason");
    if (reason == "throttled" || reason == "exhausted" || reason == "next_period") {
      since.try_emplace(event.tid, event.time);
    } else if (event.event == "EXT_refill") {
      if (const auto start = since.find(event.tid); start != since.end())
        found.ns[event.tid] += event.time - start->second;
      else if (known.contains(event.tid) && !early.erase(event.tid))
        complain("refill of a thread that was not throttled: ", event.tid, event.time);
      found.refills[event.tid]++;
      since.erase(event.tid);
    } else if (event.takes_cpu() && since.erase(event.tid)) {
      early[event.tid] = event.time;
    }
    if (event.event == "EXT_snapshot" || event.takes_cpu() || !reason.empty())
      known.insert(event.tid);
  }
  for (const auto &[tid, time] : early)
    complain("no refill around a dispatch of ", tid, time);
  return found;
}

/// Returns the first events of a thread, a line each.
std::string story_of(const std::vector<DumpEvent> &events, pid_t tid) {
  std::string lines;
  size_t count = 0;
  for (const DumpEvent &event : events)
    if (event.tid == uint32_t(tid) && count++ < 12)
      lines += std::to_string(event.time) + " " + event.event + " " + event.details + "\n";
  return lines;
}

} // namespace

class CpuQuota : public CaptureTest {
protected:
  void SetUp() override {
    CaptureTest::SetUp();
    if (!IsSkipped() && quota_.path().empty())
      GTEST_SKIP() << "no cgroup with a quota can be made here";
  }
  bool sees_refills() {
    return json::parse(read_text(trace() + "/trace.json")).value("sees_refills", false);
  }
  /// Records a process until its snapshot has this reason. Returns false if no snapshot has it.
  bool record_throttled(pid_t pid, const std::string &reason) {
    for (int attempt = 0; attempt < 8; attempt++) {
      std::filesystem::remove_all(trace());
      const Outcome outcome = run(record_command(
          trace(), {}, {"-q", "-d", "0.3", "--no-children", "-p", std::to_string(pid)}));
      EXPECT_EQ(outcome.status(), 0) << outcome.err;
      for (const DumpEvent &event : dump(trace()))
        if (event.event == "EXT_snapshot" && event.detail("reason") == reason) {
          EXPECT_EQ(event.detail("state"), "cooling");
          return true;
        }
    }
    return false;
  }
  Quota quota_;
};

TEST_F(CpuQuota, EachOfSeveralThreadsIsRefilledBeforeItRuns) {
  const std::string spin = installed("spin") + " 40 " + quota_.procs();
  record({"sh", "-c", spin + " & " + spin + " & " + spin + " & " + spin + "; wait"});
  if (!sees_refills())
    GTEST_SKIP() << "this kernel does not let us see refills";
  const Throttled found = throttled_in(dump(trace()));
  EXPECT_EQ(found.wrong, "");
  std::set<uint32_t> spinners;
  for (const ThreadRecord &thread : read_trace_json(trace()).threads)
    if (thread.name == "spin")
      spinners.insert(thread.tid);
  EXPECT_EQ(spinners.size(), 4u);
  for (const uint32_t tid : spinners)
    EXPECT_TRUE(found.refills.contains(tid)) << tid;
}

// The quota is that of the outer cgroup. A timer of another cgroup, which expires each 5 ms,
// refills nothing of it.
TEST_F(CpuQuota, AQuotaOfAnOuterCgroupIsItsOwn) {
  const Quota other(1000, 5000);
  const std::string inner = quota_.make_inner();
  if (inner.empty() || other.path().empty())
    GTEST_SKIP() << "no such cgroups can be made here";
  Process busy({.argv = {installed("spin"), "100000", other.procs()}});
  const uint64_t throttled = other.throttled();
  ASSERT_TRUE(eventually([&] { return other.throttled() > throttled + 2; }, "its timer expires"));
  record({installed("spin"), "60", inner + "/cgroup.procs"});
  if (!sees_refills())
    GTEST_SKIP() << "this kernel does not let us see refills";
  const Throttled found = throttled_in(dump(trace()));
  EXPECT_EQ(found.wrong, "");
  ASSERT_EQ(found.ns.size(), 1u);
  const uint64_t kernels = quota_.throttled_ns();
  EXPECT_GT(found.ns.begin()->second, kernels - kernels / 10);
  EXPECT_LT(found.ns.begin()->second, kernels + kernels / 20);
}

TEST_F(CpuQuota, AThreadThatIsThrottledAtTheStartIsRefilled) {
  Process spin({.argv = {installed("spin"), "100000", quota_.procs()}});
  ASSERT_TRUE(eventually([&] { return quota_.throttled() > 0; }, "its quota is used up"));
  ASSERT_TRUE(record_throttled(spin.pid(), "throttled"));
  const Throttled found = throttled_in(dump(trace()));
  if (!sees_refills())
    GTEST_SKIP() << "this kernel does not let us see refills";
  EXPECT_EQ(found.wrong, "");
  EXPECT_GE(found.refills.size(), 1u);
}

using Budgets = CpuQuota;

TEST_F(Budgets, AThreadThatWaitsForItsPeriodAtTheStartIsFoundSo) {
  constexpr int kDeadline = 6; // SCHED_DEADLINE
  for (const std::string what : {"meet", "overrun"}) {
    SCOPED_TRACE(what);
    Process program({.argv = {installed("deadline"), what, "100000"}});
    ASSERT_TRUE(eventually(
        [&] { return !program.running() || sched_getscheduler(program.pid()) == kDeadline; },
        "it has its policy"));
    if (!program.running())
      GTEST_SKIP() << "SCHED_DEADLINE is not allowed here";
    ASSERT_TRUE(record_throttled(program.pid(), what == "meet" ? "next_period" : "exhausted"));
    if (sees_refills()) {
      const std::vector<DumpEvent> events = dump(trace());
      EXPECT_EQ(throttled_in(events).wrong, "") << story_of(events, program.pid());
    }
  }
}

// The kernel lets such a thread run from its next period on, and nobody holds its CPU meanwhile.
TEST_F(Budgets, AThreadThatIsWokenWithoutOneWaitsForItsPeriod) {
  const Outcome outcome =
      run(record_command(trace(), {installed("deadline"), "sleep", "20"}, {"-q"}));
  if (outcome.status() == 2)
    GTEST_SKIP() << "SCHED_DEADLINE is not allowed here";
  const std::vector<DumpEvent> events = dump(trace());
  const auto held = std::ranges::count_if(
      events, [](const DumpEvent &event) { return event.detail("held_back") == "exhausted"; });
  EXPECT_GE(held, 1) << outcome.out;
  uint64_t since = 0, held_ns = 0;
  size_t refills = 0; // also while it sleeps
  for (const DumpEvent &event : events) {
    refills += event.event == "EXT_refill";
    if (!event.detail("held_back").empty())
      since = event.time;
    else if (since && (event.event == "EXT_refill" || event.takes_cpu()))
      held_ns += event.time - std::exchange(since, 0);
  }
  EXPECT_EQ(refills > 0, sees_refills());
  const uint64_t late = number_after(outcome.out, "late_ns ");
  EXPECT_LE(held_ns, late);
  EXPECT_GE(held_ns, late / 2);
}

} // namespace ovnitrace::test
