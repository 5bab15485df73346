// SPDX-License-Identifier: BSD-2-Clause
// FTrace_fire: the program starts, stops and marks regions of --control. Also the marks of these
// events in the trace.
#include "tests/e2e/support/regions.h"

#include <algorithm>
#include <set>

namespace ovnitrace::test {

class ControlFire : public RegionTest {
protected:
  std::vector<DumpEvent> region_events() const {
    std::vector<DumpEvent> found;
    std::copy_if(events_.begin(), events_.end(), std::back_inserter(found),
                 [](const DumpEvent &event) { return event.event == "EXT_region"; });
    return found;
  }
};

TEST_F(ControlFire, StartsMarksAndStopsTheRegion) {
  capture({"start:interactive"},
          {"bar", "fire=1:0:0", "foo", "fire=2:0:0", "fire=0:0:1", "boo", "fire=0:0:0"});
  const std::vector<Region> all = regions();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].started_by, "program");
  EXPECT_EQ(all[0].stopped_by, "program");
  EXPECT_GT(all[0].start, mark("bar"));
  EXPECT_LT(all[0].start, mark("foo"));
  EXPECT_LT(all[0].stop, mark("boo"));
  const std::vector<DumpEvent> events = region_events();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].detail("bcast"), "");
  EXPECT_EQ(events[1].detail("event"), "threadid");
  EXPECT_NE(events[2].detail("bcast"), "");
  expect_events_in_regions();
}

TEST_F(ControlFire, IsForThreadsOfTheProcessOnly) {
  const Outcome outcome =
      capture({"start:interactive"}, {"fire=1:1:0", "wait=2", "threads=1:fire=1:main:0", "foo"},
              {"--region", "thread"});
  const std::vector<Region> all = regions();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_GT(all[0].start, mark("wait")) << "thread 1 is that of another process";
  EXPECT_EQ(all[0].tid, marks_.at(0).tid) << "the main thread";
  EXPECT_NE(outcome.err.find("left out"), std::string::npos) << outcome.err;
}

TEST_F(ControlFire, ACallWithAnUnknownEventOrThreadIsCountedAndNamed) {
  const Outcome outcome =
      capture({"start:interactive"}, {"fire=7:0:0", "fire=1:2147483647:0", "fire=1:0:0", "foo"});
  EXPECT_EQ(regions().size(), 1u) << "the last call";
  EXPECT_NE(outcome.err.find("2 events were left out"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("FTrace_fire"), std::string::npos) << outcome.err;
}

TEST_F(ControlFire, AFireForAllThreadsNamesTheThreadThatFired) {
  capture({"start:interactive"}, {"threads=1:fire=1:0:1", "foo"}, {"--region", "thread"});
  const uint32_t main = marks_.at(0).tid;
  const std::vector<DumpEvent> events = region_events();
  ASSERT_EQ(events.size(), 2u);
  for (const DumpEvent &event : events) {
    EXPECT_NE(event.detail("bcast"), "");
    EXPECT_EQ(event.detail("other").empty(), event.tid != main);
  }
}

TEST_F(ControlFire, WorksThroughTheLibrary) {
  installed("libovnitrace.so.0"); // found beside the program
  for (const char *kind : {"library_events_shared", "library_events_static"}) {
    remove_trace();
    read(record({installed(kind), "fire"}, {"--control", "start:interactive"}));
    std::vector<std::string> logged;
    for (const DumpEvent &event : events_)
      if (event.event == "user_event_1")
        logged.push_back(event.detail("par2"));
    EXPECT_EQ(logged, std::vector<std::string>{"1"}) << kind;
  }
}

TEST_F(ControlFire, AStartOfAnOpenRegionIsRecordedAsSuch) {
  capture({"start:enter_func:foo,repeat", "stop:enter_func:bar:bcast"},
          {"foo", "foo", "threads=1:foo", "bar"});
  ASSERT_EQ(regions().size(), 1u);
  std::set<uint32_t> again;
  const std::vector<DumpEvent> events = region_events();
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].detail("again"), "");
  for (size_t n : {1, 2}) {
    EXPECT_NE(events[n].detail("again"), "");
    again.insert(events[n].tid);
  }
  EXPECT_EQ(again.size(), 2u) << "each on the thread that called foo";
  EXPECT_NE(events[3].detail("bcast"), "");
  const Outcome info = run({.argv = {ovnitrace(), "info", trace()}});
  EXPECT_NE(info.out.find("enter_func +2"), std::string::npos) << info.out;
  EXPECT_EQ(run({.argv = {ovnitrace(), "convert", trace()}}).status(), 0);
  EXPECT_NE(read_text(trace() + "/thread.pcf").find("Start of an open region"), std::string::npos);
}

} // namespace ovnitrace::test
