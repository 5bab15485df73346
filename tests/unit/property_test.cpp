// SPDX-License-Identifier: BSD-2-Clause
// Thousands of random schedules through the emulator, compared with a small, differently written
// model of it. The model keeps the list of all events. For each instant it computes from the first
// event on what every channel shows, with names for states and plain lists of threads.
#include "tests/unit/support/cases.h"
#include "tests/unit/support/replay_rig.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>

namespace ovnitrace {
namespace {

using test::CollectingRows;
using test::ReplayRig;

/// One event of a schedule, in words.
struct Step {
  uint64_t time;
  std::string what;
  int thread = -1;
  int cpu = -1;
  int value = 0;
};

const std::set<std::string> kActive = {"Running", "Cooling", "Warming"};
const std::map<std::string, int> kPrv = {{"Unknown", 0}, {"Running", 1}, {"Paused", 2},
                                         {"Dead", 3},    {"Cooling", 4}, {"Warming", 5}};

/// The world after some events.
class World {
public:
  World(int threads, int cpus) : state_(threads, "Unknown"), at_(threads, -1), cpus_(cpus) {}

  /// Lets one event happen; returns how many faults it is.
  int happen(const Step &step) {
    int faults = 0;
    int t = step.thread;
    const std::string &w = step.what;
    if (w == "dispatch") {
      faults += state_[t] == "Running" || state_[t] == "Dead";
      for (int other = 0; other < int(state_.size()); other++)
        if (other != t && runs_on(other, step.cpu)) {
          faults++;
          put(other, "Unknown", -1);
        }
      put(t, "Running", step.cpu);
      priority_[t] = step.value;
    } else if (w == "epilogue" || w == "sleep" || w == "end") {
      faults += state_[t] != "Unknown" && !runs_on(t, step.cpu);
      if (w == "end") {
        put(t, "Dead", -1);
        sections_[t].clear();
        priority_[t] = 0;
      } else
        put(t, w == "sleep" ? "Paused" : "Cooling", step.cpu);
    } else if (w == "activate") {
      if (state_[t] == "Paused" || state_[t] == "Unknown")
        state_[t] = "Warming";
    } else if (w == "migrate") {
      if (state_[t] == "Running" || state_[t] == "Dead")
        faults++;
      else
        at_[t] = step.cpu;
    } else if (w == "blackout_start") {
      blind_.insert(step.cpu);
      lose();
    } else if (w == "blackout_end") {
      blind_.erase(step.cpu);
      lose();
    } else if (w == "user") {
      user_[t] = step.value;
    } else if (w == "push") {
      sections_[t].push_back(step.value);
    } else if (w == "pop") {
      std::vector<int> &stack = sections_[t];
      const bool there = std::count(stack.begin(), stack.end(), step.value);
      faults += there ? stack.back() != step.value : !lost_;
      for (size_t i = stack.size(); i-- > 0;)
        if (stack[i] == step.value) {
          stack.resize(i);
          break;
        }
    } else { // ovni's own: the state that it implies, wherever the thread is
      static const std::map<std::string, std::pair<std::string, std::set<std::string>>> kOvni = {
          {"OHx", {"Running", {"Unknown", "Dead"}}},
          {"OHp", {"Paused", {"Running", "Cooling"}}},
          {"OHr", {"Running", {"Paused", "Warming"}}},
          {"OHc", {"Cooling", {"Running"}}},
          {"OHw", {"Warming", {"Paused"}}},
          {"OHe", {"Dead", {"Running", "Cooling"}}}};
      if (w == "OAs") {
        if (kActive.count(state_[t]))
          faults += place(step, state_[t], step.cpu);
        else
          faults++;
      } else {
        const auto &[after, from] = kOvni.at(w);
        faults += !from.count(state_[t]);
        int where = w == "OHx" ? step.cpu : at_[t] >= 0 ? at_[t] : cpus_;
        faults += place(step, after, after == "Dead" ? -1 : where);
      }
    }
    forget_what_may_have_changed();
    priority_used |= w == "dispatch" && state_[t] == "Running";
    return faults;
  }

  /// What all channels show: (is a CPU, row, type) to value; nothing is 0.
  std::map<std::tuple<bool, int, int>, int64_t> shown() {
    std::map<std::tuple<bool, int, int>, int64_t> all;
    for (int t = 0; t < int(state_.size()); t++) {
      bool running = state_[t] == "Running";
      all[{false, t, 1}] = running ? 100 : 0;
      all[{false, t, 2}] = running ? 100 + t : 0;
      all[{false, t, 4}] = kPrv.at(state_[t]);
      all[{false, t, 6}] = at_[t] >= 0 && at_[t] < cpus_ ? at_[t] + 1 : 0;
      all[{false, t, 202}] = running ? priority_[t] : 0;
      all[{false, t, 300}] = user_[t];
      all[{false, t, 316}] = section(t);
    }
    for (int c = 0; c <= cpus_; c++) { // the last is the virtual one
      std::vector<int> on;
      for (int t = 0; t < int(state_.size()); t++)
        if (runs_on(t, c))
          on.push_back(t);
      auto copy = [&](int type, auto value, bool used = true) {
        if (used)
          all[{true, c, type}] = on.empty() ? 0 : on.size() > 1 ? 777 : value(on[0]);
      };
      copy(1, [](int) { return 100; });
      copy(2, [](int t) { return 100 + t; });
      copy(5, [](int) { return 1; });
      copy(
          202, [&](int t) { return priority_[t]; }, priority_used);
      copy(
          300, [&](int t) { return user_[t]; }, user_used);
      copy(
          316, [&](int t) { return section(t); }, section_used);
      all[{true, c, 3}] = int64_t(on.size());
      all[{true, c, 10}] = blind_.count(c);
    }
    return all;
  }

