// SPDX-License-Identifier: BSD-2-Clause
// Which thread a critical path belongs to, and where it begins and ends.
#include "emulator/base/error.h"
#include "emulator/core/program_threads.h"
#include "emulator/critical/path.h"
#include "emulator/open/open_trace.h"
#include "emulator/why/explainer.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/path_rig.h"

namespace ovnitrace {
namespace {

using test::CollectingSink;
using test::Texts;

class PathStart : public test::PathRig {};

/// As with -a. 22 ran longest, but has ended; 33 ran last.
TEST_F(PathStart, TheLivingThreadThatRanLongestIsTheDefault) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 22, 22, "b").id(3, 33, 33, "c");
  cpu.at(100).start().dispatch(1).at(200).epilogue(1, 22).dispatch(2).at(400).end(2, 33);
  cpu.dispatch(3).at(450).sleep(3, 11).dispatch(1).at(460).sleep(1, 33).dispatch(3).at(500).stop();
  EXPECT_EQ(path({}).back(), "11 not_woken 460-500");
  Cut before_22_ended;
  before_22_ended.to = 290;
  EXPECT_EQ(path({}, before_22_ended).back(), "22 running 200-390");
}

/// 11 blocks until ovnitrace (99) lets it run, and executes its program at 60.
TEST_F(PathStart, BeginsWhereTheStartedProgramDoes) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app", 1).at(1).create(1, 11).at(10);
  cpu.dispatch(1).at(20).sleep(1).at(50).activate(1, 99).at(55).dispatch(1).at(60);
  cpu.record(FTrace_EXT_exec, 1, 11).at(80).sleep(1).at(90).activate(1, 99).dispatch(1);
  cpu.at(100).stop();
  set_program(11);
  const Texts before = {"11 running 10-20", "11 outside 20-50 peer=99"};
  EXPECT_EQ(path({11, {}}),
            (Texts{"11 running 60-80", "11 outside 80-90 peer=99", "11 running 90-100"}));
  Cut cut;
  cut.from = 70;
  EXPECT_EQ(path({11, {}}, cut).front(), "11 running 70-80");
  cut.from = 10;
  cut.to = 50;
  EXPECT_EQ(path({11, {}}, cut), before) << "nothing else happened";
  CollectingSink sink;
  const auto source = open_trace({{dir.path()}}, sink);
  const std::vector<WakeSum> wakes = explain(*source, {}, started_threads(source->catalog())).wakes;
  ASSERT_EQ(wakes.size(), 1u);
  EXPECT_EQ(wakes[0].count, 1u) << "without the wakeup at 50";
}

TEST_F(PathStart, AThreadOutsideTheProgramBeginsWithTheRange) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app", 1).at(1).create(1, 11).at(10);
  cpu.dispatch(1).at(20).sleep(1).at(50).activate(1, 99).at(55).dispatch(1).at(60);
  cpu.record(FTrace_EXT_exec, 1, 11).at(100).stop();
  trace.cpu(1).at(0).start().id(2, 22, 22, "other", 1).at(5).dispatch(2).at(100).stop();
  set_program(11);
  Cut cut;
  cut.from = 10;
  EXPECT_EQ(path({22, {}}, cut), (Texts{"22 running 10-100"}));
}

TEST_F(PathStart, EndsWithItsThread) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 1, 0).at(100).start();
  cpu.at(200).end(1, 11).at(500).stop();
  EXPECT_EQ(path({11, {}}), (Texts{"11 running 100-200"}));
}

/// Thread 12 creates a lot of work for itself; 11, the main thread, has ended. 22 is no thread of
/// the process.
TEST_F(PathStart, OfAMainThreadEndsWithItsProcess) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 12, 11, "b").id(3, 13, 11, "c");
  cpu.id(4, 22, 22, "d").snapshot(1, 1, 0).snapshot(2, 4, 0).snapshot(3, 2, 0).snapshot(4, 4, 0);
  cpu.at(100).start().at(200).end(1, 12).dispatch(2).at(300).activate(3, 12).at(310).sleep(2, 13);
  cpu.dispatch(3).at(350).activate(2, 13).at(360).end(3, 12).dispatch(2).at(400).end(2, 22);
  cpu.dispatch(4).at(450).end(4).at(500).stop();
  const Texts all = {"11 running 100-200", "12 running 200-310", "13 running 310-350",
                     "12 waiting 350-360 peer=13", "12 running 360-400"};
  EXPECT_EQ(path({11, {}}), all);
  set_program(11);
  EXPECT_EQ(path({}), all);
  EXPECT_EQ(path({13, {}}).back(), "13 running 310-360") << "no main thread";
  Cut cut;
  cut.from = 150;
  EXPECT_EQ(path({}, cut), (Texts{"12 running 250-310", all[2], all[3], all[4]}));
  cut.from = {};
  cut.to = 120;
  EXPECT_EQ(path({}, cut), (Texts{all[0], "12 running 200-220"}));
}

TEST_F(PathStart, AnotherProcessOfTheSamePidDoesNotCount) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 1, 0).at(100).start();
  cpu.at(200).end(1).at(300).id(2, 11, 11, "b", 300).id(3, 12, 11, "c", 310).at(310);
  cpu.activate_new(3, 0).dispatch(3).at(400).end(3).at(500).stop();
  CollectingSink sink;
  trace.write();
  const auto source = open_trace({{dir.path()}}, sink);
  const Catalog &catalog = source->catalog();
  const auto first = uint32_t(first_with_tid(catalog, 11));
  CriticalPath path = critical_path(*source, {}, {}, {.tid = {}, .section = {}, .thread = first});
  EXPECT_EQ(path.to, 200u);
}

