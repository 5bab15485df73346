// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace why` of real captures. It blames the thread that the program made to blame, and its
// times are those of the events of the same trace.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/preempt_rt.h"
#include "tests/e2e/support/trace.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ovnitrace::test {

using nlohmann::json;

namespace {

/// A time on a CPU, or without one.
struct Span {
  uint64_t from, to; ///< ns
};

uint64_t overlap(const std::vector<Span> &a, const std::vector<Span> &b) {
  uint64_t ns = 0;
  for (const Span &x : a)
    for (const Span &y : b)
      if (std::max(x.from, y.from) < std::min(x.to, y.to))
        ns += std::min(x.to, y.to) - std::max(x.from, y.from);
  return ns;
}

std::vector<Span> clipped(std::vector<Span> spans, Span to) {
  for (Span &span : spans)
    span = {std::max(span.from, to.from), std::max(std::min(span.to, to.to), to.from)};
  return spans;
}

/// Returns the times from an event for which `starts` is true to the next one for which `ends` is
/// true, or without an end.
template <class Starts, class Ends>
std::vector<Span> spans(const std::vector<DumpEvent> &events, Starts starts, Ends ends) {
  std::vector<Span> found;
  bool open = false;
  for (const DumpEvent &event : events) {
    if (open && ends(event)) {
      found.back().to = event.time;
      open = false;
    }
    if (!open && starts(event)) {
      found.push_back({event.time, UINT64_MAX});
      open = true;
    }
  }
  return found;
}

std::vector<Span> runs(const std::vector<DumpEvent> &events, uint32_t tid, int cpu) {
  return spans(
      events, [=](const DumpEvent &e) { return e.tid == tid && e.cpu == cpu && e.takes_cpu(); },
      [=](const DumpEvent &e) { return e.tid == tid && e.leaves_cpu(); });
}

/// Returns when a thread of `crowd` has its CPU, 0 or 1, for the first time after it has left the
/// other one. Each may start late, and on the other CPU.
uint64_t stays_since(const std::vector<DumpEvent> &events, uint32_t tid, int cpu) {
  const std::vector<Span> elsewhere = runs(events, tid, 1 - cpu), there = runs(events, tid, cpu);
  const auto first = std::find_if(there.begin(), there.end(), [&](const Span &run) {
    return elsewhere.empty() || run.from > elsewhere.back().from;
  });
  if (first == there.end())
    throw std::runtime_error("thread " + std::to_string(tid) + " never ran on its CPU in the end");
  return first->from;
}

/// Returns when a thread waited: from a preemption, or from a wakeup while it did not run, until it
/// runs again.
std::vector<Span> waits(const std::vector<DumpEvent> &events, uint32_t tid) {
  bool runs = false;
  const auto is_own = [&](const DumpEvent &e) {
    runs = e.tid == tid && e.takes_cpu() ? true : e.tid == tid && e.leaves_cpu() ? false : runs;
    return e.tid == tid;
  };
  return spans(
      events,
      [&](const DumpEvent &e) {
        return is_own(e) && !runs && (e.event == "task_epilogue" || e.event == "task_activate");
      },
      [&](const DumpEvent &e) { return is_own(e) && e.takes_cpu(); });
}

/// Returns when the CPU was idle: from the thread that leaves it to the idle task, or ends, to the
/// next thread.
std::vector<Span> idle(const std::vector<DumpEvent> &events, int cpu) {
  return spans(
      events,
      [=](const DumpEvent &e) {
        return e.cpu == cpu && e.leaves_cpu() &&
               (e.event == "task_end" || e.detail("next") == "idle(0)");
      },
      [=](const DumpEvent &e) { return e.cpu == cpu && e.takes_cpu(); });
}

const json &named(const json &all, const std::string &name) {
  const auto found = std::find_if(all["threads"].begin(), all["threads"].end(),
                                  [&](const json &thread) { return thread["name"] == name; });
  if (found == all["threads"].end())
    throw std::runtime_error("no thread " + name);
  return *found;
}

/// Returns the name of a device in /proc/diskstats; empty if it is not a disk's.
std::string disk_named(dev_t device) {
  std::ifstream stats("/proc/diskstats");
  std::string line, name;
  for (unsigned number[2]; std::getline(stats, line);) {
    std::istringstream(line) >> number[0] >> number[1] >> name;
    if (number[0] == major(device) && number[1] == minor(device))
      return name;
  }
  return "";
}

/// Whether a device is the disk, or has it as a partition.
bool is_on(const std::string &disk, const std::string &device) {
  return !device.empty() && disk.starts_with(device);
}

} // namespace

