// SPDX-License-Identifier: BSD-2-Clause
// System calls that a program makes in a known order: what each family records of them.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/trace.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace ovnitrace::test {

namespace {

using Lines = std::vector<std::string>;

/// "EVENT WHAT" and whether the wait failed, for each event of a futex with a name.
Lines futex_story(const std::vector<DumpEvent> &events,
                  const std::map<uint64_t, std::string> &names) {
  Lines story;
  for (const DumpEvent &event : events) {
    if (!event.event.starts_with("mutex_"))
      continue;
    const auto name = names.find(strtoull(event.detail("mutex").c_str(), nullptr, 16));
    if (name == names.end())
      continue;
    story.push_back(event.event.substr(6) + " " + name->second);
    for (const char *flag : {"waited", "gave_up"})
      if (!event.detail(flag).empty())
        story.back() += std::string(" ") + flag + event.detail(flag);
  }
  return story;
}

Lines priority_story(const std::vector<DumpEvent> &events, uint32_t tid) {
  Lines story;
  for (const DumpEvent &event : events)
    if (event.event == "set_priority" && event.tid == tid) {
      const std::string nice = event.detail("nice");
      story.push_back((nice.empty() ? event.detail("priority") : "nice " + nice) + " " +
                      event.detail("policy"));
    }
  return story;
}

/// The first numbers of the lines of a file, such as 41 of "  41: …".
std::set<std::string> first_numbers(const std::string &file) {
  std::set<std::string> numbers;
  for (const std::string &line : lines_of(read_text(file))) {
    std::istringstream words(line);
    std::string word;
    if (words >> word && word.ends_with(":") && isdigit(word[0]))
      numbers.insert(word.substr(0, word.size() - 1));
  }
  return numbers;
}

} // namespace

class FamilyCalls : public CaptureTest {
protected:
  static Lines program_with(const Lines &arguments) {
    Lines program = {installed("family_calls")};
    program.insert(program.end(), arguments.begin(), arguments.end());
    return program;
  }
  /// Runs the program, and reads its trace. Returns what the program printed. Skips the test if the
  /// kernel does not allow its calls.
  std::string capture(const std::string &family, const Lines &arguments) {
    const Lines program = program_with(arguments);
    if (run({.argv = program}).status() == 2) {
      skipped_ = true;
      return "";
    }
    const Outcome outcome = record(program, {"-f", "--filter", "+" + family});
    events_ = dump(trace());
    return outcome.out;
  }
  /// Records threads of one user, and compares them with the child processes that became that user.
  void expect_children_of_user(const Lines &arguments, size_t count) {
    const Lines program = program_with(arguments);
    if (run({.argv = program}).status() == 2)
      GTEST_SKIP() << "not allowed here";
    const Outcome outcome = record(program, {"--uid", "1001"});
    std::set<uint32_t> children, recorded;
    for (const std::string &line : lines_of(outcome.out))
      children.insert(uint32_t(number_after(line, "child ")));
    for (const ThreadRecord &thread : read_trace_json(trace()).threads)
      recorded.insert(thread.tid);
    EXPECT_EQ(children.size(), count) << outcome.out;
    EXPECT_EQ(recorded, children);
  }
  std::vector<DumpEvent> events_;
  bool skipped_ = false;
};

TEST_F(FamilyCalls, EachOperationOnAFutexHasItsEvents) {
  const std::string out = capture("mutex", {"futex"});
  const std::map<uint64_t, std::string> names = {{number_after(out, "word "), "word"},
                                                 {number_after(out, "other "), "other"},
                                                 {number_after(out, "pi "), "pi"},
                                                 {number_after(out, "array "), "array"}};
  const Lines expected = {
      "wait word",  "lock word gave_up1",  // FUTEX_WAIT
      "wait word",  "lock word gave_up1",  // FUTEX_WAIT_BITSET
      "wait word",  "lock word gave_up1",  // FUTEX_WAIT_REQUEUE_PI
      "post word",                         // FUTEX_WAKE
      "post word",                         // FUTEX_WAKE_BITSET
      "post word",                         // FUTEX_WAKE_OP
      "post word",                         // FUTEX_REQUEUE
      "post word",                         // FUTEX_CMP_REQUEUE
      "post word",                         // FUTEX_CMP_REQUEUE_PI
      "lock pi",                           // FUTEX_TRYLOCK_PI
      "wait pi",    "lock pi gave_up1",    // FUTEX_LOCK_PI
      "unlock pi",                         // FUTEX_UNLOCK_PI
      "wait pi",    "lock pi",             // FUTEX_LOCK_PI2
      "unlock pi",                         // FUTEX_UNLOCK_PI
      "wait array", "lock array gave_up1", // futex_waitv
      "wait word",  "lock word gave_up1",  // futex_wait
      "post word",                         // futex_wake
      "post word",                         // futex_requeue
  };
  EXPECT_EQ(futex_story(events_, names), expected) << out;
}

