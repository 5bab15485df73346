// SPDX-License-Identifier: BSD-2-Clause
// What keeps threads from CPUs: affinities, the quota of a cgroup, the hypervisor.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/preempt_rt.h"
#include "tests/e2e/support/quota.h"
#include "tests/e2e/support/trace.h"

#include <nlohmann/json.hpp>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace ovnitrace::test {

namespace {

/// Returns "tid mask" for each event that says which of the first 24 CPUs a thread may use.
std::vector<std::string> affinities(const std::vector<DumpEvent> &events, uint32_t tid) {
  std::vector<std::string> masks;
  for (const DumpEvent &event : events)
    if (event.event == "EXT_affinity" && event.tid == tid && event.detail("word").empty())
      masks.push_back(event.detail("cpus"));
  return masks;
}

/// Whether the kernel is of this version or newer.
bool kernel_is(int major, int minor) {
  utsname names = {};
  uname(&names);
  int found_major = 0, found_minor = 0;
  std::sscanf(names.release, "%d.%d", &found_major, &found_minor);
  return std::pair(found_major, found_minor) >= std::pair(major, minor);
}

/// Returns how many us were stolen from all CPUs so far, as the kernel counts them in clock ticks.
uint64_t stolen_us() {
  std::ifstream in("/proc/stat");
  std::string cpu;
  uint64_t ticks = 0;
  in >> cpu;
  for (int column = 0; column < 8; column++)
    in >> ticks;
  return ticks * 1000000 / uint64_t(sysconf(_SC_CLK_TCK));
}

} // namespace

class CpuLimits : public CaptureTest {};

TEST_F(CpuLimits, AffinitiesEqualTheKernels) {
  const Outcome outcome = record({installed("affinity")});
  const std::vector<DumpEvent> events = dump(trace());
  std::map<uint32_t, std::vector<std::string>> said;
  std::istringstream lines(outcome.out);
  uint32_t tid;
  for (std::string mask; lines >> tid >> mask;)
    if (said[tid].empty() || said[tid].back() != "0x" + mask)
      said[tid].push_back("0x" + mask);
  ASSERT_EQ(said.size(), 2u) << outcome.out;
  for (const auto &[thread, masks] : said)
    EXPECT_EQ(affinities(events, thread), masks) << thread;
}

// The affinity changes from outside while the thread sleeps, as a cpuset or a batch system does it.
TEST_F(CpuLimits, AnAffinityThatAnotherProcessSetsIsSeenAtTheNextWakeup) {
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
    GTEST_SKIP() << "needs two CPUs";
  record({"sh", "-c", "sleep 1 & taskset -p 1 $! >/dev/null; wait"});
  size_t pinned = 0;
  for (const auto &[tid, events] : by_thread(dump(trace()))) {
    const std::vector<std::string> masks = affinities(events, tid);
    pinned += masks.size() == 2 && masks[1] == "0x1" && events.front().comm == "sleep";
  }
  EXPECT_EQ(pinned, 1u);
}

TEST_F(CpuLimits, AThreadWithoutQuotaIsThrottledAndNotPreempted) {
  const Quota quota;
  if (quota.path().empty())
    GTEST_SKIP() << "no cgroup with a quota can be made here";
  record({installed("spin"), "150", quota.path() + "/cgroup.procs"});
  const auto description = nlohmann::json::parse(read_text(trace() + "/trace.json"));
  EXPECT_FALSE(has_preempt_rt() && description.value("sees_refills", false));
  uint64_t throttled = 0;
  for (const DumpEvent &event : dump(trace()))
    if (event.comm == "spin" && event.detail("reason") == "throttled") {
      EXPECT_EQ(event.event, "task_epilogue");
      throttled++;
    }
  // There is one thread on one CPU, so each time is also one of the kernel's, except for the last.
  // Before 6.18 fewer can be seen.
  EXPECT_GE(throttled, 1u);
  EXPECT_LE(throttled, quota.throttled() + 1);
  if (kernel_is(6, 18)) {
    EXPECT_GE(throttled + 2, quota.throttled());
  }
}

/// Returns the time in which a thread of this name waited behind nobody, by what came before.
std::map<std::string, uint64_t> behind_nobody(const nlohmann::json &why, const std::string &name) {
  std::map<std::string, uint64_t> after;
  for (const nlohmann::json &thread : why["threads"])
    for (const nlohmann::json &wait : thread["waiting"])
      if (thread["name"] == name && wait["holder_tid"].is_null())
        for (const auto &[what, ns] : wait["after_ns"].items())
          after[what] += ns.get<uint64_t>();
  return after;
}