class WhyOf : public CaptureTest {
protected:
  /// Returns the JSON of `why`, and expects the times of every thread to add up.
  json why(std::vector<std::string> options = {}) {
    std::vector<std::string> argv = {ovnitrace(), "why", trace(), "--json"};
    argv.insert(argv.end(), options.begin(), options.end());
    const Outcome outcome = run({.argv = argv});
    EXPECT_EQ(outcome.status(), 0) << outcome.err;
    const json all = json::parse(outcome.out);
    for (const json &thread : all["threads"]) {
      uint64_t life = thread["running_ns"].get<uint64_t>() + thread["unknown_ns"].get<uint64_t>();
      for (const char *part : {"waiting", "blocked"})
        for (const json &one : thread[part])
          life += one["ns"].get<uint64_t>();
      EXPECT_EQ(life, thread["life_ns"]) << thread;
    }
    return all;
  }
  static uint64_t held_by(const json &thread, const std::string &holder) {
    for (const json &wait : thread["waiting"])
      if (wait["holder"] == holder)
        return wait["ns"];
    return 0;
  }
};

TEST_F(WhyOf, AThreadPinnedToABusyCpuWaitsForTheThreadThatRunsThere) {
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
    GTEST_SKIP() << "needs two CPUs";
  record({installed("crowd"), "100", "1", "1"}, {"-a"});
  const std::vector<DumpEvent> events = dump(trace());
  const json everything = why();
  const uint32_t victim = named(everything, "victim")["tid"],
                 spinner = named(everything, "spinner")["tid"];
  const uint64_t from = std::max(stays_since(events, victim, 1), stays_since(events, spinner, 1));
  const json all = why({"--tid", std::to_string(victim) + "," + std::to_string(spinner), "--from",
                        std::to_string(from) + "ns"});
  const Span rest{from, UINT64_MAX};
  EXPECT_EQ(held_by(named(all, "victim"), "spinner"),
            overlap(waits(events, victim), clipped(runs(events, spinner, 1), rest)));
  EXPECT_GT(held_by(named(all, "victim"), "spinner"), 0u) << "both need it";
  EXPECT_GT(held_by(named(all, "spinner"), "victim"), 0u);
  if (sysconf(_SC_NPROCESSORS_ONLN) > 2)
    return; // that of several CPUs at once is what unit tests see
  size_t known = 0;
  for (const json &wait : all["waits"]) {
    if (wait["idle_elsewhere_ns"].is_null()) // CPU 0 had not switched before
      continue;
    known++;
    if (wait["after"] != "preemption")
      continue;
    const uint64_t start = wait["start_ns"], end = start + wait["ns"].get<uint64_t>();
    EXPECT_EQ(wait["cpu"], 1);
    EXPECT_EQ(wait["idle_elsewhere_ns"], 0) << "it may use no other one";
    EXPECT_EQ(wait["idle_forbidden_ns"], overlap({{start, end}}, idle(events, 0)));
  }
  EXPECT_GT(known, 0u);
}

