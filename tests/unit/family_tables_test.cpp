// SPDX-License-Identifier: BSD-2-Clause
// Whole texts of the tables of families and of the totals.
#include "emulator/summary/report.h"
#include "emulator/summary/summary.h"

#include <gtest/gtest.h>
#include <ovnitrace/control.h>
#include <ovnitrace/ftrace_codes.h>

#include <string>

namespace ovnitrace {
namespace {

constexpr uint64_t kUs = 1000, kMs = 1000 * kUs;

/// Three threads of two processes on two CPUs. The trace begins at 100 ms, the range at 101 ms.
class SummaryTexts : public testing::Test {
protected:
  SummaryTexts() {
    catalog.hosts.resize(1);
    catalog.hosts[0].chains = {"first", "a chain with a name that is too long for a column"};
    catalog.begin = 100 * kMs;
    catalog.end = 150 * kMs;
    catalog.cpus.resize(2);
    catalog.cpus[1].index = 1;
    catalog.threads.resize(3);
    for (uint32_t t = 0; t < 3; t++) {
      catalog.threads[t].tid = 11 + t;
      catalog.threads[t].pid = t == 2 ? 20 : 11;
      catalog.threads[t].name = t == 2 ? "other" : t == 1 ? "worker" : "app";
    }
    info.cpus = 2;
    info.all_threads = true;
    summary.from = 101 * kMs;
    summary.to = 141 * kMs;
    summary.recorded = 40 * kMs;
    summary.shown = {1, 1, 1};
    summary.threads.resize(3);
    summary.cpus.resize(2);
    for (uint32_t t = 0; t < 3; t++) {
      ThreadSummary &of = summary.threads[t];
      of.time[size_t(ThreadState::Running)] = (10 - 2 * t) * kMs;
      of.time[size_t(ThreadState::Cooling)] = (1 + t) * kMs;
      of.time[size_t(ThreadState::Warming)] = (3 + t) * kMs;
      of.time[size_t(ThreadState::Paused)] = 5 * kMs;
      of.preempted = 3 + t;
      of.voluntary = 1000 + t;
      of.wakeups = 2000 + t;
      of.migrations = t;
    }
  }
  std::string families(size_t top = 0) { return family_tables(input(), {.top = top}); }
  ReportInput input() { return {path, info, catalog, summary}; }

