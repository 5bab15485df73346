// SPDX-License-Identifier: BSD-2-Clause
// --stacks: the function that blocked is named, as perf names it at the same moment.
#include "emulator/input/stacks.h"
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/trace.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <utility>

namespace ovnitrace::test {

namespace {

using Names = std::vector<std::string>;

/// Blocks in a function that is inlined into one of a class. Calls the kernel itself: libc need not
/// have frame pointers.
constexpr char kBlocker[] = R"(
#include <sys/syscall.h>
#include <time.h>
namespace app {
inline __attribute__((always_inline)) void pause_here(long ns) {
  timespec time = {0, ns};
#if defined(__x86_64__)
  long result = SYS_nanosleep;
  asm volatile("syscall" : "+a"(result) : "D"(&time), "S"(0L) : "rcx", "r11", "memory");
#else
  register long number asm("x8") = SYS_nanosleep, at asm("x0") = (long)&time, no asm("x1") = 0;
  asm volatile("svc 0" : "+r"(at) : "r"(number), "r"(no) : "memory");
#endif
}
struct Worker {
  __attribute__((noinline)) void step(int n) {
    pause_here(1000000 + n);
    asm volatile("");
  }
};
__attribute__((noinline)) void outer(int n) {
  Worker().step(n);
  asm volatile("");
}
} // namespace app
int main(int argc, char **) {
  for (int n = 0; n < (argc > 1 ? 500 : 50); n++)
    app::outer(n);
}
)";

} // namespace

class StackCaptures : public CaptureTest {
protected:
  /// Compiles the blocker with these flags, and returns its path.
  std::string compile(const std::string &flags, const std::string &name = "blocker") {
    std::ofstream(path("blocker.cpp")) << kBlocker;
    const Outcome made = run({.argv = {"sh", "-c",
                                       "g++ -O2 -fno-optimize-sibling-calls " + flags + " -o '" +
                                           path(name) + "' '" + path("blocker.cpp") + "'"}});
    EXPECT_EQ(made.status(), 0) << made.err;
    return path(name);
  }
  /// The stack that was taken most often at blocks of the thread of this name.
  uint32_t most_frequent(const char *kind = "EXT_stack") {
    std::map<uint32_t, int> counts;
    for (const std::string &line : lines_of(run({.argv = {ovnitrace(), "dump", trace()}}).out))
      if (line.find(kind) != std::string::npos && line.find("blocker") != std::string::npos)
        counts[uint32_t(number_after(line, "stack="))]++;
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](auto &a, auto &b) { return a.second < b.second; });
    return most == counts.end() ? 0 : most->first;
  }
  Names names(uint32_t number, bool kernel) {
    const StackTable table = StackTable::read(trace(), silent_);
    Names all;
    for (const uint32_t index : table.frames(number))
      if (table.frame(index).kernel == kernel)
        all.push_back(table.name(index));
    return all;
  }
  /// Returns the functions of the program up to main().
  Names to_main(uint32_t number) {
    Names all = names(number, false);
    all.resize(size_t(std::find(all.begin(), all.end(), "main") - all.begin()));
    return all;
  }

private:
  NoDiagnostics silent_;
};

TEST_F(StackCaptures, NameTheFunctionThatBlockedAndWhatIsInlined) {
  record({compile("-g -fno-omit-frame-pointer")}, {"--stacks"});
  const uint32_t number = most_frequent();
  EXPECT_EQ(to_main(number), (Names{"app::pause_here", "app::Worker::step", "app::outer"}));
  const Names kernel = names(number, true);
  ASSERT_FALSE(kernel.empty());
  EXPECT_NE(std::find(kernel.begin(), kernel.end(), "hrtimer_nanosleep"), kernel.end());
  NoDiagnostics silent;
  const StackTable table = StackTable::read(trace(), silent);
  std::map<std::string, std::string> places;
  for (const uint32_t index : table.frames(number))
    places[table.name(index)] = table.place(index);
  EXPECT_EQ(places["app::pause_here"], "blocker.cpp:9");
  EXPECT_EQ(places["app::Worker::step"], "blocker.cpp:17");
  EXPECT_EQ(places["app::outer"], "blocker.cpp:22");
  EXPECT_EQ(places["main"], "blocker.cpp:28");
  EXPECT_FALSE(table.is_cut(number));
}