TEST_F(WhyOf, AThreadThatWaitsWhenTheCaptureStartsWasNotWoken) {
  std::vector<std::unique_ptr<Process>> spinners;
  std::string pids;
  for (int n = 0; n < 8; n++) {
    spinners.push_back(std::make_unique<Process>(
        Command{.argv = {"taskset", "-c", "0", installed("spin"), "1000000"}}));
    pids += (n ? "," : "") + std::to_string(spinners.back()->pid());
  }
  for (const auto &spinner : spinners)
    ASSERT_TRUE(eventually(
        [&] { return read_text("/proc/" + std::to_string(spinner->pid()) + "/comm") == "spin\n"; },
        "it spins"));
  const Outcome outcome =
      run({.argv = {ovnitrace(), "record", "-q", "-d", "0.5", "-p", pids, "-o", trace()}});
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  // They are looked at one after another: more than one may run at that moment.
  size_t running = 0, waiting = 0;
  for (const DumpEvent &event : dump(trace()))
    if (event.event == "EXT_snapshot") {
      const bool waits = event.detail("state") == "warming";
      EXPECT_TRUE(waits ? event.detail("reason") == "waited" : event.detail("state") == "running")
          << event.details;
      ++(waits ? waiting : running);
    }
  EXPECT_EQ(running + waiting, 8u);
  EXPECT_GT(waiting, running);
  for (const json &thread : why()["threads"])
    for (const json &wait : thread["waiting"])
      EXPECT_FALSE(wait["after_ns"].contains("wakeup")) << "none of them blocks: " << thread;
}

TEST_F(WhyOf, AThreadWithItsOwnCpuDoesNotWaitForAnother) {
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
    GTEST_SKIP() << "needs two CPUs";
  record({installed("crowd"), "50", "1", "0"}, {"-a"});
  const std::vector<DumpEvent> events = dump(trace());
  const json everything = why();
  const uint64_t both_there = std::max(stays_since(events, named(everything, "spinner")["tid"], 1),
                                       stays_since(events, named(everything, "victim")["tid"], 0));
  const json all = why({"--from", std::to_string(both_there) + "ns"});
  EXPECT_EQ(held_by(named(all, "victim"), "spinner"), 0u);
  EXPECT_EQ(held_by(named(all, "spinner"), "victim"), 0u);
}

// The tid of a thread of the trace belonged to another process before, and to others later.
TEST_F(WhyOf, AProcessThatHasTheTidOfATracedThreadIsNotCalledThatThread) {
  if (run({.argv = {installed("tid_strangers")}}).status() == 2)
    GTEST_SKIP() << "a process may not choose the tids of its children here";
  record({installed("tid_strangers")}, {"--comm", "victim*"});
  const json all = why(), &victim = named(all, "victim");
  for (const char *name : {"early", "late", "later", "renamed"})
    EXPECT_GT(held_by(victim, name), 10 * held_by(victim, "victim-child")) << name;
}

TEST_F(WhyOf, AStageOfAPipelineIsWokenByThePreviousStage) {
  record({installed("pipeline"), "40", "2000"});
  const json all = why();
  uint64_t reads = 0, sleeps = 0;
  for (const json &block : named(all, "stage-2")["blocked"]) {
    if (block["call"] != "read" || block["waker_tid"].is_null())
      continue;
    EXPECT_EQ(block["waker"], "stage-1");
    reads += block["count"].get<uint64_t>();
  }
  EXPECT_GT(reads, 0u);
  for (const json &block : named(all, "stage-1")["blocked"]) {
    if (block["call"] == "clock_nanosleep") {
      EXPECT_TRUE(ends_sleeps(block["waker"]) || block["waker"] == "not known") << block;
      sleeps += block["count"].get<uint64_t>();
    }
  }
  EXPECT_EQ(sleeps, 40u);
  const Outcome text = run({.argv = {ovnitrace(), "why", trace(), "--comm", "stage-*"}});
  EXPECT_EQ(text.status(), 0);
  EXPECT_TRUE(has_preempt_rt() || text.out.find("woken by: a timer") != std::string::npos)
      << text.out;
  for (const std::string &line : lines_of(text.out))
    EXPECT_LE(line.size(), 100u) << line;
}