TEST_F(PathStart, TheDefaultIsAThreadThatTheCutKeeps) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 22, 22, "b");
  cpu.snapshot(1, 1, 0).snapshot(2, 4, 0).at(100).start();
  cpu.at(300).epilogue(1, 22).dispatch(2).at(400).stop();
  Cut cut;
  EXPECT_EQ(path({{}, {}}, cut).back(), "11 waiting 300-400 peer=22");
  cut.comms = {"b*"};
  EXPECT_EQ(path({{}, {}}, cut).back(), "22 running 300-400");
}

/// As the main process of a server.
TEST_F(PathStart, TheDefaultIsAThreadThatRan) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 22, 22, "b");
  cpu.snapshot(1, 2, 0).snapshot(2, 1, 0).at(100).start().at(400).stop();
  trace.write();
  TraceInfo attached;
  attached.attached_pids = {11};
  EXPECT_EQ(test::path_of(dir.path(), {}, {}, attached), (Texts{"22 running 100-400"}));
  Cut cut;
  cut.tids = {11};
  EXPECT_EQ(test::path_of(dir.path(), {}, cut, attached), (Texts{"11 not_woken 100-400"}))
      << "no other thread was chosen";
}

/// Rows are by process: that of the later thread is the first.
TEST_F(PathStart, ATidThatWasUsedAgainIsTheLastThread) {
  auto &cpu = trace.cpu(0).at(50).id(1, 500, 500, "first").id(2, 500, 400, "second", 300);
  cpu.snapshot(1, 1, 0).at(100).start().at(200).end(1).at(300).activate_new(2, 0).dispatch(2);
  cpu.at(400).end(2).at(500).stop();
  EXPECT_EQ(path({500, {}}).back(), "500 running 300-400");
}

TEST_F(PathStart, ASectionIsTheLongestOfItsNumber) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 22, 22, "b").snapshot(1, 1, 0);
  const auto section = [&](uint16_t code, uint32_t number) { cpu.record(code, 0, number); };
  constexpr uint16_t kStart = FTrace_EVT_user_event_13, kEnd = FTrace_EVT_user_event_14;
  cpu.at(100).start().at(200);
  section(kStart, 7);
  cpu.at(230);
  section(kEnd, 7);
  cpu.at(300);
  section(kStart, 7);
  cpu.at(320);
  section(kStart, 7); // within itself
  section(kEnd, 7);
  cpu.at(350).sleep(1, 22).dispatch(2).at(380).activate(1, 22).at(390).end(2, 22).dispatch(1);
  cpu.at(400);
  section(kEnd, 7);
  cpu.at(500);
  section(kStart, 8);
  cpu.at(600).stop();
  const Texts seven = {"11 running 300-350", "22 running 350-380", "11 waiting 380-390 peer=22",
                       "11 running 390-400"};
  EXPECT_EQ(path({{}, 7}), seven);
  EXPECT_EQ(path({11, 7}), seven);
  EXPECT_THROW(path({22, 7}), Error);
  EXPECT_THROW(path({{}, 8}), Error) << "it never ends";
  try {
    path({99, {}});
    ADD_FAILURE() << "there is no such thread";
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), kExitFailure) << "as every name that turns out not to exist";
  }
}

TEST(MainThread, BelongsToTheProgram) {
  Catalog catalog;
  catalog.threads = {{.tid = 5, .pid = 5, .parent = 1, .name = "shell"},
                     {.tid = 7, .pid = 7, .parent = 2, .name = "app"},
                     {.tid = 8, .pid = 7, .parent = 7, .name = "worker"}};
  TraceInfo info;
  EXPECT_EQ(main_thread(catalog, info), kNone) << "the whole machine";
  info.command = {"/bin/app", "x"};
  EXPECT_EQ(main_thread(catalog, info), 1u);
  info.command = {"/bin/other"};
  EXPECT_EQ(main_thread(catalog, info), kNone) << "two processes that nobody traced has made";
  catalog.threads[0].parent = 7;
  EXPECT_EQ(main_thread(catalog, info), 1u);
  info.program_pid = 8;
  EXPECT_EQ(main_thread(catalog, info), 2u) << "whatever it is called";
  info.attached_pids = {5};
  EXPECT_EQ(main_thread(catalog, info), 0u);
}

/// With -a, others have its name too.
TEST(MainThread, MainThreadOfTheProgramIsTheFirstBornAfterTheCaptureStarted) {
  Catalog catalog;
  catalog.threads = {{.tid = 5, .pid = 5, .parent = 1, .name = "sh"},
                     {.tid = 7, .pid = 7, .parent = 9, .birth = 20, .name = "sh"},
                     {.tid = 8, .pid = 8, .parent = 9, .birth = 10, .name = "sh"},
                     {.tid = 9, .pid = 9, .parent = 1, .name = "ovnitrace"}};
  TraceInfo info;
  info.command = {"/bin/sh"};
  EXPECT_EQ(main_thread(catalog, info), 2u);
  info.command = {"/bin/ovnitrace"};
  EXPECT_EQ(main_thread(catalog, info), kNone) << "it was there before";
}

} // namespace
} // namespace ovnitrace
