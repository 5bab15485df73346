// SPDX-License-Identifier: BSD-2-Clause
// Regions of --control in real captures: where they start and stop, compared with the log of the
// program, and what is recorded in them.
#include "tests/e2e/support/regions.h"

#include <csignal>
#include <set>

namespace ovnitrace::test {

class Control : public RegionTest {};

TEST_F(Control, ARegionLastsFromEntryToExitOfAFunction) {
  capture({"start:enter_func:foo,stop:exit_func:foo"}, {"bar", "foo", "boo"});
  const std::vector<Region> all = regions();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_GT(all[0].start, mark("bar"));
  EXPECT_LT(all[0].start, mark("foo"));
  EXPECT_GT(all[0].stop, mark("foo") + 1'000'000) << "it sleeps for a millisecond";
  EXPECT_LT(all[0].stop, mark("boo"));
  EXPECT_EQ(all[0].started_by, "enter_func");
  EXPECT_EQ(all[0].stopped_by, "exit_func");
  expect_events_in_regions();
}

/// The alarms of the table, each started by what the program then logs, and stopped by bar.
TEST_F(Control, EachMarkerStartsARegion) {
  struct Case {
    const char *alarm, *step, *other, *type;
  };
  const Case kCases[] = {
      {"ssc:11223344", "ssc", "ssc_other", "ssc"},
      {"magic:7.9", "magic", "magic_other", "magic"},
      {"cpuid:5", "cpuid", "boo", "cpuid"},
      {"itext:0f1f8044332211", "itext", "boo", "itext"},
      {"isa-extension:SSE4", "crc", "boo", "isa-extension"},
      {"isa-category:X87_ALU", "x87", "boo", "isa-category"},
      {"address:foo", "foo", "boo", "address"},
      {"pcontrol:roi", "pcontrol=roi", "pcontrol=other", "pcontrol"},
  };
  for (const Case &one : kCases) {
    SCOPED_TRACE(one.alarm);
    const std::string chain = std::string("start:") + one.alarm + ",stop:enter_func:bar";
    if (!are_possible({chain}))
      continue;
    remove_trace();
    capture({chain}, {one.other, "wait=2", one.step, "wait=2", "bar", "wait=2"});
    const std::vector<Region> all = regions();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_GT(all[0].start, mark("wait"));
    EXPECT_LT(all[0].start, mark("wait", 1));
    EXPECT_GT(all[0].stop, mark("wait", 1) + 2'000'000);
    EXPECT_LT(all[0].stop, mark("bar"));
    EXPECT_EQ(all[0].started_by, one.type);
    expect_events_in_regions();
  }
}

TEST_F(Control, ExitFuncFiresAtTheOutermostReturn) {
  capture({"start:enter_func:recursive,stop:exit_func:recursive"}, {"recursive", "wait=2"});
  const std::vector<Region> all = regions();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_LT(all[0].start, mark("recursive_enter"));
  EXPECT_GT(all[0].stop, mark("recursive_leave", 3));
  EXPECT_LT(all[0].stop, mark("wait"));
}

TEST_F(Control, AnExitThatALongjmpSkippedIsForgotten) {
  capture({"start:exit_func:jumps", "precond:enter_func:bar,start:exit_func:foo"},
          {"jumps", "jumps", "bar", "foo", "wait=2"});
  const std::vector<Region> all = regions();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_GT(all[0].start, mark("foo"));
  EXPECT_LT(all[0].start, mark("wait"));
}

TEST_F(Control, ChainsThatWaitAndRepeat) {
  capture(
      {"precond:address:foo,precond:address:bar,repeat:2,name:c1", "start:address:boo,waitfor:c1"},
      {"boo", "foo", "bar", "boo", "foo", "boo", "bar", "boo", "wait=2"});
  const std::vector<Region> all = regions();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_GT(all[0].start, mark("bar", 1));
  EXPECT_LT(all[0].start, mark("boo", 3));
}

TEST_F(Control, CountsAreByThreadOrGlobal) {
  capture({"start:enter_func:foo:count3:global,stop:enter_func:bar"},
          {"threads=4:foo", "bar", "wait=2"});
  ASSERT_EQ(regions().size(), 1u);
  remove_trace();
  capture({"start:enter_func:foo:count2"}, {"threads=4:foo", "foo", "foo", "wait=2"});
  const std::vector<Region> all = regions();
  ASSERT_EQ(all.size(), 1u) << "each thread calls it once, the main thread twice";
  EXPECT_GT(all[0].start, mark("foo", 4));
}

TEST_F(Control, AGlobalCountHasTheCallsThatThreadsMakeAtOnce) {
  capture({"start:enter_func:quick:count80000:global"}, {"threads=4:quick=20000"});
  EXPECT_EQ(regions().size(), 1u);
}

TEST_F(Control, TidNFiresOnlyInThatThread) {
  capture({"start:enter_func:foo:tid0,stop:enter_func:bar:tid0"},
          {"threads=2:foo", "foo", "threads=2:bar", "bar", "wait=2"});
  const std::vector<Region> all = regions();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_GT(all[0].start, mark("foo", 1));
  EXPECT_GT(all[0].stop, mark("bar", 1));
}

TEST_F(Control, EveryThreadHasItsRealStateFromTheStart) {
  capture({"start:enter_func:foo,stop:exit_func:foo"}, {"threads=1:joined=foo"});
  std::set<uint32_t> shown;
  uint32_t inside = 0;
  for (const DumpEvent &event : events_) {
    if (event.event == "EXT_region" && event.detail("event") == "start")
      inside = event.tid;
    if (event.event != "EXT_snapshot")
      continue;
    EXPECT_TRUE(shown.insert(event.tid).second);
    EXPECT_EQ(event.detail("state"), event.tid == inside ? "running" : "paused");
    EXPECT_EQ(event.detail("call"), event.tid == inside ? "" : "futex")
        << "since before the region";
  }
  EXPECT_EQ(shown.size(), 2u) << "the one that calls foo, and the main thread that waits for it";
}

TEST_F(Control, ARegionOfAThreadRecordsNoOtherThread) {
  capture({"start:enter_func:foo"}, {"threads=3:foo", "wait=2"}, {"--region", "thread"});
  std::set<uint32_t> started, seen;
  for (const DumpEvent &event : events_)
    if (event.event == "EXT_region")
      started.insert(event.tid);
    else if (event.tid)
      seen.insert(event.tid);
  EXPECT_EQ(started.size(), 3u);
  EXPECT_EQ(seen, started);
}

TEST_F(Control, AThousandRegionsAreExactlyAThousand) {
  capture({"start:enter_func:foo,stop:enter_func:bar,repeat"}, {"many=1000"});
  const std::vector<Region> all = regions();
  ASSERT_EQ(all.size(), 1000u);
  for (size_t n = 0; n < all.size(); n++) {
    EXPECT_LT(all[n].start, mark("foo", n));
    EXPECT_LT(all[n].stop, mark("bar", n));
    if (n > 0) {
      EXPECT_GT(all[n].start, mark("bar", n - 1));
    }
  }
  expect_events_in_regions();
}

TEST_F(Control, ALibraryThatIsOpenedLaterIsProbed) {
  capture({"start:enter_func:zlibCompileFlags"}, {"wait=2", "dlopen=libz.so.1:zlibCompileFlags"});
  const std::vector<Region> all = regions();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_GT(all[0].start, mark("wait"));
  EXPECT_LT(all[0].start, mark("dlopen"));
}

// By then ovnitrace has dropped all privileges but those that attach probes.
TEST_F(Control, ALibraryThatIsOpenedLaterIsProbedUnderSudo) {
  ASSERT_EQ(chown(directory().c_str(), nobody_uid(), nobody_gid()), 0);
  Process program(
      {.argv = {installed("regions"), "spin=" + path("go"), "dlopen=libz.so.1:zlibCompileFlags"}});
  Command command = record_command(
      trace(), {},
      {"-p", std::to_string(program.pid()), "--control", "start:enter_func:zlibCompileFlags"});
  command.env = {{"SUDO_UID", std::to_string(nobody_uid())},
                 {"SUDO_GID", std::to_string(nobody_gid())}};
  Process tracer(command);
  eventually([&] { return tracer.err().find("tracing process") != std::string::npos; }, "traced");
  write_text(path("go"), "");
  program.wait();
  const Outcome outcome = tracer.wait();
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  read(outcome);
  EXPECT_EQ(regions().size(), 1u) << outcome.err;
}

TEST_F(Control, AChildHasChainsOfItsOwn) {
  capture({"start:enter_func:foo,stop:exit_func:foo"}, {"foo", "fork=foo", "foo"});
  const std::vector<Region> all = regions();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_NE(all[0].tid, all[1].tid);
}

TEST_F(Control, AProgramThatAnotherExecutesIsProbed) {
  const Outcome outcome = record({"/bin/sh", "-c", "exec " + installed("regions") + " foo wait=2"},
                                 {"--control", "start:enter_func:foo,stop:exit_func:foo"});
  read(outcome);
  const std::vector<Region> all = regions();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_LT(all[0].start, mark("foo"));
  EXPECT_NE(outcome.err.find("armed when"), std::string::npos) << outcome.err;
}

TEST_F(Control, AChainWithoutAStartRecordsUntilItsStop) {
  capture({"stop:enter_func:foo"}, {"wait=2", "foo", "wait=2"});
  const std::vector<Region> all = regions();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].started_by, "begin");
  EXPECT_LT(all[0].start, mark("wait"));
  EXPECT_LT(all[0].stop, mark("foo"));
}

