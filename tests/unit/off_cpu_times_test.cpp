// SPDX-License-Identifier: BSD-2-Clause
// Whose time off the CPUs is summed up under which names: emulator/off_cpu/off_cpu_times.
#include "emulator/off_cpu/off_cpu_times.h"
#include "tests/unit/support/collecting_sink.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace ovnitrace {
namespace {

using Texts = std::vector<std::string>;

class OffCpu : public ::testing::Test {
protected:
  OffCpu() {
    catalog.hosts.resize(2);
    catalog.hosts[0].machine = "x86_64";
    catalog.hosts[1].machine = "aarch64";
  }
  /// Returns its number. Threads are added in the order of rows.
  uint32_t thread(uint32_t tid, uint32_t pid, const std::string &name, uint64_t birth = 0,
                  uint32_t host = 0) {
    ThreadInfo &thread = catalog.threads.emplace_back();
    thread.tid = tid;
    thread.pid = pid;
    thread.name = name;
    thread.birth = birth;
    thread.host = host;
    return uint32_t(catalog.threads.size() - 1);
  }
  /// All threads are there when the first slice ends.
  OffCpuTimes &times() {
    if (!times_) {
      stacks_.emplace(catalog, sink_);
      times_.emplace(catalog, *stacks_, options);
    }
    return *times_;
  }
  void slice(uint32_t thread, ThreadState state, uint64_t start, uint64_t end,
             uint8_t reason = FTRACE_OFFCPU_SLEEP, uint16_t call = FTRACE_CALL_UNKNOWN) {
    Slice slice;
    slice.thread = thread;
    slice.state = state;
    slice.start = start;
    slice.end = end;
    slice.reason = reason;
    slice.call = call;
    times().on_slice(slice);
  }
  void block(uint32_t thread, uint64_t start, uint64_t end) {
    slice(thread, ThreadState::Paused, start, end);
  }
  void forget() {
    catalog.threads.clear();
    times_.reset();
  }
  /// "process/thread cause innermost: ns count" of each sum.
  Texts sums() {
    Texts all;
    for (const auto &[key, sum] : times().sums()) {
      const OffCpuTimes::Owner &owner = times().owners()[key.owner];
      all.push_back(owner.process + "/" + owner.name + " " + times().cause(key) + " " +
                    times().innermost(key) + ": " + std::to_string(sum.ns) + " " +
                    std::to_string(sum.count));
    }
    return all;
  }

