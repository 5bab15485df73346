// SPDX-License-Identifier: BSD-2-Clause
// --trigger latency, blocked, preempted, idle-while-waiting and exit: what the kernel side finds is
// what the trace shows, and each hit is saved and named.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/trace.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <optional>
#include <unistd.h>
#include <utility>

namespace ovnitrace::test {

namespace {

constexpr uint64_t kLeast = 2'000'000; // ns: the triggers below
constexpr uint64_t kMargin = 20'000;   // ns: each BPF program reads the clock itself

/// How often a trigger of kLeast may have hit.
struct Truth {
  uint64_t fewest = 0, most = 0;
  uint64_t longest_idle = 0; ///< ns: of a CPU, in one piece, since the first wait
  void add(uint64_t ns) {
    fewest += ns >= kLeast + kMargin;
    most += ns >= kLeast - kMargin;
  }
};

/// Finds in the trace how often a thread's waits of a kind were long, from its first sleep on: then
/// it has its name.
Truth truth_of(const std::vector<DumpEvent> &events, const std::string &comm,
               const std::string &kind) {
  Truth truth;
  bool slept = false;
  std::string since_event; ///< empty: it runs
  uint64_t since = 0;
  for (const DumpEvent &event : events) {
    if (event.comm != comm)
      continue;
    if (event.event == "task_activate" && since_event == "task_sleep" && kind == "blocked")
      truth.add(event.time - since);
    if (event.takes_cpu() && kind == "latency" &&
        (since_event == "task_activate" || since_event == "task_epilogue") && slept)
      truth.add(event.time - since);
    if (event.takes_cpu() && kind == "preempted" && since_event == "task_epilogue" && slept)
      truth.add(event.time - since);
    if (event.takes_cpu())
      since_event.clear();
    else if (event.leaves_cpu() || event.event == "task_activate")
      since_event = event.event, since = event.time;
    slept |= event.event == "task_sleep";
  }
  return truth;
}

/// Finds in a trace of the whole machine how often a CPU was idle for long, in one piece, during a
/// wait of a thread that could use all CPUs.
Truth idle_truth_of(const std::vector<DumpEvent> &events, const std::string &comm) {
  Truth truth;
  std::map<int, std::vector<std::pair<uint64_t, uint64_t>>> idle; ///< by CPU: from, to
  std::map<int, uint64_t> idle_since;
  std::optional<uint64_t> waits_since, first_wait;
  for (const DumpEvent &event : events) {
    if (event.takes_cpu() && idle_since.contains(event.cpu)) {
      idle[event.cpu].emplace_back(idle_since[event.cpu], event.time);
      idle_since.erase(event.cpu);
    }
    if (event.leaves_cpu() && (event.event == "task_end" || event.detail("next").ends_with("(0)")))
      idle_since[event.cpu] = event.time;
    if (event.comm != comm)
      continue;
    if (event.event == "task_activate" || event.event == "task_epilogue") {
      waits_since = waits_since.value_or(event.time);
      first_wait = first_wait.value_or(event.time);
    }
    if (!event.takes_cpu() || !waits_since)
      continue;
    uint64_t longest = 0;
    const auto take = [&](uint64_t from, uint64_t to) {
      const auto length_since = [&](uint64_t since) {
        return to - std::min(std::max(from, since), to);
      };
      longest = std::max(longest, length_since(*waits_since));
      truth.longest_idle = std::max(truth.longest_idle, length_since(*first_wait));
    };
    for (const auto &[cpu, pieces] : idle)
      for (const auto &[from, to] : pieces)
        take(from, to);
    for (const auto &[cpu, since] : idle_since)
      take(since, event.time);
    truth.add(longest);
    waits_since.reset();
  }
  return truth;
}

/// As the last lines say of a trigger.
uint64_t hits_of(const Outcome &outcome, const std::string &trigger) {
  std::string text = outcome.err;
  std::erase(text, ',');
  return number_after(text, "--trigger " + trigger + " has hit ");
}

size_t count(const std::string &text, const std::string &part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1))
    found++;
  return found;
}

} // namespace

