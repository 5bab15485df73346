// SPDX-License-Identifier: BSD-2-Clause
// Which thread woke another, and in which context, in real captures.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/trace.h"

#include <set>

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

} // namespace ovnitrace::test