// Programs that another family needs run at the same calls.
TEST_F(FamilyCalls, OperationsOnAFutexAreOnlyRecordedOfChosenThreadsIfAsked) {
  const Lines cases[] = {{"--filter", "+prio"}, {"--filter", "+mutex", "--comm", "no-such-name"}};
  for (Lines options : cases) {
    options.insert(options.begin(), "-f");
    record(program_with({"futex"}), options);
    for (const DumpEvent &event : dump(trace()))
      EXPECT_FALSE(event.event.starts_with("mutex_")) << options.back() << ": " << event.event;
  }
}

TEST_F(FamilyCalls, FutexesOf32BitProgramsAreRecorded) {
  const std::string out = capture("mutex", {"32", "futex"});
  if (skipped_)
    GTEST_SKIP() << "this kernel has no system calls of 32-bit programs";
  const std::map<uint64_t, std::string> names = {{number_after(out, "word "), "word"},
                                                 {number_after(out, "other "), "other"}};
  EXPECT_EQ(futex_story(events_, names),
            (Lines{"wait word", "lock word gave_up1", "post word", "wait other",
                   "lock other gave_up1", "post other"}));
}

// The thread does not leave its CPU between two calls.
TEST_F(FamilyCalls, EachCallThatChangesAPriorityIsRecorded) {
  const std::string out = capture("prio", {"priority"});
  if (skipped_)
    GTEST_SKIP() << "SCHED_FIFO is not allowed here";
  EXPECT_EQ(priority_story(events_, uint32_t(number_after(out, "main "))),
            (Lines{"5 fifo", "6 fifo", "7 fifo", "nice 0 other", "nice 3 other"}));
}

TEST_F(FamilyCalls, PrioritiesThat32BitProgramsSetAreRecorded) {
  const std::string out = capture("prio", {"32", "priority"});
  if (skipped_)
    GTEST_SKIP() << "not allowed here";
  EXPECT_EQ(priority_story(events_, uint32_t(number_after(out, "main "))),
            (Lines{"5 fifo", "6 fifo", "7 fifo", "nice 0 other", "nice 3 other", "nice 7 other"}));
}

TEST_F(FamilyCalls, EachCallThatSetsARealUserIsNoticedByAFilter) {
  expect_children_of_user({"setuid"}, 3);
}

TEST_F(FamilyCalls, EachSuchCallOf32BitProgramsIsNoticedToo) {
  expect_children_of_user({"32", "setuid"}, 6);
}

// Nothing comes of a signal that is ignored, pending already or refused.
TEST_F(FamilyCalls, OnlySignalsThatArriveAreRecorded) {
  const std::string out = capture("signal", {"signals"});
  const uint32_t main = uint32_t(number_after(out, "main "));
  Lines found;
  for (const DumpEvent &event : events_) {
    if (event.event != "signal" || event.tid != main)
      continue;
    const std::string sender = event.detail("sender");
    found.push_back(event.detail("signal"));
    for (const char *flag : {"taken", "to_process"})
      found.back() += event.detail(flag).empty() ? "" : std::string(" ") + flag;
    if (!sender.empty())
      found.back() += tid_of(sender) == main ? " by itself" : " by " + sender;
  }
  EXPECT_EQ(found, (Lines{"USR1 to_process by itself", "USR1 taken", "USR1 by itself", "USR1 taken",
                          "34 to_process by itself", "34 taken"}));
}

