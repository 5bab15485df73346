// SPDX-License-Identifier: BSD-2-Clause
// Events that find no room: counted exactly, shown as a blackout where they were lost.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/prv.h"
#include "tests/e2e/support/trace.h"

#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>

namespace ovnitrace::test {

/// A capture that is not read for a while.
class Unread : public CaptureTest {
protected:
  /// Runs pingpong, then `meanwhile` while ovnitrace is stopped, then pingpong.
  void capture(const std::string &meanwhile, const std::vector<std::string> &options) {
    const std::string pingpong = installed("pingpong");
    const std::string script = pingpong + " 2000; echo >" + path("begun") + "; until [ -e " +
                               path("stopped") + " ]; do sleep 0.01; done; " + meanwhile +
                               "; echo >" + path("done") + "; until [ -e " + path("continued") +
                               " ]; do sleep 0.01; done; " + pingpong + " 2000";
    Process tracer(record_command(trace(), {"sh", "-c", script}, options));
    ASSERT_TRUE(eventually([&] { return exists(path("begun")); }, "the first part"));
    tracer.signal(SIGSTOP);
    write_text(path("stopped"), "");
    ASSERT_TRUE(eventually([&] { return exists(path("done")); }, "the part that is not read"));
    tracer.signal(SIGCONT);
    write_text(path("continued"), "");
    const Outcome outcome = tracer.wait();
    ASSERT_EQ(outcome.status(), 0) << outcome.err;
    EXPECT_NE(outcome.err.find("lost"), std::string::npos) << "it is not reported: " << outcome.err;
    told_ = read_trace_json(trace());
    events_ = dump(trace());
  }
  TraceRecord told_;
  std::vector<DumpEvent> events_;
};

// If the creation of a thread is lost, its later events would be shown wrong. All CPUs are
// therefore in a blackout. The new names leave no room for the creations.
TEST_F(Unread, LosesCreationsAndShowsIt) {
  capture(installed("many_threads") + " 500 16 40000", {"-m", "64M"});
  if (IsSkipped())
    return;
  ASSERT_GT(told_.life_lost, 0u);
  std::map<int, uint64_t> lost; // by CPU
  for (const DumpEvent &event : events_)
    if (event.event == "blackout_end")
      lost[event.cpu] += strtoull(event.detail("lost").c_str(), nullptr, 10);
  ASSERT_FALSE(lost.empty());
  for (const auto &[cpu, count] : lost)
    EXPECT_EQ(count, told_.life_lost + told_.skipped_runs) << "on CPU " << cpu;
  const Outcome outcome = run({.argv = {ovnitrace(), "convert", trace()}});
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  expect_sound(read_prv(trace(), "thread"), read_prv(trace(), "cpu"));
}

/// The smallest rings, and ovnitrace stopped while the program switches some 100,000 times.
class Loss : public Unread {
protected:
  void SetUp() override {
    CaptureTest::SetUp();
    if (!IsSkipped())
      capture(installed("pingpong") + " --cpus 0 20000", {"-m", "64K"});
  }
};

TEST_F(Loss, IsCountedExactly) {
  EXPECT_GT(told_.lost, 10'000u);
  uint64_t in_blackouts = 0;
  for (const DumpEvent &event : events_)
    if (event.event == "blackout_end")
      in_blackouts += strtoull(event.detail("lost").c_str(), nullptr, 10);
  EXPECT_EQ(in_blackouts, told_.lost);
  EXPECT_EQ(count_transitions(events_) + told_.lost, told_.logged);
  EXPECT_EQ(events_.size(), told_.events);
}

TEST_F(Loss, IsABlackoutWithoutTransitionsOnItsCpu) {
  std::map<int, uint64_t> since; // by CPU, of a blackout that lasts
  size_t blackouts = 0;
  for (const DumpEvent &event : events_) {
    const bool dark = since.contains(event.cpu);
    if (event.event == "blackout_start") {
      EXPECT_FALSE(dark) << "a blackout in a blackout";
      since[event.cpu] = event.time;
      blackouts++;
    } else if (event.event == "blackout_end") {
      EXPECT_TRUE(dark) << "the end of no blackout";
      EXPECT_GT(event.time, since[event.cpu]);
      since.erase(event.cpu);
    } else if (event.takes_cpu() || event.leaves_cpu()) {
      EXPECT_FALSE(dark) << event.event << " at " << event.time;
    }
  }
  EXPECT_GE(blackouts, 1u);
  EXPECT_TRUE(since.empty()) << "a blackout that never ends";
}

TEST_F(Loss, IsShownAndNothingIsInvented) {
  const Outcome outcome = run({.argv = {ovnitrace(), "convert", trace()}});
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  const Prv thread = read_prv(trace(), "thread"), cpu = read_prv(trace(), "cpu");
  expect_sound(thread, cpu);

  uint64_t from = 0, to = 0; // the longest blackout
  std::map<int, uint64_t> since;
  for (const DumpEvent &event : events_)
    if (event.event == "blackout_start")
      since[event.cpu] = event.time;
    else if (event.event == "blackout_end" && event.time - since[event.cpu] > to - from)
      from = since[event.cpu], to = event.time;
  ASSERT_GT(to, from);
  const uint64_t middle = from + (to - from) / 2;
  std::vector<int64_t> states(thread.rows.size(), 0);
  for (const PrvEvent &event : thread.events)
    if (event.type == kThreadState && event.time <= middle)
      states[event.row] = event.value;
  for (size_t row = 0; row < states.size(); row++)
    EXPECT_TRUE(states[row] == kUnknown || states[row] == kRunning || states[row] == kDead)
        << thread.rows[row] << " is in state " << states[row] << " while nothing is known";
}

using CrowdedMachine = CaptureTest;

/// The threads of ovnitrace, and the child that reads unwind rules, get a CPU although hundreds of
/// others want one. Without their priorities each capture loses events or stacks. With them a loss
/// is rare: a host can take a CPU away for seconds.
TEST_F(CrowdedMachine, RecordsStacksWithoutLoss) {
  std::string lost;
  for (int captures = 0; captures < 3; captures++) {
    std::filesystem::remove_all(trace());
    record({installed("crowded")}, {"--stacks=user"});
    const TraceRecord told = read_trace_json(trace());
    const auto stacks =
        nlohmann::json::parse(read_text(trace() + "/trace.json")).at("stacks_taken");
    ASSERT_GT(told.logged, 1'000'000u);
    const uint64_t stacks_taken = stacks.at("all"), stacks_lost = stacks.at("lost");
    if (told.lost + told.life_lost == 0 && stacks_lost < stacks_taken / 1000)
      return;
    lost += std::to_string(told.lost + told.life_lost) + " events and " +
            std::to_string(stacks_lost) + " stacks; ";
  }
  ADD_FAILURE() << "each capture lost some: " << lost;
}

} // namespace ovnitrace::test