class Trigger : public CaptureTest {
protected:
  /// The thread that waits. A capture of the whole machine may see the victims of other tests, too.
  const std::string victim_ = std::to_string(getpid()) + "victim";

  /// Runs `delays` with COUNT long and COUNT short waits of a kind.
  Outcome record_delays(const std::string &kind, unsigned times, const std::string &trigger,
                        std::vector<std::string> options = {}) {
    options.insert(options.end(), {"--buffer", "last:32M", "--trigger", trigger});
    return record({installed("delays"), kind, std::to_string(times), "3000", "500", victim_},
                  options);
  }
  nlohmann::json marks_of(const std::string &trace) const {
    return nlohmann::json::parse(
        run({.argv = {ovnitrace(), "info", "--json", trace}}).out)["marks"];
  }
  void expect_all_hit(const std::string &kind, unsigned planted,
                      const std::vector<std::string> &options = {}) {
    SCOPED_TRACE(kind);
    const std::string trigger = kind + ":2ms:" + victim_.substr(0, victim_.size() - 2) + "*";
    const Outcome outcome = record_delays(kind, planted, trigger, options);
    const TraceRecord reported = read_trace_json(trace());
    EXPECT_EQ(reported.forgotten + reported.lost, 0u);
    const Truth truth = truth_of(dump(trace()), victim_, kind);
    EXPECT_GE(truth.fewest, planted);
    const uint64_t hits = hits_of(outcome, trigger);
    EXPECT_GE(hits, truth.fewest) << outcome.err;
    EXPECT_LE(hits, truth.most) << outcome.err;
    EXPECT_LT(hits, 2 * planted) << "the short waits do not count";
  }
};

TEST_F(Trigger, LatencyFindsAllOfAThousandPlantedDelaysAndNothingElse) {
  expect_all_hit("latency", 1000);
}

TEST_F(Trigger, LatencyIsFoundOnTheWholeMachineToo) {
  expect_all_hit("latency", 200, {"-a"});
}

TEST_F(Trigger, BlockedFindsLongBlocks) {
  expect_all_hit("blocked", 200);
}

TEST_F(Trigger, PreemptedFindsLongPreemptions) {
  expect_all_hit("preempted", 200);
}

TEST_F(Trigger, IdleWhileWaitingFindsCpusThatWereIdleInOnePiece) {
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
    GTEST_SKIP() << "needs two CPUs";
  const std::string trigger = "idle-while-waiting:2ms:" + victim_;
  bool was_idle = false, must_hit = false; // not, if other programs keep the CPUs busy
  for (int captures = 0; captures < 5 && !was_idle; captures++) {
    std::filesystem::remove_all(trace());
    const Outcome outcome = record_delays("idle", 200, trigger, {"-a"});
    EXPECT_EQ(read_trace_json(trace()).forgotten, 0u);
    const Truth truth = idle_truth_of(dump(trace()), victim_);
    EXPECT_GE(hits_of(outcome, trigger), truth.fewest) << outcome.err;
    EXPECT_LE(hits_of(outcome, trigger), truth.most) << outcome.err;
    was_idle = truth.fewest > 0;
    must_hit |= truth.longest_idle >= 3 * kLeast; // the victim waits most of the time
    EXPECT_EQ(outcome.err.find(" was idle: saved to ") != std::string::npos,
              hits_of(outcome, trigger) > 0)
        << outcome.err;
  }
  if (!was_idle && !must_hit)
    GTEST_SKIP() << "other programs kept all CPUs busy; there was no hit, which is right";
  EXPECT_TRUE(was_idle);
}

// No other CPU may be used.
TEST_F(Trigger, IdleWhileWaitingDoesNotHitForAPinnedThread) {
  const std::string trigger = "idle-while-waiting:2ms:" + victim_;
  const Outcome outcome = record_delays("latency", 100, trigger);
  EXPECT_EQ(hits_of(outcome, trigger), 0u) << outcome.err;
}