  /// A channel that nobody has used is nowhere to be seen.
  bool user_used = false, section_used = false, priority_used = false;

private:
  bool runs_on(int t, int cpu) const { return state_[t] == "Running" && at_[t] == cpu; }
  int section(int t) { return sections_[t].empty() ? 0 : sections_[t].back(); }
  void lose() {
    sections_.clear();
    lost_ = true;
  }
  /// As put(); a fault where another thread runs on that physical CPU, or has left it by an event
  /// of ovni at this very time.
  int place(const Step &step, const std::string &state, int cpu) {
    const int t = step.thread, before = state_[t] == "Running" ? at_[t] : -1;
    put(t, state, cpu);
    forget_what_may_have_changed();
    const int now = state_[t] == "Running" ? at_[t] : -1;
    if (now == before)
      return 0;
    if (before >= 0)
      left_[before] = {step.time, t};
    if (now < 0 || now == cpus_)
      return 0;
    for (int other = 0; other < int(state_.size()); other++)
      if (other != t && runs_on(other, now))
        return 1;
    const auto left = left_.find(now);
    return left != left_.end() && left->second.first == step.time && left->second.second != t;
  }
  void put(int t, const std::string &state, int cpu) {
    state_[t] = state;
    at_[t] = cpu;
  }
  void forget_what_may_have_changed() {
    for (int t = 0; t < int(state_.size()); t++) {
      bool surely_running = state_[t] == "Running" && !blind_.count(at_[t]);
      if (!blind_.empty() && !surely_running && state_[t] != "Dead")
        put(t, "Unknown", -1);
      if (state_[t] == "Unknown" && priority_.count(t))
        priority_[t] = 0;
    }
  }

  std::vector<std::string> state_;
  std::vector<int> at_;
  int cpus_;
  std::set<int> blind_;
  std::map<int, std::pair<uint64_t, int>> left_; ///< of each CPU: when, and by whom
  std::map<int, int> priority_, user_;
  std::map<int, std::vector<int>> sections_;
  bool lost_ = false; ///< a push may have been
};

/// Which events a schedule is drawn from.
enum class Source { kernel, ovni, both };

class Schedule {
public:
  Schedule(uint32_t seed, Source source, bool legal)
      : random_(seed), threads(1 + below(5)), cpus(1 + below(3)), legal_(legal) {
    World world(threads, cpus);
    uint64_t time = 0;
    for (int n = 20 + below(60); n > 0; n--) {
      if (below(3))
        time += 1 + uint64_t(below(1000));
      for (int tries = 0; tries < 50; tries++) {
        Step step = draw(source);
        step.time = time;
        World tried = world;
        if (tried.happen(step) == 0 || !legal_) {
          world = tried;
          steps.push_back(step);
          break;
        }
      }
    }
  }

  std::string text() const {
    std::ostringstream out;
    for (const Step &s : steps)
      out << s.time << " " << s.what << " thread " << s.thread << " cpu " << s.cpu << " value "
          << s.value << "\n";
    return out.str();
  }

private:
  int below(int n) { return int(random_() % uint32_t(n)); }
  Step draw(Source source) {
    static const std::vector<std::string> kKernel = {"dispatch", "dispatch", "epilogue", "sleep",
                                                     "activate", "activate", "migrate"};
    static const std::vector<std::string> kOvni = {"OHx", "OHp", "OHr", "OHc", "OHw", "OAs"};
    static const std::vector<std::string> kRare = {
        "end", "user",           "user",         "push",        "push",
        "pop", "blackout_start", "blackout_end", "blackout_end"};
    bool ovni = source == Source::ovni || (source == Source::both && below(2));
    const std::vector<std::string> &words = below(4) == 0 ? kRare : ovni ? kOvni : kKernel;
    Step step{0, words[size_t(below(int(words.size())))], below(threads), below(cpus),
              1 + below(3)};
    if (step.what == "end" && ovni)
      step.what = "OHe";
    if (step.what == "OHx" && below(5) == 0)
      step.cpu = cpus; // the virtual one
    return step;
  }

