// SPDX-License-Identifier: BSD-2-Clause
// Checks the conversion of a real capture at every instant.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/prv.h"
#include "tests/e2e/support/trace.h"

namespace ovnitrace::test {

class Timeline : public CaptureTest {
protected:
  void convert() {
    const Outcome outcome = run({.argv = {ovnitrace(), "convert", trace()}});
    ASSERT_EQ(outcome.status(), 0) << outcome.err;
    EXPECT_EQ(lines_of(outcome.err).size(), 1u) << "what was written: " << outcome.err;
    thread_ = read_prv(trace(), "thread");
    cpu_ = read_prv(trace(), "cpu");
  }
  Prv thread_, cpu_;
};

TEST_F(Timeline, HasOneThreadPerCpuAndOneStatePerThread) {
  record({installed("sched_mix"), "1"});
  convert();
  expect_sound(thread_, cpu_);
  const TraceRecord reported = read_trace_json(trace());
  EXPECT_EQ(thread_.rows.size(), reported.threads.size());
  EXPECT_EQ(thread_.length, reported.end - reported.begin);
  EXPECT_GT(thread_.arrows, 10u) << "futex and pipe wakeups, in whatever a second is here";
}

// No event of a real capture contradicts another.
TEST_F(Timeline, HasNothingImpossible) {
  const std::vector<std::vector<std::string>> programs = {{"sched_mix", "0.5"},
                                                          {"forker", "50"},
                                                          {"many_threads", "300"},
                                                          {"exec_thread"},
                                                          {"pingpong", "--threads", "2000"}};
  for (std::vector<std::string> program : programs) {
    program[0] = installed(program[0]);
    record(program, {"-f"});
    const Outcome outcome = run({.argv = {ovnitrace(), "convert", "-q", "--lint", trace()}});
    EXPECT_EQ(outcome.status(), 0) << program[0] << ":\n" << outcome.err;
    EXPECT_EQ(outcome.err, "") << program[0];
  }
}

TEST_F(Timeline, NamesRowsInTheOrderOfProcessAndThread) {
  record({installed("sched_mix"), "0.2"});
  convert();
  const TraceRecord reported = read_trace_json(trace());
  uint32_t last_pid = 0, last_tid = 0;
  for (const std::string &row : thread_.rows) {
    const ThreadRecord *thread = reported.thread(uint32_t(number_after(row, " (")));
    ASSERT_TRUE(thread) << row;
    EXPECT_NE(row.find(thread->name + " (" + std::to_string(thread->tid) + ")"), std::string::npos)
        << row;
    EXPECT_TRUE(thread->pid > last_pid || (thread->pid == last_pid && thread->tid > last_tid))
        << row << " is out of order";
    last_pid = thread->pid, last_tid = thread->tid;
  }
  for (size_t cpu = 0; cpu < cpu_.rows.size(); cpu++)
    EXPECT_NE(cpu_.rows[cpu].find("CPU " + std::to_string(cpu)), std::string::npos);
}

TEST_F(Timeline, EndsEveryThreadOfAProgramThatJoinsThem) {
  record({installed("many_threads"), "50"});
  convert();
  expect_sound(thread_, cpu_);
  std::vector<int64_t> last(thread_.rows.size(), -1);
  for (const PrvEvent &event : thread_.events)
    if (event.type == kThreadState)
      last[event.row] = event.value;
  for (size_t row = 0; row < last.size(); row++)
    EXPECT_EQ(last[row], kDead) << thread_.rows[row];
}

// `ovnitrace -- PROGRAM` records and converts.
TEST_F(Timeline, IsWrittenByOvnitraceWithoutASubcommand) {
  const Outcome outcome =
      run({.argv = {ovnitrace(), "-o", trace(), "--", installed("many_threads"), "20"}});
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  ASSERT_TRUE(exists(trace() + "/thread.prv")) << outcome.err;
  expect_sound(read_prv(trace(), "thread"), read_prv(trace(), "cpu"));
}

// Each channel has a view. A new capture removes the views of an older one.
TEST_F(Timeline, ComesWithViews) {
  record({installed("pingpong"), "100"});
  convert();
  EXPECT_GE(names_in(trace() + "/cfg/thread").size(), 8u);
  EXPECT_GE(names_in(trace() + "/cfg/cpu").size(), 5u);
  record({"true"}, {"-f"});
  for (const char *name : {"cfg", "thread.prv", "thread.pcf", "thread.row", "cpu.prv"})
    EXPECT_FALSE(exists(trace() + "/" + name)) << name;
}

} // namespace ovnitrace::test
