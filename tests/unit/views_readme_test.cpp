// SPDX-License-Identifier: BSD-2-Clause
// The README beside the configurations for Paraver, and the titles that they show.
#include "tests/support/convert_directory.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

TEST(ViewsReadme, HasALineForEachView) {
  const test::TempDir dir;
  test::TraceBuilder trace(dir.path());
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 10, 10, "app").id(2, 11, 10, "worker");
  cpu.snapshot(2, 2, 0).dispatch(1);
  for (uint64_t time = 2000; time < 42'000; time += 10'000) {
    cpu.at(time).activate(2, 10).at(time + 2000).sleep(1, 11).dispatch(2);
    cpu.at(time + 3000).sleep(2, 10).activate(1, 11).dispatch(1);
  }
  cpu.at(100'000).stop();
  trace.write();
  test::CollectingSink sink;
  convert_directory(dir.path(), {}, sink);
  EXPECT_EQ(test::text_of(dir / "cfg/README"),
            R"(Views for Paraver: open thread.prv or cpu.prv, then File > Load Configuration.
Those of thread/ are for thread.prv, those of cpu/ for cpu.prv. In a gradient,
orange is what is beyond the scale, which holds 95 of 100 values.

thread/pid.cfg                           PID of the running thread
thread/tid.cfg                           TID of the running thread
thread/state.cfg                         Thread state
thread/cpu.cfg                           CPU of the thread
thread/off-CPU-reason.cfg                Why the thread is off its CPU
thread/runs-instead.cfg                  TID that got the CPU instead
thread/blocked-in.cfg                    System call in which the thread is blocked
thread/waker.cfg                         TID that woke the thread
thread/waker-context.cfg                 Context of the wakeup
thread/wakeup-latency.cfg                Latency of the last wakeup (ns)
thread/arrows.cfg                        Thread state, with an arrow from each waker to whom it woke
thread/time-per-state.cfg                Time in each state: a 2D histogram
thread/wakeup-latency-distribution.cfg   How many wakeups had which latency (ns): a 2D histogram

cpu/pid.cfg                              PID of the running thread
cpu/tid.cfg                              TID of the running thread
cpu/running-threads.cfg                  Number of running threads
cpu/process.cfg                          Process of the running thread
cpu/wakeup-latency.cfg                   Latency of the last wakeup (ns)
cpu/time-per-process.cfg                 Time that each process ran: a 2D histogram
)");
  for (const auto &[view, title] :
       {std::pair("thread/arrows", "window_name Thread: Thread state and wakeups"),
        {"thread/time-per-state", "Analyzer2D.Name: Thread: Time in each state"},
        {"cpu/time-per-process", "Analyzer2D.Name: CPU: Time that each process ran"}})
    EXPECT_NE(test::text_of(dir / (std::string("cfg/") + view + ".cfg"))
                  .find("\n" + std::string(title) + "\n"),
              std::string::npos)
        << view;
}

} // namespace
} // namespace ovnitrace