  std::mt19937 random_;

public:
  int threads, cpus;
  std::vector<Step> steps;

private:
  bool legal_;
};

void feed(ReplayRig &rig, const Step &s, int cpus) {
  static const std::map<std::string, uint32_t> kCodes = {{"dispatch", FTrace_EVT_task_dispatch},
                                                         {"epilogue", FTrace_EVT_task_epilogue},
                                                         {"sleep", FTrace_EVT_task_sleep},
                                                         {"end", FTrace_EVT_task_end},
                                                         {"activate", FTrace_EVT_task_activate}};
  uint32_t t = uint32_t(s.thread), c = uint32_t(s.cpu), v = uint32_t(s.value);
  if (auto code = kCodes.find(s.what); code != kCodes.end())
    rig.ftrace(code->second, t, c, s.what == "dispatch" ? v : 0);
  else if (s.what == "migrate")
    rig.ftrace(FTrace_EXT_migrate, t, 0, c);
  else if (s.what == "blackout_start")
    rig.ftrace(FTrace_EVT_blackout_start, kNone, c);
  else if (s.what == "blackout_end")
    rig.ftrace(FTrace_EVT_blackout_end, kNone, c);
  else if (s.what == "user")
    rig.user(0, t, v);
  else if (s.what == "push" || s.what == "pop")
    rig.user(s.what == "push" ? 13 : 14, t, v);
  else if (s.what == "OAs")
    rig.ovni(s.what.c_str(), t, {s.cpu == cpus ? -1 : s.cpu});
  else
    rig.ovni(s.what.c_str(), t, {s.cpu == cpus ? -1 : s.cpu, 0, 0, 0});
}

/// What the lines of a trace make of a channel.
class Picture {
public:
  void add(const CollectingRows &rows, bool cpu) {
    for (; taken_[cpu] < rows.lines.size(); taken_[cpu]++) {
      const CollectingRows::Line &line = rows.lines[taken_[cpu]];
      auto &value = values_[{cpu, int(line.row), int(line.type)}];
      EXPECT_NE(value, line.value) << "emitted though it did not change: type " << line.type;
      value = line.value;
      EXPECT_GE(line.time, last_[cpu]) << "times go back";
      last_[cpu] = line.time;
    }
  }
  int64_t at(const std::tuple<bool, int, int> &channel) const {
    auto found = values_.find(channel);
    return found == values_.end() ? 0 : found->second;
  }

private:
  std::map<std::tuple<bool, int, int>, int64_t> values_;
  size_t taken_[2] = {0, 0};
  uint64_t last_[2] = {0, 0};
};

void check(const Schedule &schedule) {
  ReplayRig rig(uint32_t(schedule.threads), uint32_t(schedule.cpus), builtin_models(), true);
  Picture picture;
  const std::vector<Step> &steps = schedule.steps;
  for (size_t i = 0; i < steps.size(); i++) {
    rig.at(steps[i].time);
    feed(rig, steps[i], schedule.cpus);
    bool instant_ends = i + 1 == steps.size() || steps[i + 1].time != steps[i].time;
    if (!instant_ends)
      continue;
    rig.flush();
    picture.add(rig.threads, false);
    picture.add(rig.cpus, true);

    World world(schedule.threads, schedule.cpus);
    uint64_t faults = 0;
    for (size_t j = 0; j <= i; j++) {
      faults += uint64_t(world.happen(steps[j]));
      world.user_used |= steps[j].what == "user";
      world.section_used |= steps[j].what == "push" || steps[j].what == "pop";
    }
    ASSERT_EQ(rig.faults(), faults) << "after " << steps[i].what << " at " << steps[i].time;
    for (const auto &[channel, value] : world.shown()) {
      auto [cpu, row, type] = channel;
      ASSERT_EQ(picture.at(channel), value)
          << (cpu ? "CPU " : "thread ") << row << ", type " << type << ", at " << steps[i].time;
    }
  }
}

class RandomSchedules : public ::testing::TestWithParam<std::tuple<Source, bool>> {};

TEST_P(RandomSchedules, ShowWhatTheIndependentModelShows) {
  auto [source, legal] = GetParam();
  const unsigned schedules = test::cases(80);
  std::map<std::string, int> met; // that the schedules meet what they should
  for (uint32_t seed = 0; seed < schedules; seed++) {
    Schedule schedule(seed, source, legal);
    check(schedule);
    if (HasFailure())
      FAIL() << "seed " << seed << "\n" << schedule.text();
    for (const Step &step : schedule.steps)
      met[step.what]++;
  }
  for (const char *what : {"user", "push", "pop", "blackout_start", "blackout_end"})
    EXPECT_GT(met[what], schedules / 10) << what;
}

std::string suite_name(const ::testing::TestParamInfo<std::tuple<Source, bool>> &info) {
  const char *const names[] = {"Kernel", "Ovni", "Both"};
  return std::string(names[int(std::get<0>(info.param))]) +
         (std::get<1>(info.param) ? "Legal" : "Any");
}

INSTANTIATE_TEST_SUITE_P(Events, RandomSchedules,
                         ::testing::Combine(::testing::Values(Source::kernel, Source::ovni,
                                                              Source::both),
                                            ::testing::Bool()),
                         suite_name);

} // namespace
} // namespace ovnitrace