TEST_F(Trigger, SeveralShareTheSaves) {
  const Outcome outcome = record_delays(
      "latency", 800, "latency:2ms:" + victim_,
      {"--trigger", "blocked:2ms:nobody", "--trigger", "task_sleep", "--max-saves", "3"});
  EXPECT_GT(hits_of(outcome, "latency:2ms:" + victim_), 0u) << outcome.err;
  EXPECT_EQ(hits_of(outcome, "blocked:2ms:nobody"), 0u) << outcome.err;
  EXPECT_EQ(count(outcome.err, "saved to "), 3u) << outcome.err;
  EXPECT_NE(outcome.err.find(" of " + victim_ + "("), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("--max-saves 3 reached: --trigger saves no more"), std::string::npos)
      << outcome.err;
}

// The wait is in the first part or the second, which --keep would remove.
TEST_F(Trigger, AHitMarksARotatedTraceAndKeepsItsPart) {
  const Outcome outcome =
      record({"sh", "-c",
              installed("delays") + " latency 1 3000 500 " + victim_ + "; while ! [ -d " + trace() +
                  "/0007 ]; do sleep 0.2; done"},
             {"--rotate", "1s", "--keep", "2", "--trigger", "latency:2ms:" + victim_, "--on-save",
              "echo \"$OVNITRACE_TRACE $OVNITRACE_CAUSE\" >>" + path("saves")});
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  const size_t hit = outcome.err.find(" of " + victim_ + "("),
               place = outcome.err.find(": marked in ", hit);
  ASSERT_NE(place, outcome.err.npos) << outcome.err;
  const std::string kept = outcome.err.substr(place + 12, trace().size() + 5);
  EXPECT_EQ(kept.substr(0, trace().size() + 4), trace() + "/000");
  EXPECT_TRUE(read_text(path("saves")).starts_with(kept + " latency ")) << read_text(path("saves"));
  EXPECT_FALSE(exists(trace() + "/0004")) << outcome.err;
  const nlohmann::json marks = marks_of(kept);
  ASSERT_FALSE(marks.empty());
  EXPECT_TRUE(std::string(marks[0]["text"]).starts_with("latency "));
  const std::vector<DumpEvent> events = dump(kept);
  EXPECT_TRUE(std::any_of(events.begin(), events.end(),
                          [](const DumpEvent &event) { return event.event == "EXT_mark"; }));
  EXPECT_FALSE(dump(trace()).empty());
}

// The save has the end of the wait, and a mark there.
TEST_F(Trigger, AHitIsSavedNamedAndMarked) {
  const Outcome outcome = record({"sh", "-c",
                                  installed("delays") + " latency 1 3000 500 " + victim_ +
                                      "; until [ -d " + trace() + ".1 ]; do sleep 0.1; done"},
                                 {"--buffer", "last:1M", "--trigger", "latency:2ms:" + victim_});
  const nlohmann::json marks = marks_of(trace() + ".1");
  ASSERT_EQ(marks.size(), 1u) << outcome.err;
  const std::string text = marks[0]["text"];
  EXPECT_EQ(text.find("latency "), 0u) << text;
  EXPECT_NE(text.find(" ms of " + victim_ + "("), std::string::npos) << text;
  EXPECT_NE(outcome.err.find(text + ": saved to " + trace() + ".1 "), std::string::npos)
      << outcome.err;
  const uint64_t time = marks[0]["time_ns"];
  size_t dispatches = 0, shown = 0;
  for (const DumpEvent &event : dump(trace() + ".1")) {
    dispatches += event.takes_cpu() && event.comm == victim_ && event.time <= time + kMargin &&
                  event.time + kMargin >= time;
    shown += event.event == "EXT_mark";
  }
  EXPECT_EQ(shown, 1u);
  EXPECT_EQ(dispatches, 1u) << "it got its CPU at " << time;
}

