// SPDX-License-Identifier: BSD-2-Clause
// What --control says of alarms that have no place, of chains that end, and of threads.
#include "emulator/base/error.h"
#include "tests/unit/support/control_machine.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/waiting_program.h"
#include "user/bpf/capture.h"
#include "user/control/controller.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
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
    if (!test::why_no_control().empty())
      GTEST_SKIP() << "needs BPF: " << test::why_no_control();
  }
  /// Lets a controller of these chains work. Returns the lines that are printed meanwhile.
  Lines said(const std::vector<std::string> &chains, const std::vector<uint32_t> &targets,
             bool by_thread, const std::function<void(Controller &, Capture &)> &use) {
    testing::internal::CaptureStderr();
    try {
      Capture capture(
          CaptureParameters{.targets = targets, .regions = true, .region_by_thread = by_thread});
      capture.attach();
      Plan plan = make_plan(chains);
      for (control_alarm &alarm : plan.alarm_table)
        if (alarm.type == CONTROL_TIMEOUT && alarm.value == 1'000'000'000)
          alarm.value = 0; // it is over at once
      Controller controller(std::move(plan), capture, by_thread, false);
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

  /// Gives these living processes their chains.
  static void begin(Controller &controller, Capture &capture, const std::vector<uint32_t> &pids) {
    controller.attach("", Identity(), pids);
    capture.snapshot();
    controller.start(pids);
    controller.begin_living();
  }

  /// Makes a program of this code.
  std::string make(const std::string &name, const std::string &code, const std::string &options) {
    std::ofstream(dir_ / name + options.substr(0, 2)) << code;
    const std::string build = "gcc -o " + (dir_ / name) + " " + (dir_ / name + options);
    EXPECT_EQ(std::system(build.c_str()), 0) << build;
    return dir_ / name;
  }

  const test::TempDir dir_;
  std::string thrown_;
};

/// A program that answers each byte with one. Before that, it creates a thread at the second byte,
/// and a process at the third, which ends at the fourth.
constexpr const char *kGrowing = R"(
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
static void *rest(void *arg) { for (;;) pause(); return arg; }
int main(void) {
  pthread_t thread;
  pid_t child = 0;
  char byte;
  for (int n = 1; read(0, &byte, 1) == 1; n++) {
    if (n == 2)
      pthread_create(&thread, 0, rest, 0);
    if (n == 3 && (child = fork()) == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      rest(0);
    }
    if (n == 4 && kill(child, SIGKILL) == 0)
      waitpid(child, 0, 0);
    if (write(1, &byte, 1) != 1)
      break;
  }
  return 0;
})";

/// The number of the thread that is not the main thread.
uint32_t second_thread(uint32_t pid) {
  uint32_t found = 0;
  for (const auto &entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task"))
    if (entry.path().filename() != std::to_string(pid))
      found = uint32_t(std::stoul(entry.path().filename()));
  return found;
}

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
             begin(controller, capture, {one.pid(), other.pid()});
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
                             begin(controller, capture, {one.pid()});
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

// The last messages of a command are of what it did: all of it is seen after the answer.
TEST_F(ControllerText, AChainThatACommandEndsHasFinishedBeforeTheAnswer) {
  const test::WaitingProgram one("/bin/cat");
  std::vector<std::string> chains(CONTROL_CHAINS / 2, "threadid:interactive");
  chains.resize(CONTROL_CHAINS, "threadid:interactive:count2");
  std::vector<long> finished;
  said(chains, {one.pid()}, false, [&](Controller &controller, Capture &capture) {
    begin(controller, capture, {one.pid()});
    for (int commands = 0; commands < 2; commands++) {
      controller.ask("start");
      const std::string text = test::text_of("/proc/self/fd/2"); // what was printed
      finished.push_back(std::count(text.begin(), text.end(), '\n'));
    }
  });
  EXPECT_EQ(thrown_, "");
  EXPECT_EQ(finished, (std::vector<long>{8, 16}));
}

TEST_F(ControllerText, NewThreadsAndProcessesHaveChains) {
  const test::WaitingProgram one(make("growing", kGrowing, ".c -pthread"));
  const std::string process = "process " + std::to_string(one.pid()) + ": in ",
                    inside = "ok\n" + process + "a region since ",
                    outside = "ok\n" + process + "no region\n";
  std::string before, stopped, with_thread, with_child, without;
  uint32_t second = 0;
  const Lines lines =
      said({"threadid:timeout:3600,name:late", "threadid:timeout:1:tid1,name:new",
            "precond:interactive:bcast,threadid:timeout:1:tid1,name:after",
            "precond:interactive:count2:global,threadid:timeout:1:tid1,name:all",
            "stop:interactive,name:end"},
           {one.pid()}, false, [&](Controller &controller, Capture &capture) {
             begin(controller, capture, {one.pid()});
             before = controller.ask("status");
             EXPECT_EQ(controller.ask("start"), "ok\nprecond:interactive:count2:global: 1 of 2\n");
             EXPECT_EQ(controller.ask("stop"), "ok\n");
             stopped = controller.ask("status");
             EXPECT_TRUE(one.turn());
             second = second_thread(one.pid());
             controller.ask("status"); // timeouts are over
             with_thread = controller.ask("status");
             EXPECT_EQ(controller.ask("start"), "ok\n");
             controller.ask("status"); // the timeout of all threads is over
             EXPECT_TRUE(one.turn());
             with_child = controller.ask("status");
             EXPECT_TRUE(one.turn());
             without = controller.ask("status");
           });
  EXPECT_EQ(thrown_, "");
  EXPECT_EQ(before.substr(0, inside.size()), inside) << "no alarm starts it";
  EXPECT_EQ(stopped, outside);
  EXPECT_EQ(with_thread, outside) << "a new thread does not start it again";
  EXPECT_EQ(std::count(with_child.begin(), with_child.end(), '\n'), 3) << with_child;
  EXPECT_NE(with_child.find(": in a region since "), std::string::npos) << "the child's own";
  EXPECT_EQ(without, outside);
  const std::string start = "ovnitrace: --control: chain ", end = " has finished in thread ",
                    again = "; `,repeat` at its end makes it start again";
  EXPECT_EQ(std::set<std::string>(lines.begin(), lines.end()),
            (std::set<std::string>{start + "end" + end + std::to_string(one.pid()) + again,
                                   start + "new" + end + std::to_string(second) + again,
                                   start + "after" + end + std::to_string(second) + again,
                                   start + "all" + end + std::to_string(second) + again}));
}

TEST_F(ControllerText, ABroadcastOpensTheRegionOfEachThread) {
  const test::WaitingProgram one(make("two", kGrowing, ".c -pthread"));
  ASSERT_TRUE(one.turn());
  const uint32_t second = second_thread(one.pid());
  std::string inside, outside;
  said({"start:interactive:bcast,stop:interactive:bcast"}, {one.pid()}, true,
       [&](Controller &controller, Capture &capture) {
         begin(controller, capture, {one.pid()});
         EXPECT_EQ(controller.ask("start"), "ok\n");
         inside = controller.ask("status");
         EXPECT_EQ(controller.ask("stop"), "ok\n");
         outside = controller.ask("status");
       });
  EXPECT_EQ(thrown_, "");
  for (const uint32_t tid : {one.pid(), second}) {
    const std::string start = "\nthread " + std::to_string(tid) + ": in ";
    EXPECT_NE(inside.find(start + "a region since "), std::string::npos) << inside;
    EXPECT_NE(outside.find(start + "no region\n"), std::string::npos) << outside;
  }
}

#if defined(__x86_64__)

/// A program that calls `called` for each byte, and answers with one.
std::string calling(const std::string &called) {
  return ".text\n.globl _start\n_start: xor %eax, %eax\n xor %edi, %edi\n"
         " lea byte(%rip), %rsi\n mov $1, %edx\n syscall\n call " +
         called +
         "\n mov $100, %ecx\nagain: dec %ecx\n jnz again\n mov $1, %eax\n mov $1, %edi\n"
         " lea byte(%rip), %rsi\n mov $1, %edx\n syscall\n jmp _start\n.type " +
         called + ", @function\n" + called + ": nop\n ret\n.size " + called +
         ", 2\n.data\nbyte: .quad 0\n.section .note.GNU-stack,\"\",@progbits\n";
}

TEST_F(ControllerText, TheProgramEndsOnlyAfterAllChainsHaveFinishedInOneProcess) {
  const test::WaitingProgram one(make("one", calling("work"), ".s -static -nostdlib")),
      other(make("other", calling("play"), ".s -static -nostdlib"));
  bool ended = true;
  const Lines lines = said(
      {"threadid:enter_func:work,name:a", "threadid:enter_func:play,name:b"},
      {one.pid(), other.pid()}, false, [&](Controller &controller, Capture &capture) {
        controller.attach("", Identity(), {}); // not before they have chains
        capture.snapshot();
        controller.end_program_after_chains(UniqueFd(int(syscall(SYS_pidfd_open, one.pid(), 0))));
        controller.start({one.pid(), other.pid()});
        controller.begin_living();
        EXPECT_TRUE(one.turn());
        controller.ask("status");
        EXPECT_TRUE(other.turn());
        controller.ask("status");
        ended = controller.ended_program();
      });
  EXPECT_EQ(thrown_, "");
  EXPECT_FALSE(ended);
  const std::string later = "the alarm is armed when a file that contains it is loaded",
                    start = "ovnitrace: --control: chain ", end = " has finished in thread ";
  EXPECT_EQ(lines, (Lines{missing("threadid:enter_func:work", later),
                          missing("threadid:enter_func:play", later),
                          start + "a" + end + std::to_string(one.pid()),
                          start + "b" + end + std::to_string(other.pid())}));
}

TEST_F(ControllerText, InstructionsAreCountedFromACommandOn) {
  const test::WaitingProgram one(make("one", calling("work"), ".s -static -nostdlib"));
  bool counted = false;
  said({"precond:interactive,start:icount:100"}, {one.pid()}, false,
       [&](Controller &controller, Capture &capture) {
         begin(controller, capture, {one.pid()});
         EXPECT_TRUE(one.turn());
         EXPECT_NE(controller.ask("status").find("in no region"), std::string::npos);
         EXPECT_EQ(controller.ask("start"), "ok\n");
         for (int turns = 0; turns < 10'000 && !counted && one.turn(); turns++)
           counted = controller.ask("status").find("in a region") != std::string::npos;
       });
  EXPECT_EQ(thrown_, "");
  EXPECT_TRUE(counted);
}

#endif

} // namespace
} // namespace ovnitrace::control
