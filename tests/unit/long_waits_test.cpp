// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace why`: which holders the line of a long wait names.
#include "emulator/why/wait_lines.h"
#include "tests/unit/support/why_rig.h"

namespace ovnitrace {
namespace {

using nlohmann::json;
using test::ChunkBuilder;
using test::kMs;

constexpr uint32_t kHog = 9;

class LongWaits : public test::WhyRig {
protected:
  /// Lets `count` untraced threads, from tid 1000 on, run on the CPU for 100 us each, and then one
  /// for `ns`.
  static void run_many(ChunkBuilder &cpu, uint64_t &time, uint32_t count, uint32_t last,
                       uint64_t ns) {
    for (uint32_t n = 0; n < count; n++, time += 100'000)
      cpu.at(time).record(FTrace_EXT_holder, 0, 1000 + n);
    cpu.at(time).record(FTrace_EXT_holder, 0, last);
    time += ns;
  }
};

TEST_F(LongWaits, ALateLargeHolderIsNamedFirst) {
  trace.json(R"({"version": 1, "cpu_holders": true})");
  for (const uint32_t before : {10, 200, 3000}) { // 3000: more switches than are remembered
    auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "worker").dispatch(1);
    uint64_t time = kMs;
    cpu.at(time).sleep(1, 8).activate(1, 0, FTRACE_WAKER_HARDIRQ);
    run_many(cpu, time, before, kHog, 40 * kMs);
    cpu.at(time).dispatch(1).at(time + kMs).stop();
    explain_all();
    const json holders = report()["waits"][0]["holders"];
    EXPECT_EQ(holders[0]["holder_tid"], kHog) << before;
    EXPECT_GE(holders[0]["ns"], 40 * kMs) << before;
    EXPECT_LE(holders.size(), LongWait::kMostParts) << before;
    EXPECT_NE(wait_line(input(), why.longest_waits[0]).find("thread 9 "), std::string::npos)
        << before;
    trace = test::TraceBuilder(dir.path());
    trace.json(R"({"version": 1, "cpu_holders": true})");
  }
}

TEST_F(LongWaits, ManyHoldersBeforeAMoveDoNotHideTheLastCpu) {
  trace.json(R"({"version": 1, "cpu_holders": true})");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "worker").dispatch(1);
  uint64_t time = kMs;
  cpu.at(time).sleep(1, 8).activate(1, 0, FTRACE_WAKER_HARDIRQ);
  run_many(cpu, time, 9, 8, 100'000);
  cpu.at(time).migrate(1, 1).at(100 * kMs).stop();
  auto &other = trace.cpu(1).at(0).start().id(1, 22, 22, "hog").id(2, 11, 11, "worker").dispatch(1);
  other.at(90 * kMs).sleep(1, 11).dispatch(2).at(100 * kMs).stop();
  explain_all();
  EXPECT_NE(wait_line(input(), why.longest_waits[0]).find("hog (22) ran there"), std::string::npos);
}

TEST_F(LongWaits, AreAlsoListedByTheTimeInWhichACpuWasIdle) {
  trace.json(R"({"version": 1, "all_threads": true})");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "worker").id(2, 22, 22, "hog");
  cpu.record(FTrace_EXT_affinity, 1, 0b11).at(kMs).dispatch(1);
  cpu.at(10 * kMs).epilogue(1, 22).dispatch(2).at(30 * kMs).sleep(2, 11).dispatch(1);
  cpu.at(45 * kMs).activate(2, 0, FTRACE_WAKER_HARDIRQ);
  cpu.at(50 * kMs).epilogue(1, 22).dispatch(2).at(60 * kMs).sleep(2, 11).dispatch(1);
  cpu.at(70 * kMs).stop();
  auto &other = trace.cpu(1).at(0).start().id(3, 33, 33, "other").at(kMs).dispatch(3);
  other.at(28 * kMs).sleep(3).at(70 * kMs).stop(); // idle from here on
  explain_all();
  ASSERT_EQ(why.longest_waits.size(), 3u);
  EXPECT_EQ(why.longest_waits[0].start, 10 * kMs);
  ASSERT_EQ(why.idle_waits.size(), 2u) << "nothing says which CPUs hog may use";
  EXPECT_EQ(why.idle_waits[0].start, 50 * kMs) << "10 ms of 10";
  EXPECT_EQ(why.idle_waits[1].start, 10 * kMs) << "2 ms of 20";
  EXPECT_EQ(why.idle_waits[1].idle.causes.total(), 2 * kMs);
}

} // namespace
} // namespace ovnitrace