// The longest time that an event has is 2^28 - 1.
TEST_F(FamilyCalls, TimersHaveTheTimeToTheirExpiry) {
  capture("timer", {"timers"});
  std::vector<uint64_t> in_us;
  Lines kinds;
  for (const DumpEvent &event : events_)
    if (event.detail("timer") == "timerfd") {
      kinds.push_back(event.event.substr(6));
      if (event.event == "timer_post")
        in_us.push_back(std::stoull(event.detail("in_us")));
      if (event.event == "timer_wakeup_start") {
        EXPECT_EQ(event.detail("late_ns"), "268435455");
      }
    }
  EXPECT_EQ(kinds, (Lines{"post", "delete", "post", "delete", "post", "delete", "post",
                          "wakeup_start", "wakeup_end"}));
  ASSERT_EQ(in_us.size(), 4u);
  for (const size_t n : {0, 1}) { // 100 s
    EXPECT_LE(in_us[n], 100'000'000u);
    EXPECT_GT(in_us[n], 99'000'000u);
  }
  EXPECT_EQ(in_us[2], 268'435'455u) << "1000 s";
  EXPECT_EQ(in_us[3], 0u) << "long ago";
}

/// The name or the number of an interrupt.
std::string interrupt_of(const DumpEvent &event) {
  for (const char *key : {"irq", "softirq", "vector"})
    if (const std::string value = event.detail(key); !value.empty())
      return std::string(key) + " " + value;
  return "none";
}

// An interrupt of a CPU ends before those that it has interrupted.
TEST_F(FamilyCalls, InterruptsHaveTheirNumbersAndAreNested) {
  write_text(path("data"), std::string(1 << 20, 'x'));
  const Outcome outcome = record(
      {"sh", "-c",
       "dd if=" + path("data") + " of=/dev/null bs=4K iflag=direct; " + installed("families")},
      {"-a", "--filter", "+irq"});
  std::set<std::string> known = {"vector timer", "vector irq_work",   "vector call_single",
                                 "vector call",  "vector reschedule", "softirq HI"};
  for (const char *soft :
       {"TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"})
    known.insert(std::string("softirq ") + soft);
  for (const std::string &number : first_numbers("/proc/interrupts"))
    known.insert("irq " + number);
  std::map<int, Lines> open; // by CPU
  std::map<std::string, size_t> seen;
  size_t unmatched = 0, of_idle = 0, idle = 0;
  for (const DumpEvent &event : dump(trace())) {
    const std::string name = interrupt_of(event);
    idle += event.leaves_cpu() && event.detail("next") == "idle(0)";
    Lines &stack = open[event.cpu];
    if (event.event == "interrupt_start") {
      stack.push_back(name);
      seen[name.substr(0, name.find(' '))]++;
      of_idle += event.detail("interrupted") == "idle(0)";
      EXPECT_TRUE(known.contains(name)) << name;
    } else if (event.event == "interrupt_end" && stack.empty()) {
      unmatched++;
    } else if (event.event == "interrupt_end") {
      EXPECT_EQ(name, stack.back()) << "at " << event.time;
      stack.pop_back();
    }
  }
  EXPECT_GT(seen["softirq"], 0u);
#ifdef __x86_64__
  EXPECT_GT(seen["vector"], 0u);
#endif
  EXPECT_TRUE(of_idle > 0 || idle < 10) << "a CPU that is idle is woken by an interrupt";
  EXPECT_LE(unmatched, 2 * open.size()) << "those that began before the capture";
}

// A CPU in an idle state runs no thread.
TEST_F(FamilyCalls, IdleStatesBeginAndEndAlternately) {
  record({"sh", "-c", "sleep 0.1; sleep 0.1; sleep 0.1"}, {"-a", "--filter", "+power"});
  std::map<int, std::string> last; // by CPU
  size_t pairs = 0, idle = 0;      // no CPU of a busy machine is idle
  for (const DumpEvent &event : dump(trace())) {
    if (event.event == "EXT_idle_start" || event.event == "EXT_idle_end") {
      if (!last[event.cpu].empty()) {
        EXPECT_NE(event.event, last[event.cpu]) << event.cpu << " at " << event.time;
      }
      pairs += event.event == "EXT_idle_end" && !last[event.cpu].empty();
      last[event.cpu] = event.event;
      if (event.event == "EXT_idle_start") {
        EXPECT_LT(std::stoul(event.detail("state")), 10u);
      } else {
        EXPECT_EQ(event.details, "");
      }
    } else if (event.leaves_cpu()) {
      EXPECT_NE(last[event.cpu], "EXT_idle_start") << event.cpu << " at " << event.time;
      idle += event.detail("next") == "idle(0)";
    }
  }
  EXPECT_TRUE(pairs > 0 || idle < 10) << idle;
}

} // namespace ovnitrace::test