/// The program's file is gone: the names that the recording found are in the trace.
TEST_F(StackCaptures, NamesOfAStrippedProgramComeFromItsDebugFile) {
  const std::string program = compile("-g -fno-omit-frame-pointer -Wl,--build-id");
  const std::string split = "cd '" + path("") +
                            "' && objcopy --only-keep-debug blocker blocker.debug && strip -s "
                            "blocker && objcopy --add-gnu-debuglink=blocker.debug blocker";
  ASSERT_EQ(run({.argv = {"sh", "-c", split}}).status(), 0);
  record({program}, {"--stacks"});
  ASSERT_EQ(run({.argv = {"rm", program, path("blocker.debug")}}).status(), 0);
  EXPECT_EQ(to_main(most_frequent()),
            (Names{"app::pause_here", "app::Worker::step", "app::outer"}));
}

/// If there is no debug data during the recording, the names come from debug data that is there
/// later.
TEST_F(StackCaptures, AreCompletedWhenTheTraceIsRead) {
  const std::string program = compile("-g -fno-omit-frame-pointer -Wl,--build-id");
  ASSERT_EQ(run({.argv = {"cp", program, path("whole")}}).status(), 0);
  ASSERT_EQ(run({.argv = {"strip", "-s", program}}).status(), 0);
  record({program}, {"--stacks"});
  const uint32_t number = most_frequent();
  const Names bare = names(number, false);
  ASSERT_GE(bare.size(), 3u);
  EXPECT_TRUE(bare[0].starts_with("blocker+0x")) << bare[0];
  ASSERT_EQ(run({.argv = {"cp", path("whole"), program}}).status(), 0);
  EXPECT_EQ(to_main(number), (Names{"app::pause_here", "app::Worker::step", "app::outer"}));
  // another program of that name
  compile("-g -fno-omit-frame-pointer -Wl,--build-id -DX=1 -O1");
  EXPECT_EQ(names(number, false), bare);
}

TEST_F(StackCaptures, AgreeWithPerf) {
  if (run({.argv = {"sh", "-c", "command -v perf"}}).status() != 0)
    GTEST_SKIP() << "perf (linux-perf) is not installed";
  // Without debug data: perf would ask addr2line for what is inlined.
  Command command =
      record_command(trace(), {compile("-fno-omit-frame-pointer")}, {"-q", "--stacks"});
  command.argv.insert(command.argv.begin(),
                      {"perf", "record", "-q", "-m", "16M", "-a", "-g", "-k", "CLOCK_MONOTONIC",
                       "-e", "sched:sched_switch", "-o", path("perf.data"), "--"});
  const Outcome recorded = run(command);
  if (recorded.status() != 0 && !exists(trace() + "/trace.json"))
    GTEST_SKIP() << "perf cannot record here: " << recorded.err;
  ASSERT_EQ(recorded.status(), 0) << recorded.err;
  const Outcome script = run({.argv = {"perf", "script", "-i", path("perf.data"), "--comm",
                                       "blocker", "-F", "comm,tid,time,event,ip,sym"}});
  ASSERT_EQ(script.status(), 0) << script.err;
  std::map<Names, int> theirs; // how often it has seen each
  Names stack;
  // Where perf follows frame pointers from libc's code, it goes astray.
  const auto up_to_main = [](Names names) {
    names.erase(std::find(names.begin(), names.end(), "main"), names.end());
    return names;
  };
  for (const std::string &line : lines_of(script.out + "\n")) {
    const size_t name = line.rfind(' ');
    if (line.starts_with("\t") && line.find("__traceiter_") == std::string::npos)
      stack.push_back(line.substr(name + 1));
    if (line.empty() && !stack.empty())
      theirs[up_to_main(std::exchange(stack, {}))]++;
  }
  const uint32_t number = most_frequent();
  Names ours = names(number, true);
  for (const std::string &name : names(number, false))
    ours.push_back(name);
  ours = up_to_main(ours);
  EXPECT_GE(ours.size(), 7u);
  EXPECT_GE(theirs[ours], 45) << "of 50 blocks: " << testing::PrintToString(ours) << " of "
                              << testing::PrintToString(theirs);
}

