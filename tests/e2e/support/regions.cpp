// SPDX-License-Identifier: BSD-2-Clause
#include "tests/e2e/support/regions.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace ovnitrace::test {

namespace {

std::vector<Mark> marks_of(const std::string &out) {
  std::vector<Mark> marks;
  std::istringstream lines(out);
  for (Mark mark; lines >> mark.name >> mark.tid >> mark.time;)
    marks.push_back(mark);
  return marks;
}

} // namespace

Outcome RegionTest::capture(const std::vector<std::string> &chains,
                            const std::vector<std::string> &steps,
                            std::vector<std::string> options) {
  for (const std::string &chain : chains)
    options.insert(options.end(), {"--control", chain});
  std::vector<std::string> program = {installed("regions")};
  program.insert(program.end(), steps.begin(), steps.end());
  const Outcome outcome = record(program, options);
  read(outcome);
  return outcome;
}

bool RegionTest::are_possible(const std::vector<std::string> &chains) const {
#if !defined(__x86_64__)
  for (const std::string &chain : chains)
    for (const char *of_x86 :
         {"icount", "uniform", "int3", "ssc", "itext", "isa-", "magic", "cpuid"})
      if (chain.find(of_x86) != chain.npos) {
        const Outcome outcome = run(record_command(trace(), {"true"}, {"--control", chain}));
        EXPECT_EQ(outcome.status(), 2);
        EXPECT_NE(outcome.err.find("works on x86-64 only"), std::string::npos) << outcome.err;
        return false;
      }
#endif
  for (const std::string &chain : chains)
    if (chain.find("cpuid") != chain.npos) {
      const Command check{
          .argv = {ovnitrace(), "control", "--check", chain, "--", installed("regions")}};
      if (run(check).err.find("does not stop after a single step over cpuid") != std::string::npos)
        return false;
    }
  return true;
}

bool RegionTest::skip_if_impossible(const std::vector<std::string> &chains) const {
  const bool possible = are_possible(chains);
  if (!possible)
    [] { GTEST_SKIP() << "this machine refuses one of the alarms"; }();
  return !possible;
}

void RegionTest::read(const Outcome &outcome) {
  marks_ = marks_of(outcome.out);
  events_ = dump(trace());
  begin_ = read_trace_json(trace()).begin;
}

void RegionTest::remove_trace() const {
  std::filesystem::remove_all(trace());
}

std::vector<Region> RegionTest::regions() const {
  std::vector<Region> regions;
  for (const DumpEvent &event : events_) {
    if (event.event != "EXT_region" || !event.detail("again").empty())
      continue;
    if (event.detail("event") == "start") {
      regions.push_back({event.tid, begin_ + event.time, UINT64_MAX, event.detail("alarm"), ""});
    } else if (!regions.empty() && event.detail("event") == "stop") {
      regions.back().stop = begin_ + event.time;
      regions.back().stopped_by = event.detail("alarm");
    }
  }
  return regions;
}

std::string RegionTest::alarm_of(const DumpEvent &region) {
  const std::string step = region.detail("step");
  return region.detail("alarm") + "/" + region.detail("chain") + "/" +
         std::to_string((step.empty() ? 0 : std::stoi(step)) + 1);
}

std::vector<std::string> RegionTest::alarms() const {
  std::vector<std::string> alarms;
  for (const DumpEvent &event : events_)
    if (event.event == "EXT_region" && !event.detail("chain").empty())
      alarms.push_back(alarm_of(event));
  return alarms;
}

uint64_t RegionTest::mark(const std::string &name, size_t n) const {
  for (const Mark &mark : marks_)
    if (mark.name == name && n-- == 0)
      return mark.time;
  ADD_FAILURE() << "the program was not at " << name;
  return 0;
}

void RegionTest::expect_events_in_regions() const {
  const std::vector<Region> all = regions();
  for (const DumpEvent &event : events_) {
    if (event.event == "trace_start" || event.event == "trace_stop" || event.event == "EXT_region")
      continue;
    const uint64_t time = begin_ + event.time;
    EXPECT_TRUE(std::any_of(
        all.begin(), all.end(),
        [&](const Region &region) { return region.start <= time && time <= region.stop; }))
        << event.event << " at " << event.time;
  }
}

} // namespace ovnitrace::test