TEST_F(Control, ATimeoutStartsARegion) {
  Process capture(record_command(trace(), {installed("regions"), "spin=" + path("go"), "bar"},
                                 {"--control", "start:timeout:1,stop:enter_func:bar"}));
  const auto status = [&] { return run({.argv = {ovnitrace(), "ctl", trace(), "status"}}).out; };
  eventually([&] { return status().find("in a region") != std::string::npos; }, "it has started");
  write_text(path("go"), "");
  read(capture.wait());
  const std::vector<Region> all = regions();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_GT(all[0].start, begin_ + 1'000'000'000);
  EXPECT_LT(all[0].stop, mark("bar"));
}

TEST_F(Control, TheUserStartsAndStopsRegions) {
  Process capture(record_command(trace(), {"sleep", "60"},
                                 {"--control", "start:interactive:bcast,stop:interactive:bcast"}));
  const auto ctl = [&](const std::string &what) {
    return run({.argv = {ovnitrace(), "ctl", trace(), what}});
  };
  eventually([&] { return ctl("status").status() == 0; }, "the capture listens");
  EXPECT_NE(ctl("status").out.find("in no region"), std::string::npos);
  EXPECT_EQ(ctl("stop").status(), 1) << "nothing waits for it";
  EXPECT_EQ(ctl("start").status(), 0);
  EXPECT_NE(ctl("status").out.find("in a region"), std::string::npos);
  EXPECT_EQ(ctl("stop").status(), 0);
  EXPECT_NE(ctl("status").out.find("in no region"), std::string::npos);
  capture.signal(SIGTERM);
  read(capture.wait());
  const std::vector<Region> all = regions();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].started_by, "interactive");
  EXPECT_LT(all[0].stop, UINT64_MAX);
  EXPECT_FALSE(exists(trace() + "/control.sock"));
}

