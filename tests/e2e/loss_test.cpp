// SPDX-License-Identifier: BSD-2-Clause
// Events that find no room: counted exactly, shown as a blackout where they were lost.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/prv.h"
#include "tests/e2e/support/trace.h"

#include <nlohmann/json.hpp>

#include <csignal>
#include <ctime>
#include <filesystem>
#include <optional>

namespace ovnitrace::test {

namespace {

using nlohmann::json;

/// Returns the sum of a number that trace.json has of each CPU.
uint64_t sum_of_cpus(const std::string &trace, const char *key) {
  uint64_t sum = 0;
  const json all = json::parse(read_text(trace + "/trace.json"));
  for (const json &cpu : all.at("per_cpu"))
    sum += cpu.at(key).get<uint64_t>();
  return sum;
}

uint64_t detail_number(const DumpEvent &event, const std::string &key) {
  return strtoull(event.detail(key).c_str(), nullptr, 10);
}

/// Returns the number of seconds in /proc/uptime, as ns of CLOCK_MONOTONIC. It is rounded down to
/// 10 ms.
uint64_t ns_of_uptime(const std::string &text) {
  timespec up = {}, monotonic = {};
  clock_gettime(CLOCK_BOOTTIME, &up);
  clock_gettime(CLOCK_MONOTONIC, &monotonic);
  const auto ns = [](const timespec &t) {
    return uint64_t(t.tv_sec) * 1'000'000'000 + uint64_t(t.tv_nsec);
  };
  return uint64_t(std::stod(text) * 1e9) - (ns(up) - ns(monotonic));
}

} // namespace

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
  // The ring has room for 37,449 events. 40,000 names and 500 lives are sent meanwhile.
  ASSERT_GT(told_.life_lost, 2000u);
  EXPECT_LT(told_.life_lost, 7000u);
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

// One thread logs events 1 to 50,000 on one CPU.
TEST_F(Unread, LosesEventsOfFamiliesAndCountsThem) {
  const std::string program = installed("user_events");
  capture("taskset -c 0 " + program + " spin 50000", {"-m", "64K", "--probe", program});
  const uint64_t lost = sum_of_cpus(trace(), "family_lost");
  EXPECT_GT(lost, 10'000u);
  EXPECT_EQ(sum_of_cpus(trace(), "family_events"), 50'000u);
  uint64_t recorded = 0, in_blackouts = 0, last = 0;
  std::optional<uint64_t> missing; // in the blackout before
  bool dark = false;
  for (const DumpEvent &event : events_)
    if (event.detail("what") == "families") {
      EXPECT_EQ(event.cpu, 0);
      dark = event.event == "blackout_start";
      if (!dark)
        in_blackouts += *(missing = detail_number(event, "lost"));
    } else if (event.event == "user_event_0") {
      EXPECT_FALSE(dark) << event.time;
      EXPECT_EQ(detail_number(event, "par2") - last - 1, missing.value_or(0)) << event.time;
      missing.reset();
      last = detail_number(event, "par2");
      recorded++;
    }
  EXPECT_EQ(in_blackouts, lost);
  EXPECT_EQ(recorded + lost, 50'000u);
}

// Each needs 4 KiB of a ring of 1 MiB.
TEST_F(Unread, LosesCommandLinesAndCountsThem) {
  const std::string many = "for n in $(seq 300); do /bin/true " + std::string(4000, 'x') + "; done";
  capture(many, {"-m", "64K"});
  const json all = json::parse(read_text(trace() + "/trace.json"));
  uint64_t recorded = 0;
  for (const json &line : all.at("command_lines"))
    recorded += line.at("text").get<std::string>().starts_with("/bin/true x");
  EXPECT_GE(recorded, 250u);
  EXPECT_LT(recorded, 260u);
  EXPECT_EQ(recorded + all.at("command_lines_left_out").get<uint64_t>(), 300u);
}

/// The smallest rings, and ovnitrace stopped while the program switches some 100,000 times.
class Loss : public Unread {
protected:
  void SetUp() override {
    CaptureTest::SetUp();
    if (!IsSkipped())
      capture(half + "; cut -d ' ' -f 1 /proc/uptime >" + path("middle") + "; " + half,
              {"-m", "64K"});
  }
  const std::string half = installed("pingpong") + " --cpus 0 10000";
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

// The first half does not find room in the ring, either.
TEST_F(Loss, IsABlackoutFromTheFirstLostEvent) {
  const uint64_t middle = ns_of_uptime(read_text(path("middle"))) - told_.begin;
  uint64_t since = UINT64_MAX;
  bool covered = false;
  for (const DumpEvent &event : events_) {
    if (event.cpu == 0 && event.event == "blackout_start")
      since = event.time;
    if (event.cpu == 0 && event.event == "blackout_end")
      covered |= since < middle && event.time > middle;
  }
  EXPECT_TRUE(covered) << "the last is from " << since << ", the middle is " << middle;
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
