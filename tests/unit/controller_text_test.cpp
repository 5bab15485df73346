// SPDX-License-Identifier: BSD-2-Clause
// What --control says of alarms that have no place, of chains that end, and of threads.
#include "emulator/base/error.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/waiting_program.h"
#include "user/bpf/capture.h"
#include "user/control/controller.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace::control {
namespace {

using Lines = std::vector<std::string>;

class ControllerText : public testing::Test {
protected:
  void SetUp() override {
    std::ofstream(dir_ / "app.s") << ".text\n.globl _start\n_start: ret\n"
                                     ".section .note.GNU-stack,\"\",@progbits\n";
    const std::string build =
        "gcc -static -nostdlib -no-pie " + (dir_ / "app.s") + " -o " + dir_ / "app";
    ASSERT_EQ(std::system(build.c_str()), 0) << build;
    try {
      Programs(make_plan({"start:int3"}), {}, {});
    } catch (const ovnitrace::Error &error) {
      GTEST_SKIP() << "needs BPF: " << error.what();
    }
  }
  /// Lets a controller of these chains work. Returns the lines that are printed meanwhile.
  Lines said(const std::vector<std::string> &chains, const std::vector<uint32_t> &targets,
             bool by_thread, const std::function<void(Controller &, Capture &)> &use) {
    testing::internal::CaptureStderr();
    try {
      Capture capture(
          CaptureParameters{.targets = targets, .regions = true, .region_by_thread = by_thread});
      capture.attach();
      Controller controller(make_plan(chains), capture, by_thread, false);
      use(controller, capture);
      controller.detach();
    } catch (const ovnitrace::Error &error) {
      thrown_ = error.what();
    }
    std::istringstream text(testing::internal::GetCapturedStderr());
    Lines lines;
    for (std::string line; std::getline(text, line);)
      lines.push_back(line);
    return lines;
  }

  const test::TempDir dir_;
  std::string thrown_;
};

std::string missing(const std::string &alarm, const std::string &why) {
  return "ovnitrace: --control: no loaded file contains what " + alarm +
         " looks for (if the function is inlined or the file is stripped, give IMAGE+OFFSET); " +
         why;
}

TEST_F(ControllerText, AnAlarmThatCanNeverHitIsRefused) {
  const Lines lines =
      said({"start:enter_func:nothing_like_it"}, {}, false, [&](Controller &controller, Capture &) {
        controller.attach(dir_ / "app", Identity(), {});
      });
  EXPECT_EQ(thrown_, "--control: an alarm can never hit");
  EXPECT_EQ(lines,
            Lines{missing("start:enter_func:nothing_like_it", "the program loads no libraries")});
}

TEST_F(ControllerText, AnAlarmMayHitInWhatIsLoadedLater) {
  const Lines lines =
      said({"start:enter_func:nothing_like_it"}, {}, false, [](Controller &controller, Capture &) {
        controller.attach("/bin/true", Identity(), {});
        controller.start({});
        EXPECT_EQ(controller.ask("status"), "ok\nno thread is traced\n");
        EXPECT_EQ(controller.ask("stop"), "error\nno chain has an alarm stop:interactive\n");
      });
  EXPECT_EQ(thrown_, "");
  EXPECT_EQ(lines,
            (Lines{missing("start:enter_func:nothing_like_it",
                           "the alarm is armed when a file that contains it is loaded"),
                   missing("start:enter_func:nothing_like_it", "the alarm was never armed")}));
}

TEST_F(ControllerText, EachThreadAnswersForItself) {
  const test::WaitingProgram one("/bin/cat"), other("/bin/cat");
  std::string before, started, stopped, count;
  const Lines lines =
      said({"start:interactive:count3,stop:interactive",
            "start:interactive:count4,stop:interactive,name:two"},
           {one.pid(), other.pid()}, true, [&](Controller &controller, Capture &capture) {
             controller.attach("", Identity(), {one.pid(), other.pid()});
             capture.snapshot();
             controller.start({one.pid(), other.pid()});
             controller.begin_living();
             before = controller.ask("status");
             count = controller.ask("start");
             controller.ask("start");
             started = controller.ask("start");
             stopped = controller.ask("stop");
           });
  const auto line = [](uint32_t tid) {
    return "thread " + std::to_string(tid) + ": in no region\n";
  };
  EXPECT_EQ(before.size(), ("ok\n" + line(one.pid()) + line(other.pid())).size());
  EXPECT_NE(before.find("\n" + line(one.pid())), std::string::npos) << before;
  EXPECT_NE(before.find("\n" + line(other.pid())), std::string::npos) << before;
  EXPECT_EQ(count, "ok\nstart:interactive:count3: 1 of 3\nstart:interactive:count4: 1 of 4\n");
  EXPECT_EQ(started, "ok\nstart:interactive:count4: 3 of 4\n");
  EXPECT_EQ(stopped, "ok\n");
  ASSERT_EQ(lines.size(), 1u) << "though it has finished in two threads";
  const std::string start = "ovnitrace: --control: chain start:interactive:count3,stop:interactive "
                            "has finished in thread ",
                    end = "; `,repeat` at its end makes it start again";
  EXPECT_TRUE(lines[0] == start + std::to_string(one.pid()) + end ||
              lines[0] == start + std::to_string(other.pid()) + end)
      << lines[0];
}

TEST_F(ControllerText, ABroadcastFinishesInTheProcess) {
  const test::WaitingProgram one("/bin/cat");
  std::string inside, outside;
  const Lines lines = said({"start:interactive:bcast,stop:interactive:bcast,repeat:1,name:all"},
                           {one.pid()}, false, [&](Controller &controller, Capture &capture) {
                             controller.attach("", Identity(), {one.pid()});
                             capture.snapshot();
                             controller.start({one.pid()});
                             controller.begin_living();
                             EXPECT_EQ(controller.ask("start"), "ok\n");
                             inside = controller.ask("status");
                             EXPECT_EQ(controller.ask("stop"), "ok\n");
                             outside = controller.ask("status");
                             EXPECT_EQ(controller.ask("pause"),
                                       "error\nno thread waits for pause:interactive now\n");
                           });
  const std::string process = "ok\nprocess " + std::to_string(one.pid()) + ": in ";
  EXPECT_EQ(inside.substr(0, process.size() + 15), process + "a region since ");
  EXPECT_EQ(outside, process + "no region\n");
  EXPECT_EQ(lines, Lines{"ovnitrace: --control: chain all has finished in process " +
                         std::to_string(one.pid())});
}

} // namespace
} // namespace ovnitrace::control
