// SPDX-License-Identifier: BSD-2-Clause
// Random trees of processes, recorded with filters: exactly the right threads, from the right
// instant. The model is what the processes print about themselves (tests/programs/random_trees).
#include "tests/e2e/support/cgroups.h"
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/trace.h"
#include "tests/unit/support/cases.h"
#include "tests/unit/support/read_tables.h"

#include <functional>
#include <map>
#include <set>
#include <sstream>

namespace ovnitrace::test {

namespace {

/// What a thread was like between two changes. Times: ns, CLOCK_MONOTONIC.
struct Stretch {
  uint64_t begins = 0, from = 0; ///< it may have been so since the first, and certainly since the
                                 ///< second
  uint64_t to = 0;               ///< until then
  std::string name, cgroup;
  uint32_t uid = 0;
  int cpu = 0;
};
using Lives = std::map<uint32_t, std::vector<Stretch>>; ///< by tid

Lives read_lives(const std::string &text) {
  Lives lives;
  for (const std::string &line : lines_of(text)) {
    std::istringstream words(line);
    uint32_t tid = 0;
    Stretch next;
    words >> tid >> next.begins >> next.from >> next.name >> next.uid >> next.cgroup >> next.cpu;
    std::vector<Stretch> &life = lives[tid];
    if (!life.empty())
      life.back().to = next.begins;
    if (next.from)
      life.push_back(next);
  }
  return lives;
}

struct Known {
  uint64_t from, to; ///< ns, CLOCK_MONOTONIC
};

/// When the trace knows the states of threads, by tid.
std::map<uint32_t, std::vector<Known>> known_times(const std::string &trace,
                                                   const std::string &database) {
  const Outcome outcome =
      run({.argv = {ovnitrace(), "export", "--to", "sqlite", trace, "-o", database}});
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  const uint64_t begin = read_trace_json(trace).begin;
  std::map<uint32_t, std::vector<Known>> known;
  for (const auto &row :
       query(database, "SELECT t.tid, s.start_ns, s.end_ns FROM slice s JOIN thread t ON t.id = "
                       "s.thread WHERE s.state <> 'unknown' AND s.state <> 'dead' "
                       "ORDER BY t.tid, s.start_ns")) {
    std::vector<Known> &times = known[uint32_t(std::stoul(row[0]))];
    const uint64_t from = begin + std::stoull(row[1]), to = begin + std::stoull(row[2]);
    if (!times.empty() && times.back().to == from)
      times.back().to = to;
    else
      times.push_back({from, to});
  }
  return known;
}

struct Filter {
  std::vector<std::string> options; ///< CGROUP stands for the directory of the test
  std::function<bool(const Stretch &)> passes;
};

bool is_in(const Stretch &stretch, const std::string &cgroup) {
  return stretch.cgroup == cgroup || stretch.cgroup.starts_with(cgroup + "/");
}

const std::vector<Filter> &filters() {
  static const std::vector<Filter> all = {
      {{"-n", "alpha,gam*"},
       [](const Stretch &s) { return s.name == "alpha" || s.name == "gamma-1"; }},
      {{"--no-comm", "alpha", "--uid", "1001,1002"},
       [](const Stretch &s) { return s.name != "alpha" && (s.uid == 1001 || s.uid == 1002); }},
      {{"-G", "CGROUP/a"}, [](const Stretch &s) { return is_in(s, "a"); }},
      {{"-G", "CGROUP/b", "-G", "CGROUP/a/in", "--comm", "?eta", "--no-kthreads"},
       [](const Stretch &s) { return (is_in(s, "b") || is_in(s, "a/in")) && s.name == "beta"; }},
      {{"--cpu", "0"}, [](const Stretch &s) { return s.cpu == 0; }},
      {{"--no-cpu", "0", "--no-comm", "beta"},
       [](const Stretch &s) { return s.cpu != 0 && s.name != "beta"; }},
  };
  return all;
}

/// Compares one thread with what it printed.
void expect_right(const std::vector<Stretch> &life, const std::vector<Known> &known,
                  const Filter &filter) {
  for (const Stretch &stretch : life) {
    SCOPED_TRACE(stretch.name + " uid " + std::to_string(stretch.uid) + " in " + stretch.cgroup +
                 " on CPU " + std::to_string(stretch.cpu) + ", from " +
                 std::to_string(stretch.from) + " to " + std::to_string(stretch.to));
    const bool passes = filter.passes(stretch);
    bool covered = false;
    for (const Known &time : known) {
      covered |= time.from <= stretch.from && time.to >= stretch.to;
      if (!passes) {
        EXPECT_TRUE(time.to <= stretch.from || time.from >= stretch.to)
            << "is known from " << time.from << " to " << time.to;
      }
    }
    if (passes) {
      EXPECT_TRUE(covered) << "is not known all the time";
    }
  }
}

} // namespace

class RandomTrees : public CaptureTest {
protected:
  void expect_model(const Filter &filter, const std::string &place, unsigned seed, unsigned trees,
                    const std::vector<std::string> &scope) {
    TestCgroup cgroup(place, "ovnitrace-test-" + std::to_string(getpid()));
    for (const char *inside : {"a", "a/in", "b"})
      cgroup.add(inside);
    std::vector<std::string> options = {"-f", "-q"};
    options.insert(options.end(), scope.begin(), scope.end());
    for (std::string option : filter.options) {
      if (const size_t at = option.find("CGROUP"); at != option.npos)
        option.replace(at, 6, cgroup.path());
      options.push_back(option);
    }
    const Outcome outcome = record(
        {installed("random_trees"), std::to_string(seed), std::to_string(trees), cgroup.path()},
        options);
    ASSERT_EQ(read_trace_json(trace()).lost, 0u);
    const auto known = known_times(trace(), path("tables-" + std::to_string(seed)));
    std::set<uint32_t> right, recorded;
    for (const auto &[tid, life] : read_lives(outcome.out)) {
      SCOPED_TRACE("thread " + std::to_string(tid));
      const auto found = known.find(tid);
      expect_right(life, found == known.end() ? std::vector<Known>() : found->second, filter);
      for (const Stretch &stretch : life)
        if (filter.passes(stretch))
          right.insert(tid);
      if (found != known.end())
        recorded.insert(tid);
    }
    EXPECT_EQ(recorded, right);
    EXPECT_GT(right.size(), 0u) << "the trees are too small to say anything";
  }
};

TEST_F(RandomTrees, AreRecordedAsTheFiltersSay) {
  const unsigned trees = cases(6);
  unsigned seed = 0;
  for (const std::string &place : cgroup_places())
    for (const Filter &filter : filters()) {
      const std::vector<std::string> scope =
          ++seed % 2 ? std::vector<std::string>{"-a"} : std::vector<std::string>();
      SCOPED_TRACE(place + " " + filter.options[0] + " " + filter.options[1] + " seed " +
                   std::to_string(seed));
      expect_model(filter, place, seed, trees, scope);
    }
}

} // namespace ovnitrace::test