TEST_F(WhyOf, ReadsFromADiskNameTheDiskAsWaker) {
  const std::string file = path("data"), bytes(1 << 20, 'x');
  write_text(file, bytes);
  struct stat status = {};
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  const std::string disk = disk_named(status.st_dev);
  if (disk.empty())
    GTEST_SKIP() << "the test's directory is on no block device";
  record({"dd", "if=" + file, "of=/dev/null", "bs=4K", "iflag=direct"});
  const json description = json::parse(read_text(trace() + "/trace.json"));
  if (!description.contains("devices"))
    GTEST_SKIP() << "this kernel does not say when a request ends";
  uint64_t by_disk = 0, others = 0;
  const json all = why();
  for (const json &block : named(all, "dd")["blocked"])
    if (block["cause"] == "read (disk)")
      (is_on(disk, block["waker"]) ? by_disk : others) += block["count"].get<uint64_t>();
  EXPECT_GT(by_disk, 100u) << "of 256 reads";
  EXPECT_GT(by_disk, 10 * others);
  const json path = why({"--critical-path"});
  uint64_t ns = 0;
  for (const json &part : path["critical_path"])
    if (part.contains("device") && is_on(disk, part["device"])) {
      EXPECT_EQ(part["cause"], "I/O: " + part["device"].get<std::string>());
      ns += part["ns"].get<uint64_t>();
    }
  EXPECT_GT(ns, 0u);
}

// A worker of the kernel ends its requests, and no interrupt.
TEST_F(WhyOf, ReadsFromALoopDeviceNameIt) {
  write_text(path("data"), std::string(1 << 20, 'x'));
  const Outcome made = run({.argv = {"losetup", "-f", "--show", path("data")}});
  if (made.status() != 0)
    GTEST_SKIP() << "no loop device can be made here: " << made.err;
  const std::string device = lines_of(made.out).at(0);
  record({"dd", "if=" + device, "of=/dev/null", "bs=4K", "iflag=direct"});
  EXPECT_EQ(run({.argv = {"losetup", "-d", device}}).status(), 0);
  if (!json::parse(read_text(trace() + "/trace.json")).contains("devices"))
    GTEST_SKIP() << "this kernel does not say when a request ends";
  uint64_t by_device = 0, others = 0;
  const json all = why();
  for (const json &block : named(all, "dd")["blocked"])
    if (block["cause"] == "read (disk)")
      (block["waker"] == device.substr(5) ? by_device : others) += block["count"].get<uint64_t>();
  EXPECT_GT(by_device, 100u) << "of 256 reads";
  EXPECT_GT(by_device, 10 * others);
}

TEST_F(WhyOf, AZombieIsNotBlocked) {
  const pid_t zombie = fork();
  if (zombie == 0)
    _exit(0);
  siginfo_t info = {};
  ASSERT_EQ(waitid(P_PID, id_t(zombie), &info, WEXITED | WNOWAIT), 0) << "it has ended";
  record({"sleep", "0.01"}, {"-a"});
  const json all =
      json::parse(run({.argv = {ovnitrace(), "why", "--json", "--all-threads", trace()}}).out);
  waitpid(zombie, nullptr, 0);
  size_t found = 0;
  for (const json &thread : all["threads"])
    if (thread["tid"] == zombie) {
      found++;
      EXPECT_EQ(thread["life_ns"], 0) << thread;
    }
  EXPECT_EQ(found, 1u);
}

TEST_F(WhyOf, FutexesHaveTheirWaits) {
  const Outcome outcome = record({installed("futexes")}, {"--filter", "+mutex"});
  const auto said = [&](const char *key) { return number_after(outcome.out, key); };
  const json all = why();
  const auto lock = [&](const char *name) {
    for (const json &lock : all["locks"])
      if (lock["futex"] == said(name))
        return lock;
    throw std::runtime_error(std::string("no futex ") + name);
  };
  const json nobody = lock("nobody "), mutex = lock("mutex ");
  EXPECT_EQ(nobody["count"], said("timeouts ") + said("changed "));
  EXPECT_EQ(nobody["gave_up"], nobody["count"]);
  EXPECT_FALSE(nobody["pi"]);
  EXPECT_TRUE(mutex["pi"]);
  ASSERT_EQ(mutex["waits"].size(), 1u);
  EXPECT_EQ(mutex["waits"][0]["tid"], said("waiter "));
  const json &waker = mutex["waits"][0]["waker_tid"];
  EXPECT_TRUE(waker.is_null() || waker == said("main ")) << waker;
  uint64_t balls = 0;
  for (const std::string &line : lines_of(outcome.out))
    if (line.starts_with("player"))
      balls += number_after(line, "waits ") + number_after(line, "refused ");
  EXPECT_EQ(lock("ball ")["count"], balls);
}

} // namespace ovnitrace::test
