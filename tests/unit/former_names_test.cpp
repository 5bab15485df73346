// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace why` names threads as they were named at the time.
#include "emulator/why/path_report.h"
#include "emulator/why/wait_lines.h"
#include "tests/unit/support/why_rig.h"

namespace ovnitrace {
namespace {

using nlohmann::json;
using test::kFutex;
using test::kMs;

class FormerNames : public test::WhyRig {
protected:
  /// main (11) waits for 22, which is "producer" at first. It runs as "pool" from 40 ms on, and
  /// executes "sleep" at 65 ms.
  FormerNames() {
    auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "main").id(2, 22, 22, "producer");
    block(cpu.dispatch(1).at(10 * kMs), 1, kFutex, 22).dispatch(2);
    cpu.at(20 * kMs).activate(1, 22).at(40 * kMs).epilogue(2, 11).name(2, "pool").dispatch(1);
    block(cpu.at(50 * kMs), 1, kFutex, 22).dispatch(2).at(60 * kMs).activate(1, 22);
    cpu.at(65 * kMs).record(FTrace_EXT_exec, 2, 22).name(2, "sleep").at(80 * kMs);
    cpu.epilogue(2, 11).dispatch(1).at(100 * kMs).stop();
  }
};

TEST_F(FormerNames, WakersHoldersAndLongWaitsHaveTheNameOfTheirTime) {
  explain_all();
  const json main = thread(report(), 11);
  EXPECT_EQ(main["blocked"][0]["waker"], "producer");
  EXPECT_EQ(main["blocked"][1]["waker"], "pool");
  EXPECT_EQ(main["blocked"][1]["waker_tid"], 22);
  std::string holders;
  for (const json &holder : main["waiting"])
    holders += holder["holder"].get<std::string>() + " " + holder["ns"].dump() + "\n";
  EXPECT_EQ(holders, "producer 20000000\nsleep 15000000\npool 5000000\n");
  EXPECT_EQ(thread(report(), 22)["name"], "sleep") << "a row has the last name";
  std::string lines;
  for (const LongWait &wait : why.longest_waits)
    lines += wait_line(input(), wait) + '\n';
  EXPECT_EQ(lines,
            "main (11) waited 20.00 ms for CPU 0 from 0.020000 s: woken by producer (22) (futex), "
            "producer (22) ran there\n"
            "main (11) waited 20.00 ms for CPU 0 from 0.060000 s: woken by pool (22) (futex), "
            "meanwhile sleep (22) ran there for 15.00 ms, pool (22) for 5.000 ms\n"
            "sleep (22) waited 20.00 ms for CPU 0 from 0.080000 s: preempted by main (11), which "
            "ran there, and it still waits\n"
            "pool (22) waited 10.00 ms for CPU 0 from 0.040000 s: preempted by main (11), which "
            "ran there\n");
}

TEST_F(FormerNames, ThePathNamesItsPartsAsTheyWereNamed) {
  trace.write();
  source = open_trace({{dir.path()}}, sink);
  CriticalPath path = critical_path(*source, {}, {}, {11, {}});
  EXPECT_EQ(path_text(path, source->catalog(), 0, false),
            "Critical path of main (11): 100.0 ms, from 0 to 100.0 ms of the trace\n"
            "\n"
            "THREAD         CAUSE                  TIME   SHARE  TIMES\n"
            "main (11)      running            40.00 ms  40.0 %      3\n"
            "main (11)      waiting for a CPU  40.00 ms  40.0 %      2\n"
            "pool (22)      running            10.00 ms  10.0 %      1\n"
            "producer (22)  running            10.00 ms  10.0 %      1\n"
            "\n"
            "Who held the CPU meanwhile\n"
            "\n"
            "HOLDER             TIME   SHARE  TIMES\n"
            "producer (22)  20.00 ms  20.0 %      1\n"
            "sleep (22)     15.00 ms  15.0 %      1\n"
            "pool (22)      5.000 ms   5.0 %      1\n");
}

/// As with --control: the start of the first region says the name that a new thread gave itself
/// before. A later name is then not the first one.
TEST_F(FormerNames, ANameFromBeforeTheFirstRecordIsNotReplacedByTheNextOne) {
  trace = test::TraceBuilder(dir.path());
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "main").id(2, 22, 11, "alpha", kMs);
  cpu.dispatch(1).at(10 * kMs).epilogue(1, 22).name(2, "alpha").dispatch(2);
  cpu.at(30 * kMs).epilogue(2, 11).name(2, "idle").dispatch(1).at(40 * kMs).stop();
  explain_all();
  EXPECT_EQ(thread(report(), 11)["waiting"][0]["holder"], "alpha");
}

/// The names A, B and A again are two names.
TEST_F(FormerNames, AThreadThatGetsAFormerNameBackCountsOnce) {
  trace = test::TraceBuilder(dir.path());
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "main").id(2, 22, 22, "a").dispatch(1);
  for (uint64_t n = 0; n < 3; n++) {
    cpu.at((n * 20 + 10) * kMs).epilogue(1, 22).dispatch(2);
    cpu.at((n * 20 + 20) * kMs).epilogue(2, 11).name(2, n ? "a" : "b").dispatch(1);
  }
  cpu.at(80 * kMs).stop();
  explain_all();
  EXPECT_NE(why_text(input()).find("  held by: a (22)"), std::string::npos) << why_text(input());
  EXPECT_EQ(why.held.size(), 3u) << "main, 22 as a, 22 as b";
}

} // namespace
} // namespace ovnitrace
