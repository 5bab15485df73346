// SPDX-License-Identifier: BSD-2-Clause
// What `ovnitrace plot` says of a trace above its rows, and which of equal wakeups get an arrow.
#include "emulator/open/open_trace.h"
#include "emulator/plot/figure.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

#include <optional>

namespace ovnitrace {
namespace {

class PlotTitles : public ::testing::Test {
protected:
  PlotTitles() : trace(dir.path()) {}

  Figure figure(const FigureOptions &options = {}) {
    trace.write();
    return make_figure(
        "dir/run1", info, [&] { return open_trace({{dir.path()}}, sink); }, options);
  }
  /// A thread that runs for 1000 ns.
  void one_thread() { trace.cpu(0).at(500).start().id(1, 11, 11, "a").dispatch(1).at(1500).stop(); }

  test::TempDir dir;
  test::TraceBuilder trace;
  test::CollectingSink sink;
  TraceInfo info;
};

TEST_F(PlotTitles, ATraceIsCalledByItsCommandOrElseByWhatWasTraced) {
  one_thread();
  EXPECT_EQ(figure().title, "dir/run1") << "another tool wrote it";
  info.tracer = "0.9";
  EXPECT_EQ(figure().title, "The whole machine");
  info.filters = {"--comm x", "--pid 7"};
  EXPECT_EQ(figure().title, "--comm x, --pid 7");
  info.attached_pids = {7};
  EXPECT_EQ(figure().title, "dir/run1");
  info.command = {"/usr/bin/make", "-j", "a/b"};
  EXPECT_EQ(figure().title, "make -j a/b") << "only the program loses its directory";
  info.command = {"app"};
  EXPECT_EQ(figure().title, "app");
  info.command = {"app", std::string(77, 'x')};
  EXPECT_EQ(figure().title, "app " + std::string(75, 'x') + "…");
  info.command = {"app", std::string(76, 'x')};
  EXPECT_EQ(figure().title, "app " + std::string(76, 'x'));
}

TEST_F(PlotTitles, TheLineBelowHasTheMachineTheThreadsAndTheTime) {
  one_thread();
  EXPECT_EQ(figure().subtitle, "1 CPU; 1 thread, 1.000 us");
  info.kernel = "6.1";
  EXPECT_EQ(figure().subtitle, "Linux 6.1, 1 CPU; 1 thread, 1.000 us");
  info.host = "box";
  FigureOptions options;
  options.cut.from = 250;
  options.cut.to = 350;
  const Figure part = figure(options);
  EXPECT_EQ(part.subtitle, "box, Linux 6.1, 1 CPU; 1 thread, 100 ns from 250 ns on");
  EXPECT_EQ(part.from, 250u);
  EXPECT_EQ(part.to, 350u);
}

TEST_F(PlotTitles, ThreadsOfOneProcessAreTogether) {
  auto &cpu = trace.cpu(0).at(500).start().id(1, 11, 11, "a").id(2, 12, 11, "b");
  cpu.id(3, 22, 22, "c").dispatch(1).at(1500).stop();
  test::TempDir other;
  test::TraceBuilder second(other.path());
  second.cpu(0).at(500).start().id(1, 23, 22, "d").dispatch(1).at(1500).stop();
  second.write();
  trace.write();
  const Figure drawn = make_figure("both", info,
                                   [&] {
                                     return open_trace({{dir.path()}, {other.path()}}, sink);
                                   },
                                   {});
  std::string rows;
  for (const FigureRow &row : drawn.rows)
    rows += (row.new_process ? " | " : " ") + row.label;
  EXPECT_EQ(rows, " a (11) b (12) | c (22) | d (23)") << "the last one is of another host";
}

/// Each of 501 wakeups waits for 7 ns.
TEST_F(PlotTitles, OfEqualWakeupsTheFirstFiveHundredHaveAnArrow) {
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "waker").id(2, 22, 22, "woken");
  trace.cpu(1).at(1000).start().id(2, 22, 22, "woken").at(1001).dispatch(2).at(1002).sleep(2);
  for (uint64_t n = 1; n <= 501; n++) {
    cpu.at(1000 + 100 * n).activate(2, 11, FTRACE_WAKER_TASK);
    trace.cpu(1).at(1007 + 100 * n).dispatch(2).at(1050 + 100 * n).sleep(2);
  }
  cpu.at(60'000).stop();
  trace.cpu(1).at(60'000).stop();
  FigureOptions options;
  options.arrows = true;
  const Figure drawn = figure(options);
  EXPECT_EQ(drawn.wakeups, 501u);
  ASSERT_EQ(drawn.arrows.size(), 500u);
  EXPECT_EQ(drawn.arrows.front().woken, 100u);
  EXPECT_EQ(drawn.arrows.back().woken, 50'000u);
}

} // namespace
} // namespace ovnitrace