  const std::string path = "trace";
  TraceInfo info;
  Catalog catalog;
  Summary summary;
};

TEST_F(SummaryTexts, WaitsForMutexesAreSortedByTime) {
  summary.threads[0].mutex_waits = {
      .count = 2, .time = 3 * kMs, .max = 2 * kMs, .max_at = 110 * kMs};
  summary.threads[2].mutex_waits = {
      .count = 1, .time = 4 * kMs, .max = 4 * kMs, .max_at = 120 * kMs};
  summary.threads[2].waits_given_up = 1;
  EXPECT_EQ(families(), "\nWaits for mutexes and other futexes:\n"
                        "THREAD      WAITS      TIME       MAX           AT  GAVE UP\n"
                        "other (13)      1  4.000 ms  4.000 ms  0.020000000        1\n"
                        "app (11)        2  3.000 ms  2.000 ms  0.010000000        0\n");
}

TEST_F(SummaryTexts, DeadlinesAreSortedByMissedOnes) {
  summary.threads[0].budgets = 5;
  summary.threads[1].budgets_used_up = 6;
  summary.threads[2].late = {.count = 2, .time = 3 * kMs, .max = 2 * kMs, .max_at = 110 * kMs};
  EXPECT_EQ(families(),
            "\nThreads of SCHED_DEADLINE; LATE is how late the kernel noticed a missed deadline:\n"
            "THREAD       BUDGETS  USED UP  MISSED  LATE, MAX           AT\n"
            "other (13)         0        0       2   2.000 ms  0.010000000\n"
            "app (11)           5        0       0          -            -\n"
            "worker (12)        0        6       0          -            -\n");
}

TEST_F(SummaryTexts, FrequenciesAndIdleStatesAreThoseOfEachCpu) {
  summary.cpus[1].idle[1] = {.count = 7, .time = 10 * kMs, .max = 3 * kMs, .max_at = 130 * kMs};
  summary.cpus[1].idle[2] = {.count = 8, .time = 20 * kMs, .max = 4 * kMs, .max_at = 130 * kMs};
  summary.cpus[1].frequency = {.changes = 3,
                               .known = 2 * kMs,
                               .least = 800'499,
                               .most = 3'000'500,
                               .khz_ns = 2e6 * 1'500'000};
  EXPECT_EQ(families(), "\nIdle states of CPUs:\n"
                        "CPU    STATE    TIMES      TIME       %       MAX\n"
                        "CPU 1  state 1      7  10.00 ms  25.0 %  3.000 ms\n"
                        "CPU 1  state 2      8  20.00 ms  50.0 %  4.000 ms\n"
                        "\nFrequencies of CPUs; the mean is of the time in which it is KNOWN:\n"
                        "CPU        MEAN    LEAST      MOST  CHANGES     KNOWN\n"
                        "CPU 1  1500 MHz  800 MHz  3001 MHz        3  2.000 ms\n");
}

TEST_F(SummaryTexts, InterruptsOfAllCpusAreOneLineAndTheRestIsSummedUp) {
  const uint16_t soft = FTRACE_INTERRUPT_SOFT;
  summary.cpus[0].interrupt[soft | 1] = {
      .count = 1, .time = 10 * kUs, .max = 10 * kUs, .max_at = 110 * kMs};
  summary.cpus[1].interrupt[soft | 1] = {
      .count = 2, .time = 30 * kUs, .max = 20 * kUs, .max_at = 120 * kMs};
  summary.cpus[1].interrupt[soft | 3] = {
      .count = 3, .time = 50 * kUs, .max = 25 * kUs, .max_at = 130 * kMs};
  summary.cpus[1].interrupt[soft | 7] = {
      .count = 4, .time = 20 * kUs, .max = 6 * kUs, .max_at = 125 * kMs};
  summary.cpus[1].interrupt[soft | 9] = {
      .count = 5, .time = 10 * kUs, .max = 2 * kUs, .max_at = 126 * kMs};
  EXPECT_EQ(
      families(),
      "\nInterrupts while traced threads ran, without the time of those that interrupted them:\n"
      "INTERRUPT              TIMES      TIME       MAX           AT\n"
      "Soft: network receive      3  50.00 us  25.00 us  0.030000000\n"
      "Soft: timer                3  40.00 us  20.00 us  0.020000000\n"
      "Soft: scheduler            4  20.00 us  6.000 us  0.025000000\n"
      "Soft: RCU                  5  10.00 us  2.000 us  0.026000000\n");
  EXPECT_EQ(
      families(2),
      "\nInterrupts while traced threads ran, without the time of those that interrupted them:\n"
      "INTERRUPT              TIMES      TIME       MAX           AT\n"
      "Soft: network receive      3  50.00 us  25.00 us  0.030000000\n"
      "Soft: timer                3  40.00 us  20.00 us  0.020000000\n"
      "2 others                   9  30.00 us  6.000 us  0.025000000\n");
}

TEST_F(SummaryTexts, InterruptsOfAWholeMachineAreThoseOfAllCpus) {
  catalog.hosts[0].all_threads = true;
  summary.cpus[0].interrupt[9] = {.count = 1, .time = kUs, .max = kUs, .max_at = 126 * kMs};
  EXPECT_EQ(families().find("\nInterrupts on all CPUs, without the time of those that interrupted "
                            "them:\n"),
            0u);
}

TEST_F(SummaryTexts, SectionsHavePercentilesAndTheRestToo) {
  for (uint32_t n = 1; n <= 3; n++) {
    summary.sections[n] = {.count = n, .time = n * kMs, .max = kMs, .max_at = (110 + n) * kMs};
    for (uint32_t k = 1; k <= 100; k++)
      summary.section_lengths[n].add(n * k * kUs);
  }
  EXPECT_EQ(families(),
            "\nSections of the program, with those within them:\n"
            "SECTION  TIMES      TIME       p50       p90       p99       MAX           AT\n"
            "3            3  3.000 ms  149.5 us  266.2 us  299.0 us  300.0 us  0.013000000\n"
            "2            2  2.000 ms  99.33 us  178.2 us  198.7 us  200.0 us  0.012000000\n"
            "1            1  1.000 ms  49.66 us  89.09 us  99.33 us  100.0 us  0.011000000\n");
  EXPECT_EQ(families(1),
            "\nSections of the program, with those within them:\n"
            "SECTION   TIMES      TIME       p50       p90       p99       MAX           AT\n"
            "3             3  3.000 ms  149.5 us  266.2 us  299.0 us  300.0 us  0.013000000\n"
            "2 others      3  3.000 ms  66.56 us  161.8 us  194.6 us  200.0 us  0.012000000\n");
}

TEST_F(SummaryTexts, RegionsAreSortedByLengthAndTheRestIsSummedUp) {
  summary.regions = {{.thread = 0,
                      .start = 102 * kMs,
                      .stop = 104 * kMs,
                      .chain = 1,
                      .started_by = CONTROL_ENTER_FUNC,
                      .stopped_by = CONTROL_INT3,
                      .running = kMs,
                      .waiting = 2 * kUs},
                     {.thread = 1,
                      .start = 103 * kMs,
                      .stop = 109 * kMs,
                      .chain = 2,
                      .bcast = true,
                      .by_other = true,
                      .repeated_starts = 2,
                      .started_by = CONTROL_ENTER_FUNC,
                      .stopped_by = CONTROL_INT3,
                      .running = 2 * kMs,
                      .waiting = 3 * kUs},
                     {.thread = 1,
                      .start = 140 * kMs,
                      .chain = 0,
                      .started_by = CONTROL_INT3,
                      .running = 4 * kUs,
                      .waiting = 5 * kUs}};
  EXPECT_EQ(families(), "\nRegions of --control, the longest first; RUNNING and WAITING (for a "
                        "CPU) are of all their threads:\n"
                        "REGION  CHAIN  STARTED BY            THREAD       STOPPED BY        AT    "
                        "LENGTH   RUNNING   WAITING\n"
                        "2       2      enter_func bcast ot…  worker (12)  int3        3.000 ms  "
                        "6.000 ms  2.000 ms  3.000 us\n"
                        "1       first  enter_func            app (11)     int3        2.000 ms  "
                        "2.000 ms  1.000 ms  2.000 us\n"
                        "3       -      int3                  worker (12)  -           40.00 ms  "
                        "1.000 ms  4.000 us  5.000 us\n"
                        "\nHow long regions were, of those that were stopped:\n"
                        "CHAIN  TIMES      TIME       p50       p90       p99       MAX\n"
                        "first      1  2.000 ms  2.000 ms  2.000 ms  2.000 ms  2.000 ms\n"
                        "2          1  6.000 ms  6.000 ms  6.000 ms  6.000 ms  6.000 ms\n");
  EXPECT_EQ(families(1), "\nRegions of --control, the longest first; RUNNING and WAITING (for a "
                         "CPU) are of all their threads:\n"
                         "REGION  CHAIN  STARTED BY            THREAD       STOPPED BY        AT   "
                         " LENGTH   RUNNING   WAITING\n"
                         "2       2      enter_func bcast ot…  worker (12)  int3        3.000 ms  "
                         "6.000 ms  2.000 ms  3.000 us\n"
                         "2 more                                                                  "
                         "3.000 ms  1.004 ms  7.000 us\n"
                         "\nHow long regions were, of those that were stopped:\n"
                         "CHAIN  TIMES      TIME       p50       p90       p99       MAX\n"
                         "first      1  2.000 ms  2.000 ms  2.000 ms  2.000 ms  2.000 ms\n"
                         "2          1  6.000 ms  6.000 ms  6.000 ms  6.000 ms  6.000 ms\n");
}

TEST_F(SummaryTexts, TotalsHaveEachNumber) {
  for (uint32_t n = 1; n <= 100; n++)
    summary.threads[1].latency.add(n * kUs);
  summary.threads[2].latency.add(50 * kUs);
  summary.threads[1].outside = 0;
  summary.lost = 7;
  EXPECT_EQ(
      totals(input(), {}),
      "3 threads of 2 processes on 2 CPUs for 40.00 ms\n"
      "\n        24.00 ms  running              30.0 % of the CPUs\n"
      "        6.000 ms  preempted (cooling)  or yielded or throttled, waits for a CPU\n"
      "        12.00 ms  woken (warming)      waits for a CPU\n"
      "        15.00 ms  blocked (paused)     waits for something else\n"
      "               0  unknown              not seen\n"
      "\n           3,015  switches             12 preempted, 0 yielded, 3,003 voluntary\n"
      "           6,003  wakeups              became runnable\n"
      "               3  migrations           moved to another CPU\n"
      "        49.66 us  wakeup latency p50   from woken to running\n"
      "        99.33 us  p99\n"
      "        100.0 us  max                  worker (12)\n"
      "               7  events lost\n"
      "\n                       PREEMPTED      WOKEN  SWIT-    PRE-  MIGRA-\n"
      "THREAD        RUNNING  (COOLING)  (WARMING)   CHES  EMPTED   TIONS       p99       MAX\n"
      "app (11)     10.00 ms   1.000 ms   3.000 ms  1,003       3       0         -         -\n"
      "worker (12)  8.000 ms   2.000 ms   4.000 ms  1,005       4       1  99.33 us  100.0 us\n"
      "other (13)   6.000 ms   3.000 ms   5.000 ms  1,007       5       2  50.00 us  50.00 us\n");
  info.ended = "its time was over";
  summary.threads[0].time[size_t(ThreadState::Unknown)] = 30 * kMs;
  summary.threads[0].outside = 10 * kMs;
  summary.recorded = 30 * kMs;
  summary.lost = 0;
  EXPECT_EQ(
      totals(input(), {.top = 2}),
      "3 threads of 2 processes on 2 CPUs for 40.00 ms; its time was over\n"
      "Of that, 30.00 ms are in the regions of --control.\n"
      "\n        24.00 ms  running              40.0 % of the CPUs\n"
      "        6.000 ms  preempted (cooling)  or yielded or throttled, waits for a CPU\n"
      "        12.00 ms  woken (warming)      waits for a CPU\n"
      "        15.00 ms  blocked (paused)     waits for something else\n"
      "        20.00 ms  unknown              not seen\n"
      "\n           3,015  switches             12 preempted, 0 yielded, 3,003 voluntary\n"
      "           6,003  wakeups              became runnable\n"
      "               3  migrations           moved to another CPU\n"
      "        49.66 us  wakeup latency p50   from woken to running\n"
      "        99.33 us  p99\n"
      "        100.0 us  max                  worker (12)\n"
      "\n                       PREEMPTED      WOKEN  SWIT-    PRE-  MIGRA-\n"
      "THREAD        RUNNING  (COOLING)  (WARMING)   CHES  EMPTED   TIONS       p99       MAX\n"
      "app (11)     10.00 ms   1.000 ms   3.000 ms  1,003       3       0         -         -\n"
      "worker (12)  8.000 ms   2.000 ms   4.000 ms  1,005       4       1  99.33 us  100.0 us\n"
      "1 other      6.000 ms   3.000 ms   5.000 ms  1,007       5       2  50.00 us  50.00 us\n");
}

TEST_F(SummaryTexts, TablesHaveEachNumber) {
  for (uint32_t n = 1; n <= 100; n++)
    summary.threads[1].latency.add(n * kUs);
  summary.threads[1].latency_max_at = 105 * kMs;
  summary.threads[0].latency.add(40 * kUs);
  summary.threads[0].latency_max_at = 106 * kMs;
  summary.threads[1].found_waiting = 2 * kMs;
  summary.threads[2].found_waiting = kMs;
  summary.threads[2].throttled = 2;
  summary.threads[2].throttling = {
      .count = 2, .time = 3 * kMs, .max = 2 * kMs, .max_at = 107 * kMs};
  summary.preemptions = {{.thread = 0, .peer = 1, .tid = 12, .count = 9},
                         {.thread = 1, .peer = kNone, .tid = 0, .count = 4},
                         {.thread = 2, .peer = kNone, .tid = 77, .count = 3}};
  summary.wakeups = {{.thread = 1, .peer = 2, .tid = 13, .count = 1234},
                     {.thread = 0, .peer = kNone, .tid = kNone, .count = 5}};
  summary.cpus[0] = {.busy = 20 * kMs, .switches = 30, .lost = 4};
  summary.cpus[1] = {.busy = 10 * kMs,
                     .switches = 31,
                     .unknown = 5 * kMs,
                     .interrupts = kMs,
                     .stolen = 2 * kMs,
                     .stolen_known = true};
  EXPECT_EQ(
      tables(input(), {}),
      "\n                                    PREEMPTED      WOKEN   BLOCKED\n"
      "THREAD       PID   RUNNING       %  (COOLING)  (WARMING)  (PAUSED)  UNKNOWN\n"
      "app (11)      11  10.00 ms  52.6 %   1.000 ms   3.000 ms  5.000 ms        0\n"
      "worker (12)   11  8.000 ms  42.1 %   2.000 ms   4.000 ms  5.000 ms        0\n"
      "other (13)    20  6.000 ms  31.6 %   3.000 ms   5.000 ms  5.000 ms        0\n"
      "\nTHREAD       SWITCHES  PREEMPTED  YIELDED  THROTTLED  VOLUNTARY  WAKEUPS  MIGRATIONS\n"
      "app (11)        1,003          3        0          0      1,000    2,000           0\n"
      "worker (12)     1,005          4        0          0      1,001    2,001           1\n"
      "other (13)      1,009          5        0          2      1,002    2,002           2\n"
      "\nHow long threads waited from woken to running; AT is when the longest wait ended:\n"
      "THREAD       WAITS       p50       p99       MAX           AT\n"
      "app (11)         1  40.00 us  40.00 us  40.00 us  0.006000000\n"
      "worker (12)    100  49.66 us  99.33 us  100.0 us  0.005000000\n"
      "other (13)       0         -         -         -            -\n"
      "\nOf WOKEN, 3.000 ms: threads that waited already when their recording began. Whether they "
      "were woken\n"
      "or preempted is not known.\n"
      "\n                                       PREEMPTED      WOKEN   BLOCKED\n"
      "PROCESS     THREADS   RUNNING       %  (COOLING)  (WARMING)  (PAUSED)  UNKNOWN\n"
      "app (11)          2  18.00 ms  47.4 %   3.000 ms   7.000 ms  10.00 ms        0\n"
      "process 20        1  6.000 ms  31.6 %   3.000 ms   5.000 ms  5.000 ms        0\n"
      "\nWho got the CPU of a thread that was preempted:\n"
      "THREAD       PREEMPTED BY   TIMES\n"
      "app (11)     worker (12)        9\n"
      "worker (12)  the idle task      4\n"
      "other (13)   thread 77          3\n"
      "\nOff the CPU while throttled: no CPU quota or SCHED_DEADLINE budget was left:\n"
      "THREAD      TIMES      TIME       MAX           AT\n"
      "other (13)      2  3.000 ms  2.000 ms  0.007000000\n"
      "\nWho woke a thread; AN INTERRUPT: no thread did, as for a timer or a packet:\n"
      "THREAD       WOKEN BY      TIMES\n"
      "worker (12)  other (13)    1,234\n"
      "app (11)     AN INTERRUPT      5\n"
      "\nCPU    BUSY WITH THEM       %   UNKNOWN       %  SWITCHES  LOST  INTERRUPTS    STOLEN     "
      " %\n"
      "CPU 0        20.00 ms  50.0 %         0   0.0 %        30     4           0         -      "
      "-\n"
      "CPU 1        10.00 ms  25.0 %  5.000 ms  12.5 %        31     0    1.000 ms  2.000 ms  5.0 "
      "%\n");
  EXPECT_EQ(
      tables(input(), {.top = 1}),
      "\n                                 PREEMPTED      WOKEN   BLOCKED\n"
      "THREAD    PID   RUNNING       %  (COOLING)  (WARMING)  (PAUSED)  UNKNOWN\n"
      "app (11)   11  10.00 ms  52.6 %   1.000 ms   3.000 ms  5.000 ms        0\n"
      "2 others       14.00 ms  36.8 %   5.000 ms   9.000 ms  10.00 ms        0\n"
      "\nTHREAD    SWITCHES  PREEMPTED  YIELDED  THROTTLED  VOLUNTARY  WAKEUPS  MIGRATIONS\n"
      "app (11)     1,003          3        0          0      1,000    2,000           0\n"
      "2 others     2,014          9        0          2      2,003    4,003           3\n"
      "\nHow long threads waited from woken to running; AT is when the longest wait ended:\n"
      "THREAD    WAITS       p50       p99       MAX           AT\n"
      "app (11)      1  40.00 us  40.00 us  40.00 us  0.006000000\n"
      "2 others    100  49.66 us  99.33 us  100.0 us  0.005000000\n"
      "\nOf WOKEN, 3.000 ms: threads that waited already when their recording began. Whether they "
      "were woken\n"
      "or preempted is not known.\n"
      "\n                                     PREEMPTED      WOKEN   BLOCKED\n"
      "PROCESS   THREADS   RUNNING       %  (COOLING)  (WARMING)  (PAUSED)  UNKNOWN\n"
      "app (11)        2  18.00 ms  47.4 %   3.000 ms   7.000 ms  10.00 ms        0\n"
      "1 other            6.000 ms  31.6 %   3.000 ms   5.000 ms  5.000 ms        0\n"
      "\nWho got the CPU of a thread that was preempted:\n"
      "THREAD    PREEMPTED BY  TIMES\n"
      "app (11)  worker (12)       9\n"
      "2 others                    7\n"
      "\nOff the CPU while throttled: no CPU quota or SCHED_DEADLINE budget was left:\n"
      "THREAD      TIMES      TIME       MAX           AT\n"
      "other (13)      2  3.000 ms  2.000 ms  0.007000000\n"
      "\nWho woke a thread; AN INTERRUPT: no thread did, as for a timer or a packet:\n"
      "THREAD       WOKEN BY    TIMES\n"
      "worker (12)  other (13)  1,234\n"
      "1 other                      5\n"
      "\nCPU    BUSY WITH THEM       %   UNKNOWN       %  SWITCHES  LOST  INTERRUPTS    STOLEN     "
      " %\n"
      "CPU 0        20.00 ms  50.0 %         0   0.0 %        30     4           0         -      "
      "-\n"
      "CPU 1        10.00 ms  25.0 %  5.000 ms  12.5 %        31     0    1.000 ms  2.000 ms  5.0 "
      "%\n");
}

TEST_F(SummaryTexts, CommandLinesAreListedOncePerProcessAndTheRestIsCounted) {
  catalog.hosts[0].command_lines = {{.pid = 11, .text = "./app --first"},
                                    {.pid = 20, .text = "./other " + std::string(80, 'x')}};
  const std::string all = tables(input(), {.columns = 80});
  const size_t from = all.find("\nWhat the processes executed last");
  ASSERT_NE(from, all.npos) << all;
  EXPECT_EQ(all.substr(from, all.find("\n\n", from) - from),
            "\nWhat the processes executed last:\n"
            "PROCESS  COMMAND LINE\n"
            "11       ./app --first\n"
            "20       ./other xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…");
  EXPECT_NE(tables(input(), {}).find("./other " + std::string(80, 'x') + "\n"), all.npos);
  const std::string one = tables(input(), {.top = 1});
  const size_t at = one.find("\nWhat the processes executed last");
  ASSERT_NE(at, one.npos) << one;
  EXPECT_EQ(one.substr(at, one.find("\n\n", at) - at), "\nWhat the processes executed last:\n"
                                                       "PROCESS  COMMAND LINE\n"
                                                       "11       ./app --first\n"
                                                       "1 other");
}

TEST_F(SummaryTexts, TheCommandLineOfTheOnlyProcessIsAtTheTopAlready) {
  catalog.hosts[0].command_lines = {{.pid = 11, .text = "./app --first"}};
  EXPECT_NE(tables(input(), {}).find("What the processes executed last"), std::string::npos);
  info.command = {"./app", "--first"};
  EXPECT_EQ(tables(input(), {}).find("What the processes executed last"), std::string::npos);
}

} // namespace
} // namespace ovnitrace