// A thread that runs between two periods does not keep the other one from a CPU.
TEST_F(CpuLimits, ADeadlineThreadWaitsForItsNextPeriodBehindNobody) {
  std::vector<std::unique_ptr<Process>> hogs;
  for (int cpu = 0; cpu < 2; cpu++)
    hogs.push_back(std::make_unique<Process>(Command{.argv = {installed("spin"), "100000"}}));
  for (const std::string what : {"meet", "overrun"}) {
    if (run({.argv = {installed("deadline"), what}}).status() == 2)
      GTEST_SKIP() << "SCHED_DEADLINE is not allowed here";
    std::filesystem::remove_all(trace());
    record({installed("deadline"), what});
    const std::string reason = what == "meet" ? "next_period" : "exhausted";
    size_t times = 0;
    for (const DumpEvent &event : dump(trace()))
      times += event.comm == "deadline" && event.detail("reason") == reason;
    EXPECT_GE(times, what == "meet" ? 4u : 1u);
    const Outcome outcome = run({.argv = {ovnitrace(), "why", trace(), "--json"}});
    ASSERT_EQ(outcome.status(), 0) << outcome.err;
    const auto why = nlohmann::json::parse(outcome.out);
    const uint64_t waited = behind_nobody(why, "deadline")[what == "meet" ? "period" : "budget"];
    EXPECT_GT(waited, 50'000'000u) << "a part of the periods of 120 ms\n" << why;
    for (const nlohmann::json &cause : why["causes"])
      EXPECT_NE(cause["cause"], "yield") << "it would wait behind other threads";
  }
}

