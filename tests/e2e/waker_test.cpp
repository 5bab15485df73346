// SPDX-License-Identifier: BSD-2-Clause
// Which thread woke another, and in which context, in real captures.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/trace.h"

#include <map>
#include <set>
#include <string>

namespace ovnitrace::test {

class Waker : public CaptureTest {};

TEST_F(Waker, IsTheThreadAtTheOtherEndOfAPipe) {
  record({installed("pingpong"), "--threads", "500"});
  const std::vector<DumpEvent> events = dump(trace());
  std::set<uint32_t> threads;
  for (const ThreadRecord &thread : read_trace_json(trace()).threads)
    threads.insert(thread.tid);
  size_t wakeups = 0;
  for (const DumpEvent &event : events) {
    if (event.event != "task_activate" || event.detail("new") == "1")
      continue;
    const uint32_t waker = tid_of(event.detail("waker"));
    if (event.detail("context") != "task" || !threads.count(waker))
      continue; // of the disk, for a page of the program
    EXPECT_NE(waker, event.tid);
    wakeups++;
  }
  EXPECT_GE(wakeups, 100u) << "of 500 round trips";
}

TEST_F(Waker, ASleepIsEndedByAnInterrupt) {
  record({"sleep", "0.02"});
  std::string context;
  for (const DumpEvent &event : dump(trace()))
    if (event.event == "task_activate")
      context = event.detail("context");
  EXPECT_TRUE(context == "hardirq" || context == "softirq") << context << ": the timer's";
}

// The soft interrupt that handles such a packet runs while its sender is the running thread. That
// of a timer may, too: it is no packet.
TEST_F(Waker, TheSenderOfALoopbackPacketIsTheWaker) {
  record({installed("loopback"), "200"});
  std::map<std::string, uint32_t> named;
  for (const ThreadRecord &thread : read_trace_json(trace()).threads)
    named[thread.name] = thread.tid;
  ASSERT_TRUE(named["asker"] && named["answerer"] && named["patient"]);
  std::map<uint32_t, size_t> by_sender, by_others;
  std::string patient_in; // the call in which it is blocked; it may be blocked for memory, too
  for (const DumpEvent &event : dump(trace())) {
    if (event.event == "task_sleep" && event.tid == named["patient"])
      patient_in = event.detail("call");
    if (event.event != "task_activate" || event.detail("new") == "1")
      continue;
    const uint32_t waker = tid_of(event.detail("waker"));
    const uint32_t sender = event.tid == named["asker"]      ? named["answerer"]
                            : event.tid == named["answerer"] ? named["asker"]
                                                             : 0;
    const bool by_thread = event.detail("context") == "task";
    (by_thread && waker == sender ? by_sender : by_others)[event.tid]++;
    if (event.tid == named["patient"] && patient_in == "recvfrom") {
      EXPECT_FALSE(by_thread) << waker << " at " << event.time;
    }
  }
  // Who is woken may preempt the sender, and send the next byte before that waits for it.
  EXPECT_GE(by_sender[named["asker"]] + by_sender[named["answerer"]], 150u) << "of 400 packets";
  EXPECT_LE(by_others[named["asker"]] + by_others[named["answerer"]], 20u) << "in other ways";
  EXPECT_GE(by_others[named["patient"]], 5u) << "of 10 timeouts";
}

} // namespace ovnitrace::test
