// SPDX-License-Identifier: BSD-2-Clause
// --buffer: a flight recorder saved by a crash, by SIGUSR2 and by a trigger; a capture that stops
// when full.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/prv.h"
#include "tests/e2e/support/trace.h"

#include <csignal>
#include <sys/resource.h>

namespace ovnitrace::test {

class Buffer : public CaptureTest {
protected:
  /// Runs pingpong, and then the commands `then`.
  std::vector<std::string> script(const std::string &trips, const std::string &then) const {
    return {"sh", "-c", installed("pingpong") + " " + trips + " >/dev/null; " + then};
  }
  void expect_convertible(const std::string &trace) {
    const Outcome outcome = run({.argv = {ovnitrace(), "convert", trace}});
    EXPECT_EQ(outcome.status(), 0) << outcome.err;
    expect_sound(read_prv(trace, "thread"), read_prv(trace, "cpu"));
  }
};

// The trace ends with the last moments before the crash. Events long before it were evicted.
TEST_F(Buffer, KeepsTheEventsBeforeACrash) {
  constexpr uint64_t kRounds = 500; // a millisecond at least, each
  record({installed("crash"), std::to_string(kRounds)}, {"--buffer", "cyc:16K", "--compress=0"},
         128 + SIGSEGV);
  const TraceRecord reported = read_trace_json(trace());
  EXPECT_EQ(reported.how.find("killed by signal 11"), 0u) << reported.how;
  EXPECT_EQ(reported.threads.size(), 6u);
  const std::vector<DumpEvent> events = dump(trace());
  uint64_t bytes = 0;
  for (const std::string &name : names_in(trace()))
    if (name.ends_with(".ftr"))
      bytes += read_text(trace() + "/" + name).size();
  EXPECT_LE(bytes, 2 * (16u << 10) + 10'000) << "two CPUs";
  EXPECT_GT(reported.forgotten, reported.events / 2) << "most of it is forgotten";
  // A blackout takes the place of evicted events. A CPU that evicted nothing has no trace_start of
  // its own.
  const size_t blackouts =
      size_t(std::count_if(events.begin(), events.end(), [](const DumpEvent &event) {
        return event.event.starts_with("blackout_");
      }));
  uint64_t files = 0;
  for (const std::string &name : names_in(trace()))
    files += name.ends_with(".ftr");
  EXPECT_EQ(events.size() - blackouts + files - blackouts / 2,
            reported.events - reported.forgotten);
  EXPECT_EQ(reported.lost, 0u) << "but nothing found no room";

  // Time 0 is the first event that is kept, long after the beginning.
  EXPECT_EQ(events.front().time, 0u);
  EXPECT_GT(reported.end - reported.begin, kRounds * 1'000'000);
  EXPECT_LT(events.back().time, reported.end - reported.begin);
  EXPECT_TRUE(std::none_of(events.begin(), events.end(),
                           [](const DumpEvent &event) { return event.event == "trace_start"; }));
  EXPECT_TRUE(std::any_of(events.begin(), events.end(),
                          [](const DumpEvent &event) { return event.event == "blackout_end"; }));

  // The last events are the ends of all threads, by the signal. Only the end of the trace follows.
  const auto last = std::find_if(events.rbegin(), events.rend(), [](const DumpEvent &event) {
    return event.event != "trace_stop" && event.event != "EXT_holder";
  });
  ASSERT_NE(last, events.rend());
  EXPECT_EQ(last->event, "task_end");
  for (const ThreadRecord &thread : reported.threads) {
    const std::vector<DumpEvent> own = by_thread(events)[thread.tid];
    ASSERT_GE(own.size(), 2u) << thread.name;
    EXPECT_EQ(own.back().event, "task_end") << thread.name;
    const auto exit = std::find_if(
        own.begin(), own.end(), [](const DumpEvent &event) { return event.event == "EXT_exit"; });
    ASSERT_NE(exit, own.end()) << thread.name;
    EXPECT_EQ(exit->detail("signal"), "SEGV") << thread.name;
  }
  expect_convertible(trace());
  const Prv timeline = read_prv(trace(), "thread");
  std::map<size_t, int64_t> state;
  for (const PrvEvent &event : timeline.events)
    if (event.type == kThreadState)
      state[event.row] = event.value;
  for (size_t row = 0; row < timeline.rows.size(); row++)
    EXPECT_EQ(state[row], kDead) << timeline.rows[row];
}

TEST_F(Buffer, IsSavedBySignalAndGoesOn) {
  const std::string wait = "until [ -e " + path("go") + " ]; do sleep 0.02; done; ";
  Process tracer(record_command(trace(),
                                script("500", "echo >" + path("ready") + "; " + wait + "exit 3"),
                                {"--buffer", "cyc:8M"}));
  ASSERT_TRUE(eventually([&] { return exists(path("ready")); }, "the program runs"));
  tracer.signal(SIGUSR2);
  eventually([&] { return exists(trace() + ".1/trace.json"); }, "the first save");
  tracer.signal(SIGUSR2);
  eventually([&] { return exists(trace() + ".2/trace.json"); }, "the second save");
  write_text(path("go"), "");
  const Outcome outcome = tracer.wait();
  EXPECT_EQ(outcome.status(), 3) << outcome.err;
  EXPECT_NE(outcome.err.find("saved to " + trace() + ".1"), std::string::npos) << outcome.err;
  const size_t first = dump(trace() + ".1").size(), second = dump(trace() + ".2").size();
  EXPECT_GT(first, 500u);
  EXPECT_GE(second, first);
  EXPECT_GT(dump(trace()).size(), second);
  expect_convertible(trace() + ".1");
  expect_convertible(trace() + ".2");
  expect_convertible(trace());
}

TEST_F(Buffer, IsSavedByATrigger) {
  const std::string pingpong = installed("pingpong") + " 300 >/dev/null; ";
  record({"taskset", "-c", "0", "sh", "-c", pingpong + pingpong + "sleep 3"},
         {"--buffer", "cyc:8M", "--trigger", "EXT_exit"});
  ASSERT_TRUE(exists(trace() + ".1/trace.json"))
      << "pingpong's end, a second after the second's begin at most";
  const std::vector<DumpEvent> events = dump(trace() + ".1");
  EXPECT_TRUE(std::any_of(events.begin(), events.end(),
                          [](const DumpEvent &event) { return event.event == "EXT_exit"; }));
  EXPECT_TRUE(std::none_of(events.begin(), events.end(), [](const DumpEvent &event) {
    return event.event == "EXT_exit" && event.comm == "sleep";
  }));
  for (const char *part : {"", ".1"}) {
    const Outcome why = run({.argv = {ovnitrace(), "why", trace() + part}});
    EXPECT_TRUE(why.out.starts_with("sh (")) << "taskset has executed it\n" << why.out;
  }
}

TEST_F(Buffer, AFrequentTriggerSavesAtMostMaxSavesTimes) {
  const std::string pingpong = installed("pingpong") + " 3000 >/dev/null; ";
  const std::string wait = "until [ -e " + trace() + ".2/trace.json ]; do " + pingpong + "done; ";
  const Outcome outcome =
      record({"sh", "-c", wait + pingpong + "sleep 2; " + pingpong},
             {"--buffer", "cyc:64K", "--trigger", "task_dispatch", "--max-saves", "2"});
  EXPECT_NE(outcome.err.find("--max-saves 2 reached: --trigger saves no more"), std::string::npos)
      << outcome.err;
  expect_convertible(trace() + ".2");
  EXPECT_FALSE(exists(trace() + ".3")) << outcome.err;
}

TEST_F(Buffer, StopsWhenFullAndTheProgramGoesOn) {
  const Outcome outcome = record(script("30000", "echo alive >" + path("alive") + "; exit 5"),
                                 {"--buffer", "stop:128K"}, 5);
  EXPECT_TRUE(exists(path("alive")));
  EXPECT_NE(
      outcome.err.find("131072 bytes were recorded: tracing stopped; the program goes on untraced"),
      std::string::npos)
      << outcome.err;
  const TraceRecord reported = read_trace_json(trace());
  EXPECT_EQ(
      reported.how,
      "131072 bytes were recorded and tracing stopped; later the program exited with status 5");
  EXPECT_GE(reported.records, 131072u / 16);
  EXPECT_EQ(reported.records_dropped, 0u);
  const std::vector<DumpEvent> events = dump(trace());
  EXPECT_EQ(events.back().event, "trace_stop");
  expect_convertible(trace());
}

// Nobody will see the thread's last switch any more, so ovnitrace does not wait for it: this would
// take some thousand short sleeps.
TEST_F(Buffer, DoesNotWaitForAProgramThatIsNoLongerTraced) {
  rusage before, after;
  getrusage(RUSAGE_CHILDREN, &before);
  const Outcome outcome =
      record({"sh", "-c", installed("user_events") + " 7; sleep 2"}, {"--buffer", "stop:8K"});
  getrusage(RUSAGE_CHILDREN, &after);
  EXPECT_NE(outcome.err.find("the program goes on untraced"), std::string::npos) << outcome.err;
  EXPECT_LT(after.ru_nvcsw - before.ru_nvcsw, 3000);
}

TEST_F(Buffer, EndsACaptureOfTheMachineWhenFull) {
  Process load({.argv = {installed("pingpong"), "1000000"}});
  const Outcome outcome = record({}, {"-a", "--buffer", "stop:128K"});
  EXPECT_EQ(read_trace_json(trace()).how, "131072 bytes were recorded and tracing stopped");
  expect_convertible(trace());
}

TEST_F(Buffer, IsRefusedBeforeTheProgramRuns) {
  for (const char *kind :
       {"cyc:0", "stop:0", "cyc:6K", "ring:1M", "cyc:99999999T", "cyc:8000000G"}) {
    const Outcome outcome =
        run(record_command(trace(), {"touch", path("ran")}, {"--buffer", kind}));
    const bool too_large = std::string(kind) == "cyc:8000000G";
    EXPECT_EQ(outcome.status(), too_large ? 1 : 2) << kind << ": " << outcome.err;
    EXPECT_NE(outcome.err.find("--buffer"), std::string::npos) << outcome.err;
    EXPECT_FALSE(exists(path("ran")) || exists(trace()));
  }
  for (const char *size : {"0", "12Q", "", "-1", "15", "4000000T"})
    for (const char *option : {"--ring-size", "--chunk-size", "--chunks"}) {
      if (std::string(option) == "--chunks" && std::string(size) == "15")
        continue; // chunks are counted
      const Outcome outcome = run(record_command(trace(), {"touch", path("ran")}, {option, size}));
      EXPECT_EQ(outcome.status(), 2) << option << ' ' << size << ": " << outcome.err;
      EXPECT_NE(outcome.err.find(option), std::string::npos) << outcome.err;
      EXPECT_FALSE(exists(path("ran")) || exists(trace()));
    }
  EXPECT_EQ(run(record_command(trace(), {"true"}, {"--trigger", "task_deadline_miss"})).status(),
            2);
  EXPECT_EQ(
      run(record_command(trace(), {"true"}, {"--buffer", "cyc:1M", "--max-saves", "3"})).status(),
      2);
  EXPECT_EQ(run(record_command(trace(), {"true"}, {"--buffer", "cyc:1M", "--trigger", "no_event"}))
                .status(),
            2);
  const Outcome never = run(
      record_command(trace(), {"true"}, {"--buffer", "cyc:1M", "--trigger", "task_deadline_miss"}));
  EXPECT_EQ(never.status(), 2);
  EXPECT_NE(never.err.find("--filter +server"), std::string::npos) << never.err;
  EXPECT_EQ(
      run(record_command(trace(), {"true"}, {"--buffer", "cyc:1M", "--trigger", "CLI"})).status(),
      2);
}

} // namespace ovnitrace::test
