// SPDX-License-Identifier: BSD-2-Clause
// The system call in which a thread is blocked, in real captures. A program blocks on purpose, and
// prints in which call it blocks and which call the kernel's /proc shows.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/process.h"
#include "tests/e2e/support/trace.h"

#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <set>
#include <sstream>

namespace ovnitrace::test {

namespace {

/// One line of the program.
struct Block {
  std::string thread, name, number, seen;
};

std::vector<Block> parse_blocks(const std::string &text) {
  std::vector<Block> blocks;
  std::istringstream in(text);
  for (Block block; in >> block.thread >> block.name >> block.number >> block.seen;)
    blocks.push_back(block);
  return blocks;
}

/// Returns the call in which a thread of this name was blocked longest. Its exit does not count: on
/// a slow machine, it may take longer than the block before it.
std::string longest_block(const std::vector<DumpEvent> &events, const std::string &thread) {
  std::string call;
  uint64_t longest = 0, since = 0;
  const DumpEvent *sleep = nullptr;
  for (const DumpEvent &event : events) {
    if (event.comm != thread)
      continue;
    if (event.event == "task_sleep") {
      sleep = &event;
      since = event.time;
    } else if (sleep && event.event == "task_activate") {
      if (event.time - since > longest && !sleep->detail("call").starts_with("exit")) {
        longest = event.time - since;
        call = sleep->detail("call");
      }
      sleep = nullptr;
    }
  }
  return call;
}

/// Returns false if the kernel executes no such programs.
bool can_execute(std::string program) {
  char *arguments[] = {program.data(), nullptr};
  pid_t pid = 0;
  const int error = posix_spawn(&pid, program.c_str(), nullptr, nullptr, arguments, environ);
  EXPECT_TRUE(error == 0 || error == ENOEXEC) << program << ": " << strerror(error);
  if (error)
    return false;
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  return true;
}

} // namespace

class BlockedIn : public CaptureTest, public testing::WithParamInterface<const char *> {};

TEST_P(BlockedIn, IsTheCallThatTheProgramSaysAndProcShowed) {
  const std::string program = std::string("blocks") + GetParam();
#ifndef __x86_64__
  if (program == "blocks_i386")
    GTEST_SKIP() << "a program of x86";
#endif
  if (program == "blocks_i386" && !can_execute(installed(program)))
    GTEST_SKIP() << "this kernel runs no 32-bit program";
  const Outcome outcome = record({installed(program)});
  const std::vector<Block> blocks = parse_blocks(outcome.out);
  EXPECT_GE(blocks.size(), 25u) << outcome.out << outcome.err;
  const std::vector<DumpEvent> events = dump(trace());
  const std::string suffix = program == "blocks_i386" ? "_(32-bit)" : "";
  for (const Block &block : blocks) {
    const std::string expected = block.name == "none" ? "no_system_call" : block.name + suffix;
    EXPECT_EQ(longest_block(events, block.thread), expected) << block.thread;
    EXPECT_EQ(block.seen, block.number) << "/proc was asked while " << block.thread << " blocked";
  }
  EXPECT_GT(std::ranges::count_if(events,
                                  [](const DumpEvent &event) {
                                    return event.comm == "yields" &&
                                           event.detail("reason") == "yielded";
                                  }),
            100)
      << "of 500 switches from one yielding thread to the other";
}

INSTANTIATE_TEST_SUITE_P(Programs, BlockedIn, testing::Values("", "_static", "_i386"),
                         [](const auto &info) {
                           const std::string name = info.param;
                           return name.empty() ? "Dynamic" : name.substr(1);
                         });

class BlockedBefore : public CaptureTest {
protected:
  /// Returns the call that the snapshot of a thread has.
  std::string call_of(uint32_t tid) {
    for (const DumpEvent &event : dump(trace()))
      if (event.event == "EXT_snapshot" && event.tid == tid)
        return event.detail("call");
    return "no snapshot";
  }
};

/// Only the snapshot has this call.
TEST_F(BlockedBefore, IsInTheSnapshotOfAProcess) {
  const Process program({.argv = {"sleep", "60"}});
  const std::string proc = "/proc/" + std::to_string(program.pid());
  ASSERT_TRUE(eventually(
      [&] {
        return read_text(proc + "/comm") == "sleep\n" &&
               read_text(proc + "/syscall").starts_with(std::to_string(SYS_clock_nanosleep) + " ");
      },
      "it sleeps"));
  record({}, {"-p", std::to_string(program.pid()), "-d", "0.1"});
  EXPECT_EQ(call_of(uint32_t(program.pid())), "clock_nanosleep");
}

TEST_F(BlockedBefore, KernelThreadsAreInNone) {
  record({}, {"-a", "-d", "0.1"});
  EXPECT_EQ(call_of(2), "no_system_call") << "kthreadd";
  std::set<std::string> of_workers;
  for (const DumpEvent &event : dump(trace()))
    if (event.event == "task_sleep" && event.comm.starts_with("rcu_"))
      of_workers.insert(event.detail("call"));
  of_workers.erase("no_system_call");
  EXPECT_EQ(of_workers, std::set<std::string>{});
}

} // namespace ovnitrace::test