TEST_F(Trigger, AConstantTriggerSavesOnceASecond) {
  const Outcome outcome = record_delays("latency", 800, "latency:2ms", {"--max-saves", "1000"});
  const nlohmann::json marks = marks_of(trace());
  ASSERT_GE(marks.size(), 2u) << "it ran for 2.4 s at least";
  EXPECT_EQ(count(outcome.err, ": saved to "), marks.size()) << outcome.err;
  for (size_t n = 1; n < marks.size(); n++)
    EXPECT_GE(marks[n]["time_ns"].get<uint64_t>() - marks[n - 1]["time_ns"].get<uint64_t>(),
              1'000'000'000u);
  EXPECT_NE(outcome.err.find(" (hit "), std::string::npos) << outcome.err;
}

TEST_F(Trigger, NothingIsLookedForAfterTheLastSave) {
  const Outcome outcome = record_delays("latency", 800, "latency:2ms", {"--max-saves", "1"});
  EXPECT_NE(outcome.err.find("--max-saves 1 reached: --trigger saves no more"), std::string::npos)
      << outcome.err;
  EXPECT_FALSE(exists(trace() + ".2")) << outcome.err;
  EXPECT_LT(hits_of(outcome, "latency:2ms"), 800u) << outcome.err;
}

TEST_F(Trigger, OtherNamesDoNotHit) {
  const Outcome outcome = record_delays("latency", 20, "latency:2ms:" + victim_ + "s");
  EXPECT_NE(outcome.err.find("--trigger latency:2ms:" + victim_ + "s has hit 0 times"),
            std::string::npos)
      << outcome.err;
  EXPECT_FALSE(exists(trace() + ".1")) << outcome.err;
}

TEST_F(Trigger, TheCommandOfASaveGetsTheTraceAndItsCause) {
  const std::string said = path("said"), until = "until [ -s " + said + " ]; do :; done";
  const std::string command =
      "test -e $OVNITRACE_TRACE/trace.json && echo \"$OVNITRACE_CAUSE: $OVNITRACE_TRACE\" > " +
      said;
  const Outcome outcome =
      record({"sh", "-c", "sleep 0.1; " + until},
             {"--buffer", "last:1M", "--trigger", "exit:slee?", "--on-save", command});
  const std::string text = read_text(said);
  EXPECT_TRUE(text.starts_with("exit of sleep(")) << text << outcome.err;
  EXPECT_TRUE(text.ends_with("): " + trace() + ".1\n")) << text;
  EXPECT_EQ(outcome.err.find("warning"), std::string::npos) << outcome.err;
}

/// The tracer is stopped from before the hit until after the end of the program.
TEST_F(Trigger, AHitThatComesTooLateForASaveIsMarkedInTheTrace) {
  const Outcome outcome =
      record({"sh", "-c", "kill -STOP $PPID; (sleep 1; kill -CONT $PPID) & sleep 0.1; sh -c true"},
             {"--buffer", "last:1M", "--trigger", "exit:s*"});
  const bool saved = exists(trace() + ".1"); // it did not come too late
  const std::string said = saved ? ": saved to " : ": too late for a save of its own, marked in";
  EXPECT_NE(outcome.err.find(said), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("exit of s"), std::string::npos) << outcome.err;
  EXPECT_EQ(marks_of(trace()).size(), 1u) << outcome.err;
}

/// Somebody has removed the directory of the trace, so the hit cannot be marked there.
TEST_F(Trigger, AHitIsSavedEvenIfItsMarkCannotBeWritten) {
  Command command = record_command(
      trace(),
      {"sh", "-c", "rm -r " + trace() + "; sleep 0.1; until [ -e " + trace() + ".1 ]; do :; done"},
      {"--buffer", "last:1M", "--trigger", "exit:slee?"});
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.status(), 1) << "the trace itself cannot be written" << outcome.err;
  EXPECT_NE(outcome.err.find("cannot mark a hit of --trigger"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("saved to " + trace() + ".1"), std::string::npos) << outcome.err;
}

TEST_F(Trigger, ACommandThatFailsAndANameThatNobodyHasAreReported) {
  const Outcome outcome =
      run({.argv = {ovnitrace(), "record", "-a", "-d", "3", "-o", trace(), "--buffer", "last:1M",
                    "--trigger", "latency:10s:no-such", "--trigger", "latency:10s:e2e_tests",
                    "--trigger", "blocked:1us:*", "--max-saves", "1", "--on-save", "exit 3"}});
  EXPECT_NE(outcome.err.find("warning: --trigger latency:10s:no-such: no thread has this name"),
            std::string::npos)
      << outcome.err;
  for (const char *known : {"blocked:1us:*: no thread", "e2e_tests: no thread"})
    EXPECT_EQ(outcome.err.find(known), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("--max-saves 1 reached: --trigger saves no more"), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("warning: the --on-save command for " + trace() +
                             ".1 failed: exit status 3"),
            std::string::npos)
      << outcome.err;
}

TEST_F(Trigger, NobodyWaitsForTheCommandOfASave) {
  const std::string ready = path("ready"), started = path("started"), go = path("go");
  Process tracer(record_command(
      trace(),
      {"sh", "-c", "echo > " + ready + "; until [ -e " + go + " ]; do sleep 0.05; done; exit 4"},
      {"--buffer", "last:1M", "--on-save", "echo $$ >> " + started + "; exec sleep 1000"}));
  ASSERT_TRUE(eventually([&] { return exists(ready); }, "the program runs"));
  tracer.signal(SIGUSR2);
  ASSERT_TRUE(eventually([&] { return exists(started) && read_text(started).ends_with("\n"); },
                         "the command runs"));
  tracer.signal(SIGUSR2);
  eventually([&] { return tracer.err().find("not started for") != std::string::npos; },
             "the second save");
  write_text(go, "");
  const Outcome outcome = tracer.wait();
  EXPECT_EQ(outcome.status(), 4) << outcome.err;
  EXPECT_NE(outcome.err.find("warning: --on-save: the command still runs, and is not started for " +
                             trace() + ".2\n"),
            std::string::npos)
      << outcome.err;
  const std::vector<std::string> pids = lines_of(read_text(started));
  ASSERT_EQ(pids.size(), 1u);
  EXPECT_EQ(kill(std::stoi(pids[0]), SIGKILL), 0) << "it goes on";
}

TEST_F(Trigger, ExitHitsWhenAThreadOfThatNameEnds) {
  const std::string until = "until [ -e " + trace() + ".1/trace.json ]; do :; done";
  const Outcome outcome = record({"sh", "-c", "sleep 0.1; " + until},
                                 {"--buffer", "last:1M", "--trigger", "exit:slee?"});
  EXPECT_NE(outcome.err.find("exit of sleep("), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("--trigger exit:slee? has hit 1 time\n"), std::string::npos)
      << outcome.err;
  const std::vector<DumpEvent> events = dump(trace() + ".1");
  EXPECT_TRUE(std::any_of(events.begin(), events.end(), [](const DumpEvent &event) {
    return event.event == "EXT_exit" && event.comm == "sleep";
  }));
}

TEST_F(Trigger, AThreadThatIsNotRecordedDoesNotHit) {
  Process program({.argv = {"sleep", "1000"}});
  Process tracer(record_command(
      trace(), {},
      {"-p", std::to_string(program.pid()), "--buffer", "last:1M", "--trigger", "exit:true"}));
  ASSERT_TRUE(eventually([&] { return tracer.err().find("tracing process") != std::string::npos; },
                         "the capture begins"));
  EXPECT_EQ(run({.argv = {"true"}}).status(), 0);
  tracer.signal(SIGINT);
  EXPECT_EQ(hits_of(tracer.wait(), "exit:true"), 0u);
}

TEST_F(Trigger, ABadOneIsRefusedBeforeTheProgramRuns) {
  for (const char *bad : {"latency", "latency:5", "latency:0ms", "blocked:5ms:", "exit", "exit:"}) {
    const Outcome outcome = run(
        record_command(trace(), {"touch", path("ran")}, {"--buffer", "last:1M", "--trigger", bad}));
    EXPECT_EQ(outcome.status(), 2) << bad;
    EXPECT_NE(outcome.err.find(std::string("--trigger ") + bad), std::string::npos) << outcome.err;
  }
  EXPECT_FALSE(exists(path("ran")));
}

} // namespace ovnitrace::test