TEST_F(CpuLimits, AFrozenThreadIsNotBlockedInACall) {
  const std::string name = "/ovnitrace-test-frozen-" + std::to_string(getpid());
  size_t tried = 0;
  struct Freezer {
    std::string root, file, freeze, thaw, state, frozen; ///< `state` has `frozen` when it is done
  };
  const Freezer freezers[] = {
      {"/sys/fs/cgroup/freezer", "/freezer.state", "FROZEN", "THAWED", "/freezer.state", "FROZEN"},
      {"/sys/fs/cgroup/unified", "/cgroup.freeze", "1", "0", "/cgroup.events", "frozen 1"},
      {"/sys/fs/cgroup", "/cgroup.freeze", "1", "0", "/cgroup.events", "frozen 1"}};
  for (const Freezer &one : freezers) {
    const std::string cgroup = one.root + name, file = cgroup + one.file,
                      procs = cgroup + "/cgroup.procs";
    if (mkdir(cgroup.c_str(), 0755) != 0)
      continue;
    if (exists(file)) {
      tried++;
      std::filesystem::remove_all(trace());
      record({"sh", "-c",
              installed("spin") + " 500 " + procs + " & until [ -n \"$(cat " + procs +
                  ")\" ]; do sleep 0.01; done; echo " + one.freeze + " >" + file +
                  "; until grep -q '" + one.frozen + "' " + cgroup + one.state +
                  "; do sleep 0.01; done; sleep 0.3; echo " + one.thaw + " >" + file + "; wait"});
      const Outcome outcome = run({.argv = {ovnitrace(), "why", trace(), "--json"}});
      ASSERT_EQ(outcome.status(), 0) << outcome.err;
      const auto why = nlohmann::json::parse(outcome.out);
      uint64_t frozen = 0;
      for (const nlohmann::json &thread : why["threads"])
        for (const nlohmann::json &block : thread["blocked"])
          if (thread["name"] == "spin" && block["cause"] == "frozen (cgroup freezer)")
            frozen += block["ns"].get<uint64_t>();
      EXPECT_GT(frozen, 100'000'000u) << one.root << why;
    }
    for (int n = 0; n < 100 && rmdir(cgroup.c_str()) != 0; n++)
      usleep(10'000);
  }
  if (!tried)
    GTEST_SKIP() << "no cgroup can be frozen here";
}

TEST_F(CpuLimits, AThreadIsThrottledWhenTheCaptureStarts) {
  const Quota quota;
  if (quota.path().empty())
    GTEST_SKIP() << "no cgroup with a quota can be made here";
  Process spin({.argv = {installed("spin"), "100000", quota.path() + "/cgroup.procs"}});
  usleep(200'000);
  bool found = false;
  for (int n = 0; n < 10 && !found; n++) { // it is throttled for 90 of 100 ms
    std::filesystem::remove_all(trace());
    const Outcome outcome = run({.argv = {ovnitrace(), "record", "-q", "-d", "0.3", "-p",
                                          std::to_string(spin.pid()), "-o", trace()}});
    ASSERT_EQ(outcome.status(), 0) << outcome.err;
    for (const DumpEvent &event : dump(trace()))
      found |= event.event == "EXT_snapshot" && event.detail("reason") == "throttled";
  }
  EXPECT_TRUE(found);
}

TEST_F(CpuLimits, DiffNamesASmallerQuotaFirst) {
  const Quota quota;
  if (quota.path().empty())
    GTEST_SKIP() << "no cgroup with a quota can be made here";
  for (const std::string &cgroup : {std::string(), quota.path() + "/cgroup.procs"}) {
    std::vector<std::string> argv = {
        ovnitrace(), "record",          "-o", path(cgroup.empty() ? "a" : "b"),
        "--",        installed("spin"), "60"};
    if (!cgroup.empty())
      argv.push_back(cgroup);
    EXPECT_EQ(run({.argv = argv}).status(), 0);
  }
  const Outcome outcome = run({.argv = {ovnitrace(), "diff", path("a"), path("b"), "--json"}});
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  const nlohmann::json all = nlohmann::json::parse(outcome.out);
  for (const nlohmann::json &cause : all["causes"]) {
    if (cause["cause"] == "waiting" || cause["cause"] == "preempted")
      continue; // the rest of a busy machine, and before 6.18 a part of the throttled time
    EXPECT_EQ(cause["cause"], "throttled") << all;
    EXPECT_GT(cause["delta_ns"], 50'000'000) << "10 ms of each 100 ms";
    break;
  }
}

TEST_F(CpuLimits, AThreadIsThrottledForAsLongAsTheKernelSays) {
  const Quota quota;
  if (quota.path().empty())
    GTEST_SKIP() << "no cgroup with a quota can be made here";
  // The other thread has the CPU when the quota is refilled.
  record({"sh", "-c",
          installed("spin") + " 60 " + quota.path() + "/cgroup.procs & " + "nice -n -15 " +
              installed("spin") + " 600; wait"});
  const auto description = nlohmann::json::parse(read_text(trace() + "/trace.json"));
  if (!description.value("sees_refills", false))
    GTEST_SKIP() << "this kernel does not let us see refills";
  std::map<uint32_t, bool> is_throttled;
  for (const DumpEvent &event : dump(trace())) {
    if (event.takes_cpu()) {
      EXPECT_FALSE(is_throttled[event.tid]) << "no refill before " << event.time;
      is_throttled[event.tid] = false;
    } else if (event.event == "EXT_refill") {
      EXPECT_TRUE(is_throttled[event.tid]) << event.time;
      is_throttled[event.tid] = false;
    } else if (event.detail("reason") == "throttled") {
      is_throttled[event.tid] = true;
    }
  }
  const auto why =
      nlohmann::json::parse(run({.argv = {ovnitrace(), "why", trace(), "--json"}}).out);
  uint64_t throttled = 0;
  for (const auto &thread : why["threads"])
    for (const auto &wait : thread["waiting"])
      throttled += wait["after_ns"].value("throttling", uint64_t(0));
  const uint64_t kernels = quota.throttled_ns();
  EXPECT_LT(throttled, kernels + kernels / 20);
  // Before 79462e8c879a ("sched: don't account throttle time for empty groups", 6.6) the
  // kernel counts what is left of the last period when the thread has ended, too.
  EXPECT_GT(throttled + (kernel_is(6, 6) ? 0 : 100'000'000), kernels - kernels / 20);
}

TEST_F(CpuLimits, StolenTimeEqualsTheKernels) {
  const uint64_t before = stolen_us();
  const std::string spin = installed("spin") + " 150";
  // The second of three readings is in the middle: each CPU has been read before it, and is read
  // after it.
  const std::string on_all =
      "for c in $(seq 0 $(($(nproc) - 1))); do taskset -c $c " + spin + " & done; wait";
  const std::string read = "awk '/^cpu /{print $9}' /proc/stat";
  const Outcome outcome =
      record({"sh", "-c", on_all + "; " + read + "; " + on_all + "; " + read + "; " + on_all},
             {"--filter", "+power"});
  const uint64_t after = stolen_us();
  uint64_t first = 0, last = 0, found = 0;
  size_t looks = 0;
  ASSERT_TRUE(std::istringstream(outcome.out) >> first >> last) << outcome.out;
  for (const DumpEvent &event : dump(trace()))
    if (event.event == "EXT_steal") {
      found += std::stoull(event.detail("stolen_us"));
      looks++;
    }
  EXPECT_GE(looks, size_t(sysconf(_SC_NPROCESSORS_ONLN))) << "each CPU says that it counts";
  const uint64_t tick = 1000000 / uint64_t(sysconf(_SC_CLK_TCK));
  const uint64_t cpus = uint64_t(sysconf(_SC_NPROCESSORS_ONLN));
  EXPECT_LE(found, after - before + tick * cpus) << "/proc/stat rounds down";
  EXPECT_GE(found + tick * cpus, (last - first) * tick);
}

TEST_F(CpuLimits, IdleStatesHaveTheKernelsNames) {
  std::vector<std::string> names;
  for (int state = 0;; state++) {
    std::ifstream in("/sys/devices/system/cpu/cpu0/cpuidle/state" + std::to_string(state) +
                     "/name");
    std::string name;
    if (!std::getline(in, name))
      break;
    names.push_back(name);
  }
  if (names.empty())
    GTEST_SKIP() << "this kernel has no idle states";
  record({"sleep", "0.05"}, {"--filter", "+power"});
  const auto json = nlohmann::json::parse(read_text(trace() + "/trace.json"));
  EXPECT_EQ(json["idle_states"], nlohmann::json(names));
}

} // namespace ovnitrace::test