TEST_F(StackCaptures, StacksWithoutCallFrameInformationShowWhereTheyEnd) {
  const std::string program =
      compile("-fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-exceptions");
  const Outcome recorded = run(record_command(trace(), {program}, {"--stacks"}));
  ASSERT_EQ(recorded.status(), 0) << recorded.err;
  EXPECT_NE(recorded.err.find("% end too early"), std::string::npos) << recorded.err;
  const Outcome info = run({.argv = {ovnitrace(), "info", trace()}});
  EXPECT_NE(info.out.find("% end too early"), std::string::npos) << info.out;
  EXPECT_EQ(names(most_frequent(), false).back(), "[frames missing]");
  const Outcome folded =
      run({.argv = {ovnitrace(), "export", "--to", "folded", trace(), "-o", "-"}});
  EXPECT_NE(folded.out.find("blocker;blocker;[frames missing];"), std::string::npos) << folded.out;
}

// The program blocks often, as on a busy machine its rules can come after many blocks.
TEST_F(StackCaptures, ShowTheNewProgramAfterAnExec) {
  const std::string program = compile("-fomit-frame-pointer");
  record({"sh", "-c", "sleep 0.05; '" + program + "'; exec '" + program + "' long"}, {"--stacks"});
  EXPECT_EQ(to_main(most_frequent()).back(), "app::outer");
  NoDiagnostics silent;
  EXPECT_FALSE(StackTable::read(trace(), silent).is_cut(most_frequent()));
}

TEST_F(StackCaptures, AnInterruptsWakeupHasTheInterruptsStack) {
  record({compile("-fno-omit-frame-pointer")}, {"--stacks=kernel,wakeup"});
  const Names kernel = names(most_frequent("EXT_waker_stack"), true);
  EXPECT_NE(std::find(kernel.begin(), kernel.end(), "hrtimer_wakeup"), kernel.end());
  EXPECT_TRUE(names(most_frequent(), false).empty()) << "only the kernel's part";
}

TEST_F(StackCaptures, TheFirstWakeupOfAThreadHasItsCreatorsStack) {
  record({installed("many_threads"), "5"}, {"--stacks=kernel,wakeup"});
  size_t with_stack = 0;
  DumpEvent before;
  for (const DumpEvent &event : dump(trace())) {
    if (event.detail("new") == "1" && before.event == "EXT_waker_stack") {
      EXPECT_EQ(before.tid, event.tid);
      const Names kernel = names(uint32_t(std::stoul(before.detail("stack"))), true);
      EXPECT_NE(std::find(kernel.begin(), kernel.end(), "wake_up_new_task"), kernel.end());
      with_stack++;
    }
    before = event;
  }
  EXPECT_GE(with_stack, 5u);
}

TEST_F(StackCaptures, AreFoldedWithTheirTimes) {
  record({compile("-fno-omit-frame-pointer")}, {"--stacks"});
  const Outcome folded =
      run({.argv = {ovnitrace(), "export", "--to", "folded", trace(), "-o", "-"}});
  ASSERT_EQ(folded.status(), 0) << folded.err;
  uint64_t blocked = 0;
  for (const std::string &line : lines_of(folded.out))
    if (line.starts_with("blocker;blocker;") &&
        line.find(";main;app::outer;app::Worker::step;") != std::string::npos &&
        line.find("_[k]") != std::string::npos)
      blocked += std::stoull(line.substr(line.rfind(' ') + 1));
  EXPECT_GE(blocked, 50'000'000u) << "50 times 1 ms";
}