  Catalog catalog;
  OffCpuOptions options;

private:
  test::CollectingSink sink_;
  std::optional<Stacks> stacks_;
  std::optional<OffCpuTimes> times_;
};

TEST_F(OffCpu, AStoppedThreadIsNotInTheCallThatItWasIn) {
  const uint32_t app = thread(1, 1, "app");
  const uint16_t read = FTRACE_CALL_NATIVE, futex = FTRACE_CALL_NATIVE + 202;
  slice(app, ThreadState::Paused, 0, 10, FTRACE_OFFCPU_STOPPED, read);
  slice(app, ThreadState::Paused, 10, 30, FTRACE_OFFCPU_STOPPED, futex);
  slice(app, ThreadState::Paused, 30, 34, FTRACE_OFFCPU_SLEEP, futex);
  EXPECT_EQ(sums(), (Texts{"app/app stopped by a signal [stopped by a signal]: 30 2",
                           "app/app futex [futex]: 4 1"}));
}

TEST_F(OffCpu, AThreadIsOfTheLastProcessOfItsPidThatWasBornBeforeIt) {
  thread(300, 300, "old");
  thread(300, 300, "new", 500);
  const uint32_t first = thread(301, 300, "w1", 110), second = thread(302, 300, "w2", 499),
                 third = thread(303, 300, "w3", 500), fourth = thread(304, 300, "w4", 501);
  const uint32_t far = thread(305, 300, "far", 600, 1), other = thread(305, 301, "other", 600, 1);
  catalog.hosts.resize(2);
  catalog.hosts[0].peers = {{.tid = 301, .pid = 301, .name = "of the other host"}};
  catalog.hosts[1].peers = {{.tid = 300, .pid = 300, .name = "far away"}}; // it is not traced
  for (const uint32_t one : {first, second, third, fourth, far, other})
    block(one, 1000, 1001);
  Texts owners;
  for (const OffCpuTimes::Owner &owner : times().owners())
    owners.push_back(owner.process + "/" + owner.name);
  EXPECT_EQ(owners, (Texts{"old/w1", "old/w2", "new/w3", "new/w4", "far away/far", "/other"}));
}

TEST_F(OffCpu, TimesOnACpuAndOfNoLengthDoNotCount) {
  const uint32_t app = thread(11, 11, "app");
  for (const ThreadState state : {ThreadState::Running, ThreadState::Dead, ThreadState::Unknown})
    slice(app, state, 100, 200);
  block(app, 200, 200);
  slice(app, ThreadState::Warming, 200, 200);
  EXPECT_EQ(sums(), Texts());
  block(app, 200, 201);
  EXPECT_EQ(sums(), Texts{"app/app call not known [blocked]: 1 1"});
}

/// ovnitrace creates, blocks and wakes the thread of the program that it starts.
TEST_F(OffCpu, ABlockAndAWaitBeforeTheProgramStartsDoNotCount) {
  const uint32_t app = thread(11, 11, "app"), other = thread(12, 12, "other");
  options.programs = {app};
  const System system(catalog, {});
  const auto event = [&](uint32_t kind) {
    Event event;
    event.kind = kind;
    event.thread = app;
    times().on_event(event, system);
  };
  const auto off_cpu = [&] {
    block(app, 200, 201);
    slice(app, ThreadState::Warming, 201, 203);
  };
  event(FTrace_EVT_task_create);
  off_cpu();
  EXPECT_EQ(sums(), Texts());
  slice(other, ThreadState::Warming, 201, 203);
  EXPECT_EQ(sums().size(), 1u) << "that of another program";
  event(FTrace_EXT_exec);
  off_cpu();
  EXPECT_EQ(sums().size(), 3u);
}

TEST_F(OffCpu, WaitsAndBlocksAreSummedUpByTheirCauses) {
  const uint32_t app = thread(11, 11, "app");
  constexpr uint16_t kRead = FTRACE_CALL_NATIVE;
  slice(app, ThreadState::Paused, 100, 130, FTRACE_OFFCPU_SLEEP, kRead);
  slice(app, ThreadState::Paused, 200, 205, FTRACE_OFFCPU_SLEEP, kRead);
  slice(app, ThreadState::Paused, 300, 307, FTRACE_OFFCPU_DISK, kRead);
  slice(app, ThreadState::Warming, 400, 411, kNotKnown);
  slice(app, ThreadState::Cooling, 500, 513, FTRACE_OFFCPU_PREEMPTED);
  slice(app, ThreadState::Cooling, 600, 617, FTRACE_OFFCPU_PREEMPTED);
  EXPECT_EQ(sums(),
            (Texts{"app/app after a wakeup [waiting for a CPU]: 11 1",
                   "app/app after a preemption [waiting for a CPU]: 30 2",
                   "app/app read [read]: 35 2", "app/app read (uninterruptible) [read]: 7 1"}));
  EXPECT_EQ(times().blocked(), 42u);
  EXPECT_EQ(times().waiting(), 41u);
  EXPECT_EQ(times().no_stack(), 42u);
}

TEST_F(OffCpu, ACallHasTheNameThatItHasOnTheHost) {
  const uint32_t one = thread(11, 11, "app"), two = thread(11, 11, "app", 0, 1);
  slice(one, ThreadState::Paused, 0, 3, FTRACE_OFFCPU_SLEEP, FTRACE_CALL_NATIVE + 63);
  slice(two, ThreadState::Paused, 0, 5, FTRACE_OFFCPU_SLEEP, FTRACE_CALL_NATIVE + 63);
  EXPECT_EQ(sums(), (Texts{"app/app uname [uname]: 3 1", "app/app read [read]: 5 1"}))
      << "x86-64's and arm64's 63";
}

TEST_F(OffCpu, ThreadsOfOneNameAreOneUnlessTheyAreSeparate) {
  for (const bool apart : {false, true}) {
    forget();
    const uint32_t main = thread(11, 11, "app"), one = thread(12, 11, "io"),
                   two = thread(13, 11, "io");
    options.per_thread = apart;
    Texts expected = {"app/app call not known [blocked]: 1 1"};
    if (apart) {
      expected.push_back("app/io call not known [blocked]: 10 1");
      expected.push_back("app/io call not known [blocked]: 100 1");
    } else {
      expected.push_back("app/io call not known [blocked]: 110 2");
    }
    block(main, 0, 1);
    block(one, 0, 10);
    block(two, 0, 100);
    EXPECT_EQ(sums(), expected);
  }
}

TEST_F(OffCpu, ThreadsWithoutANameAreNotOne) {
  const uint32_t one = thread(11, 11, ""), two = thread(12, 12, "");
  block(one, 0, 1);
  block(two, 0, 2);
  EXPECT_EQ(sums(), (Texts{"/ call not known [blocked]: 1 1", "/ call not known [blocked]: 2 1"}));
}

TEST_F(OffCpu, ThreadsWithoutANameOfOneProcessAreNotOne) {
  const uint32_t main = thread(11, 11, "app"), one = thread(12, 11, ""), two = thread(13, 11, "");
  for (const uint32_t t : {main, one, two})
    block(t, 0, 1 + t);
  EXPECT_EQ(sums(),
            (Texts{"app/app call not known [blocked]: 1 1", "app/ call not known [blocked]: 2 1",
                   "app/ call not known [blocked]: 3 1"}));
}

TEST_F(OffCpu, ATimeHasTheNamesOfItsStart) {
  const uint32_t main = thread(11, 11, "app"), worker = thread(12, 11, "io");
  catalog.threads[main].earlier_names = {{.until = 50, .name = "sh"}};
  catalog.threads[worker].earlier_names = {{.until = 100, .name = "new"}};
  for (const uint64_t start : {48, 49, 50, 51, 99, 100, 101})
    block(worker, start, start + (start == 49 ? 1000 : 1));
  EXPECT_EQ(sums(), (Texts{"sh/new call not known [blocked]: 1001 2",
                           "app/new call not known [blocked]: 3 3",
                           "app/io call not known [blocked]: 2 2"}));
}

} // namespace
} // namespace ovnitrace
