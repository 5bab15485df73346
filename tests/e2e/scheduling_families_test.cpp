// SPDX-License-Identifier: BSD-2-Clause
// Priorities, mutexes, timers and servers in real captures, compared with what the programs know.
#include "tests/e2e/support/bpf_programs.h"
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/preempt_rt.h"
#include "tests/e2e/support/prv.h"
#include "tests/e2e/support/trace.h"

#include <fmt/format.h>
#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sys/utsname.h>

namespace ovnitrace::test {

namespace {

using Events = std::vector<DumpEvent>;

/// Returns the events of these kinds: of one thread, or of all if `tid` is 0.
Events only(const Events &events, const std::vector<std::string> &names, uint32_t tid = 0) {
  Events found;
  for (const DumpEvent &event : events)
    if (std::find(names.begin(), names.end(), event.event) != names.end() &&
        (!tid || event.tid == tid))
      found.push_back(event);
  return found;
}

size_t count(const Events &events, const std::string &name, const std::string &key = "",
             const std::string &value = "", uint32_t tid = 0) {
  const Events found = only(events, {name}, tid);
  return size_t(std::count_if(found.begin(), found.end(), [&](const DumpEvent &event) {
    return key.empty() || event.detail(key) == value;
  }));
}

/// "nice 3", or a priority of real time.
std::string priority_of(const DumpEvent &event) {
  const std::string nice = event.detail("nice");
  return nice.empty() ? event.detail("priority") : "nice " + nice;
}

/// "priority policy" of each set_priority.
std::vector<std::string> priorities(const Events &events, uint32_t tid) {
  std::vector<std::string> all;
  for (const DumpEvent &event : only(events, {"set_priority"}, tid))
    all.push_back(priority_of(event) + " " + event.detail("policy"));
  return all;
}

/// Returns the same without inherited priorities: with PREEMPT_RT, the kernel's own locks lend
/// priorities.
std::vector<std::string> priorities_set(const Events &events, uint32_t tid) {
  Events set;
  bool lent = false;
  for (const DumpEvent &event : only(events, {"set_priority", "inheritance"}, tid)) {
    if (event.event == "set_priority" && !lent)
      set.push_back(event);
    lent = event.event == "inheritance";
  }
  return priorities(set, tid);
}

using Texts = std::vector<std::string>;

/// docs/capture.md: "before Linux 6.7 also one for another thread".
bool sees_changes_of_others() {
  utsname system = {};
  int major = 0, minor = 0;
  uname(&system);
  EXPECT_EQ(sscanf(system.release, "%d.%d", &major, &minor), 2) << system.release;
  return major > 6 || (major == 6 && minor >= 7);
}

} // namespace

class SchedulingFamilies : public CaptureTest {
protected:
  /// Records with one more family; `out` is what the program printed.
  Events capture(const std::string &family, const std::vector<std::string> &program,
                 std::string &out) {
    const Outcome outcome = record(program, {"-f", "--filter", "+" + family});
    out = outcome.out;
    return dump(trace());
  }
  /// Returns whether the kernel allows what the program asks for. Otherwise the program exits with
  /// status 2.
  bool allowed(const std::vector<std::string> &program) {
    return run({.argv = program}).status() != 2;
  }
};

TEST_F(SchedulingFamilies, EachPriorityChangeIsLoggedOnceForItsThread) {
  std::string out;
  const Events events = capture("prio", {installed("priorities")}, out);
  const uint32_t main = uint32_t(number_after(out, "main")),
                 other = uint32_t(number_after(out, "other"));
  EXPECT_EQ(priorities_set(events, main), (Texts{"nice 3 other", "nice 9 other"}));
  if (sees_changes_of_others()) {
    EXPECT_EQ(priorities_set(events, other),
              (Texts{"nice 7 other", "nice 7 batch", "nice 9 batch"}));
  } else { // when it is woken for the last time
    EXPECT_EQ(priorities_set(events, other), (Texts{"nice 9 batch"}));
  }
  EXPECT_TRUE(only(events, {"inheritance"}).empty() || has_preempt_rt());
}

// A thread is dispatched with the priority that was reported last.
TEST_F(SchedulingFamilies, APriorityChangePrecedesADispatchWithThatPriority) {
  std::string out;
  const Events events = capture("prio", {installed("priorities")}, out);
  std::map<uint32_t, std::string> reported;
  size_t compared = 0;
  for (const DumpEvent &event : events)
    if (event.event == "set_priority")
      reported[event.tid] = priority_of(event);
    else if (event.takes_cpu() && reported.contains(event.tid)) {
      EXPECT_EQ(priority_of(event), reported[event.tid]) << event.tid << " at " << event.time;
      compared++;
    }
  EXPECT_GE(compared, 1u) << "the other thread is woken at the end";
}

TEST_F(SchedulingFamilies, TheOwnerOfAPiMutexInheritsFromTheWaiter) {
  if (!allowed({installed("priorities"), "pi"}))
    GTEST_SKIP() << "SCHED_FIFO is not allowed here";
  std::string out;
  const Events events = capture("prio", {installed("priorities"), "pi"}, out);
  const uint32_t low = uint32_t(number_after(out, "low")),
                 high = uint32_t(number_after(out, "high"));
  // With PREEMPT_RT, the main thread may inherit, too, from who waits for a lock of the kernel.
  const Events inheritance = only(events, {"inheritance"}, low);
  ASSERT_EQ(inheritance.size(), 2u);
  EXPECT_EQ(tid_of(inheritance[0].detail("for")), high);
  EXPECT_EQ(tid_of(inheritance[1].detail("for")), low);
  EXPECT_EQ(priorities(events, low), (Texts{"10 fifo", "20 fifo", "10 fifo"}));
  EXPECT_EQ(priorities(events, high), (Texts{"20 fifo"}));
}

// When a tid is used again, the priority of the earlier thread must not count as a change of the
// new one.
TEST_F(SchedulingFamilies, AThreadInheritsNothingFromAnEarlierThreadWithItsTid) {
  if (!allowed({installed("tid_reuse")}))
    GTEST_SKIP() << "a process may not choose the tids of its children here";
  std::string out;
  const Events events = capture("prio", {installed("tid_reuse")}, out);
  const uint32_t tid = uint32_t(number_after(out, "tid"));
  if (count(events, "task_create", "", "", tid) == 0)
    GTEST_SKIP() << "in a PID namespace: the kernel's own tids cannot be chosen";
  EXPECT_EQ(count(events, "task_create", "", "", tid), 2u);
  EXPECT_EQ(priorities_set(events, tid), (Texts{"nice 5 other", "nice 7 other"}));
}

TEST_F(SchedulingFamilies, FutexEventsMatchTheProgram) {
  std::string out;
  const Events events = capture("mutex", {installed("futexes")}, out);
  const std::string ball = fmt::format("{:#x}", uint32_t(number_after(out, "ball")));
  for (const char *player : {"player0", "player1"}) {
    const std::string line = out.substr(out.find(player));
    const uint32_t tid = uint32_t(number_after(line, "tid"));
    const uint64_t waits = number_after(line, "waits"), refused = number_after(line, "refused");
    EXPECT_EQ(count(events, "mutex_wait", "mutex", ball, tid), waits + refused) << player;
    uint64_t ended = 0, failed = 0;
    for (const DumpEvent &event : only(events, {"mutex_lock"}, tid))
      if (event.detail("mutex") == ball)
        (event.detail("waited") == "1" ? ended : failed)++;
    EXPECT_EQ(ended, waits) << player;
    EXPECT_EQ(failed, refused) << player;
    EXPECT_EQ(count(events, "mutex_post", "mutex", ball, tid), number_after(line, "posts"))
        << player;
  }
  const std::string nobody = fmt::format("{:#x}", uint32_t(number_after(out, "nobody")));
  const Events gave_up = only(events, {"mutex_lock"}, uint32_t(number_after(out, "main")));
  EXPECT_EQ(size_t(std::count_if(gave_up.begin(), gave_up.end(),
                                 [&](const DumpEvent &event) {
                                   return event.detail("mutex") == nobody &&
                                          event.detail("gave_up") == "1";
                                 })),
            number_after(out, "timeouts") + number_after(out, "changed"));
}

TEST_F(SchedulingFamilies, APiMutexIsPassedOnByTheKernel) {
  std::string out;
  const Events events = capture("mutex", {installed("futexes")}, out);
  const std::string mutex = fmt::format("{:#x}", uint32_t(number_after(out, " mutex")));
  const uint32_t main = uint32_t(number_after(out, "main")),
                 waiter = uint32_t(number_after(out, "waiter"));
  std::vector<std::string> story;
  for (const DumpEvent &event : only(events, {"mutex_wait", "mutex_lock", "mutex_unlock"}))
    if (event.detail("mutex") == mutex) {
      EXPECT_EQ(event.detail("waited") + event.detail("gave_up"), "")
          << "a PI mutex is known to be locked";
      story.push_back(event.event + (event.tid == main     ? " main"
                                     : event.tid == waiter ? " waiter"
                                                           : " ?"));
    }
  ASSERT_GE(story.size(), 3u);
  story.resize(3); // the kernel lets the new owner ask it again for the unlock
  EXPECT_EQ(story, (Texts{"mutex_wait waiter", "mutex_unlock main", "mutex_lock waiter"}));
}

TEST_F(SchedulingFamilies, EachTimerThatIsArmedExpiresOrIsCancelled) {
  std::string out;
  const Events events = capture("timer", {installed("timers")}, out);
  for (const char *kind : {"sleep", "itimer", "posix", "timerfd"}) {
    const size_t posted = count(events, "timer_post", "timer", kind);
    const size_t fired = count(events, "timer_wakeup_start", "timer", kind);
    EXPECT_EQ(posted, fired + count(events, "timer_delete", "timer", kind)) << kind;
    EXPECT_EQ(fired, count(events, "timer_wakeup_end", "timer", kind)) << kind;
  }
  EXPECT_EQ(count(events, "timer_post", "timer", "sleep"), number_after(out, "sleeps"));
  EXPECT_EQ(count(events, "timer_wakeup_start", "timer", "sleep"), number_after(out, "sleeps"));
  EXPECT_EQ(count(events, "timer_post", "timer", "timerfd"), 1 + number_after(out, "reads"));
  EXPECT_EQ(count(events, "timer_post", "timer", "posix"), 2u);
  EXPECT_EQ(count(events, "timer_wakeup_start", "timer", "posix"), 0u);
  EXPECT_EQ(count(events, "timer_wakeup_start", "timer", "itimer"), 1u);
}

TEST_F(SchedulingFamilies, ADeadlineThreadThatMeetsItsDeadlinesHasNoOverrun) {
  if (!allowed({installed("deadline"), "meet"}))
    GTEST_SKIP() << "SCHED_DEADLINE is not allowed here";
  std::string out;
  Events events;
  const auto stood_still = [&] {
    return number_after(out, "late") || number_after(out, "overruns");
  };
  // A job that ends only just in time has its budget again without an event.
  const auto replenished = [&] {
    return count(events, "server_replenish") == number_after(out, "jobs");
  };
  for (int attempt = 0; attempt == 0 || (attempt < 5 && (stood_still() || !replenished()));
       attempt++)
    events = capture("server", {installed("deadline"), "meet"}, out);
  if (stood_still())
    GTEST_SKIP() << "this machine stands still for longer than a deadline or a budget";
  const uint64_t jobs = number_after(out, "jobs");
  const Events exhausted = only(events, {"server_exhaust"});
  EXPECT_EQ(exhausted.size(), jobs);
  for (const DumpEvent &event : exhausted)
    EXPECT_LE(number_after(event.details, "yielded_ns="), 10'800'000u) << "a tenth was used";
  uint64_t most = 0; // a dispatch has the whole budget
  for (const DumpEvent &event : only(events, {"server_active"}))
    most = std::max(most, number_after(event.details, "budget_ns="));
  EXPECT_EQ(most, 12'000'000u);
  EXPECT_TRUE(replenished()) << count(events, "server_replenish") << " of " << jobs;
  EXPECT_EQ(count(events, "task_deadline_miss"), 0u);
  EXPECT_EQ(count(events, "server_create"), 1u);
  EXPECT_EQ(count(events, "server_create", "budget_ns", "12000000"), 1u);
  EXPECT_EQ(count(events, "server_remove"), 1u);
}

TEST_F(SchedulingFamilies, ADeadlineThreadThatOverrunsIsThrottledAndMissesItsDeadline) {
  if (!allowed({installed("deadline"), "overrun"}))
    GTEST_SKIP() << "SCHED_DEADLINE is not allowed here";
  std::string out;
  Events events;
  uint64_t overruns = 0; // as the kernel reported to the program: less, where the signal of the one
                         // before was still pending
  for (int attempt = 0; attempt == 0 || (attempt < 5 && count(events, "server_exhaust") > overruns);
       attempt++) {
    events = capture("server", {installed("deadline"), "overrun"}, out);
    overruns = number_after(out, "overruns");
  }
  EXPECT_GT(overruns, 0u);
  EXPECT_EQ(count(events, "server_exhaust"), overruns);
  EXPECT_EQ(count(events, "server_replenish"), overruns);
  EXPECT_EQ(count(events, "task_deadline_miss"), 1u) << "one job";
  for (const DumpEvent &event : only(events, {"task_deadline_miss"})) {
    EXPECT_LT(number_after(event.details, "late_ns="), 120'000'000u) << "seen in the next period";
  }
  Texts story;
  for (const DumpEvent &event : only(events, {"server_exhaust", "server_replenish"})) {
    EXPECT_EQ(event.detail("yielded_ns"), "");
    if (event.event == "server_exhaust") {
      EXPECT_LT(number_after(event.details, "overrun_ns="), 120'000'000u) << "a period";
    }
    story.push_back(event.event);
  }
  for (size_t n = 0; n < story.size(); n++)
    EXPECT_EQ(story[n], n % 2 ? "server_replenish" : "server_exhaust");
}

TEST_F(SchedulingFamilies, ShowInParaver) {
  const std::string script = installed("priorities") + "; " + installed("futexes") + "; " +
                             installed("timers") + "; " + installed("deadline") + " overrun; true";
  std::string out;
  const Events events = capture("prio,mutex,timer,server", {"sh", "-c", script}, out);
  ASSERT_EQ(run({.argv = {ovnitrace(), "convert", trace()}}).status(), 0);
  const Prv thread = read_prv(trace(), "thread"), cpu = read_prv(trace(), "cpu");
  expect_sound(thread, cpu);
  for (uint32_t type : {420, 421, 430, 431, 432, 440, 441, 442, 443})
    EXPECT_TRUE(thread.types.contains(type)) << type;
  EXPECT_TRUE(cpu.types.contains(444));
  const bool deadline = count(events, "server_create") > 0; // where it is allowed
  for (uint32_t type : {450, 452, 462})
    EXPECT_EQ(thread.types.contains(type), deadline) << type;
  // One event of a row is one punctual value.
  const auto shown = [&](uint32_t type) {
    return size_t(
        std::count_if(thread.events.begin(), thread.events.end(),
                      [&](const PrvEvent &event) { return event.type == type && event.value; }));
  };
  EXPECT_EQ(shown(420), count(events, "set_priority"));
  EXPECT_EQ(shown(440), count(events, "timer_post"));
}

// A family that is filtered out is not loaded, and its tables of threads take no memory.
TEST_F(SchedulingFamilies, LoadOnlyTheProgramsOfTheChosenFamilies) {
  struct Loaded {
    size_t programs = 0, tables = 0; // tables of all tids
  };
  const auto load = [&](const std::string &filter) {
    const std::string name = path(filter);
    Process tracer(record_command(
        name,
        {"sh", "-c", "echo >" + name + ".on; until [ -e " + name + ".off ]; do sleep 0.01; done"},
        {"--filter", filter}));
    eventually([&] { return exists(name + ".on"); }, "the program runs");
    Loaded loaded = {bpf_programs_of(tracer.pid()).size()};
    for (const auto &[id, entries] : bpf_arrays_of(tracer.pid()))
      loaded.tables += entries > FTRACE_TID_MASK;
    write_text(name + ".off", "");
    EXPECT_EQ(tracer.wait().status(), 0);
    return loaded;
  };
  const auto [programs, tables] = load("sched");
  EXPECT_GT(programs, 0u);
  EXPECT_EQ(tables, 1u);
  const auto expect_more = [&, programs = programs, tables = tables](
                               const std::string &family, size_t of_it, size_t tables_of_it) {
    const Loaded loaded = load("sched," + family);
    EXPECT_EQ(loaded.programs, programs + of_it) << family;
    EXPECT_EQ(loaded.tables, tables + tables_of_it) << family;
  };
  expect_more("prio", 3, 1);   // sched_pi_setprio, sched_switch, sys_exit
  expect_more("mutex", 2, 0);  // sys_enter, sys_exit
  expect_more("timer", 4, 0);  // hrtimer_start, _cancel, _expire_entry, _expire_exit
  expect_more("server", 4, 0); // sched_switch, sys_exit, hrtimer_start, _expire_entry
  expect_more("signal", 2, 0);
}

TEST_F(SchedulingFamilies, AreNotThereUnlessAskedFor) {
  std::string out;
  const Events events = capture("irq", {installed("futexes")}, out);
  for (const DumpEvent &event : events)
    EXPECT_TRUE(event.event.find("mutex") == std::string::npos &&
                event.event.find("timer_") == std::string::npos &&
                event.event.find("server_") == std::string::npos && event.event != "set_priority")
        << event.event;
}

} // namespace ovnitrace::test