/// The kernel's part of a stack is found by a hash of its memory, which has remains of other calls.
TEST_F(StackCaptures, TheKernelsPartIsThatOfTheCall) {
  record({installed("polls")}, {"--stacks"});
  const Outcome folded =
      run({.argv = {ovnitrace(), "export", "--to", "folded", trace(), "-o", "-"}});
  ASSERT_EQ(folded.status(), 0) << folded.err;
  const std::map<std::string, std::regex> functions = {
      {"::by_poll;", std::regex("^(?!.*sys_ppoll).*;do_sys_poll_")},
      {"::by_ppoll;", std::regex("sys_ppoll_.*;do_sys_poll_")},
      {"::by_pselect6;", std::regex("pselect6?_")},
      {"::by_epoll_wait;", std::regex("sys_epoll_wait_")},
      {"::by_clock_nanosleep;", std::regex("clock_nanosleep_.*;hrtimer_nanosleep_")}};
  std::map<std::string, uint64_t> blocked;
  for (const std::string &line : lines_of(folded.out))
    for (const auto &[caller, expected] : functions)
      if (line.find(caller) != line.npos && line.find("_[k]") != line.npos) {
        EXPECT_TRUE(std::regex_search(line, expected)) << line;
        blocked[caller] += std::stoull(line.substr(line.rfind(' ') + 1));
      }
  for (const auto &[caller, expected] : functions)
    EXPECT_GE(blocked[caller], 2 * 300 * 50'000u) << caller;
}

/// Those of the kernel are not counted.
TEST_F(StackCaptures, HaveAsManyFunctionsAsStackDepthSays) {
  record({compile("-O1 -fno-inline -fno-omit-frame-pointer")}, {"--stacks", "--stack-depth", "2"});
  const uint32_t number = most_frequent();
  EXPECT_EQ(names(number, false), (Names{"app::Worker::step", "app::outer", "[frames missing]"}));
  EXPECT_GT(names(number, true).size(), 2u);
  NoDiagnostics silent;
  EXPECT_TRUE(StackTable::read(trace(), silent).is_cut(number));
}

TEST_F(StackCaptures, CostNothingWithoutTheOption) {
  record({compile("-fno-omit-frame-pointer")});
  EXPECT_EQ(most_frequent(), 0u);
  NoDiagnostics silent;
  EXPECT_TRUE(StackTable::read(trace(), silent).empty());
}

TEST_F(StackCaptures, ADeepStackHas126Frames) {
  std::ofstream(path("blocker.cpp")) << R"(
#include <time.h>
__attribute__((noipa)) void down(int depth) {
  const timespec time = {0, 1000000};
  if (depth)
    down(depth - 1);
  else
    nanosleep(&time, nullptr);
  asm volatile("");
}
int main() {
  for (int n = 0; n < 50; n++)
    down(200);
}
)";
  const Outcome made =
      run({.argv = {"sh", "-c", "cd '" + path("") + "' && g++ -O1 -o blocker blocker.cpp"}});
  ASSERT_EQ(made.status(), 0) << made.err;
  record({path("blocker")}, {"--stacks=user"});
  const Names all = names(most_frequent(), false);
  EXPECT_EQ(all.size(), 127u) << "one of them says that some are missing";
  EXPECT_EQ(all.back(), "[frames missing]");
  const auto is_down = [](const std::string &name) { return name.starts_with("down"); };
  EXPECT_GE(std::count_if(all.begin(), all.end(), is_down), 120) << "the rest is the C library";
}

} // namespace ovnitrace::test