TEST_F(Control, RegionsAreListedAndCutOut) {
  capture({"start:enter_func:foo,stop:exit_func:foo,repeat,name:phase"}, {"many=3"});
  const std::vector<Region> all = regions();
  ASSERT_EQ(all.size(), 3u);
  const Outcome info = run({.argv = {ovnitrace(), "info", "--json", trace()}});
  for (const Region &region : all)
    EXPECT_NE(info.out.find(std::to_string(region.start - begin_)), std::string::npos) << info.out;
  EXPECT_NE(info.out.find("exit_func"), std::string::npos);
  const Outcome cut =
      run({.argv = {ovnitrace(), "convert", "--region", "2", "-o", path("cut"), trace()}});
  EXPECT_EQ(cut.status(), 0) << cut.err;
  const std::string head = read_text(path("cut") + "/thread.prv").substr(0, 200);
  EXPECT_NE(head.find(std::to_string(all[1].stop - all[1].start) + "_ns"), std::string::npos)
      << head;
  EXPECT_NE(read_text(path("cut") + "/thread.pcf").find("phase"), std::string::npos);
  EXPECT_EQ(run({.argv = {ovnitrace(), "convert", "--region", "4", trace()}}).status(), 1);
}

TEST_F(Control, TheProgramStartsItsRegion) {
  const Outcome outcome =
      record({installed("user_events"), "switch", "77"}, {"--control", "start:interactive"});
  read(outcome);
  const std::vector<Region> all = regions();
  ASSERT_EQ(all.size(), 1u) << outcome.err;
  EXPECT_EQ(all[0].started_by, "program");
  std::vector<std::string> logged; // 1 to 4 were before it called FTrace_enable
  for (const DumpEvent &event : events_)
    if (event.event == "user_event_1")
      logged.push_back(event.detail("par2"));
  EXPECT_EQ(logged, std::vector<std::string>{"5"});
  expect_events_in_regions();
}

TEST_F(Control, NothingIsConvertedIfNoRegionStarted) {
  const Outcome outcome =
      run({.argv = {ovnitrace(), "-o", trace(), "--control", "start:enter_func:bar", "--",
                    installed("regions"), "foo"}});
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  EXPECT_NE(outcome.err.find("no region started"), std::string::npos) << outcome.err;
}

TEST_F(Control, BadInputEndsBeforeTheProgramRuns) {
  const std::vector<std::vector<std::string>> kWrong = {
      {"--control", "start:adress:foo"},
      {"--control", "start:address:foo,waitfor:none"},
      {"--control", "start:isa-extension:NONE"},
      {"--control", "start:int3", "-a"},
      {"--region", "thread"},
      {"--control", "start:address:foo", "--trigger", "region_stop"},
  };
  for (const auto &options : kWrong) {
    const Outcome outcome = run(record_command(trace(), {installed("regions"), "foo"}, options));
    EXPECT_EQ(outcome.status(), 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_FALSE(exists(trace()));
  }
}

} // namespace ovnitrace::test
