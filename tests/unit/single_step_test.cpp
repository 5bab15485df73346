// SPDX-License-Identifier: BSD-2-Clause
// The process that traces threads for icount and int3, with chains of the test's own:
// user/control/single_step and tracer.
#include "emulator/base/error.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/fake_chains.h"
#include "tests/unit/support/temp_dir.h"
#include "user/control/single_step.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <optional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#if defined(__x86_64__)

namespace ovnitrace::control {
namespace {

using test::eventually;
using test::FakeChains;
using test::ObedientChild;
using test::status_of;

constexpr uint64_t kTraps = 5, kCounts = 2; // alarms of kPlan, a bit each
const std::vector<std::string> kPlan = {"start:int3,stop:icount:5,threadid:int3"};

volatile sig_atomic_t handled;
void handle(int) {
  handled = handled + 1;
}

/// Sends itself a signal with the code that it shall have.
void send_itself(int signal, int code) {
  siginfo_t info = {};
  info.si_signo = signal;
  info.si_code = code;
  syscall(SYS_rt_sigqueueinfo, getpid(), signal, &info);
}

/// The codes of SIGTRAP that a child sends itself, by command.
constexpr std::pair<char, int> kCodes[] = {{'a', SI_KERNEL},  {'b', TRAP_TRACE}, {'c', TRAP_BRKPT},
                                           {'d', SIGTRAP},    {'e', SI_USER},    {'f', SI_QUEUE},
                                           {'g', TRAP_HWBKPT}};

/// What the children do. The answer to `n` is how many signals they have handled since the last.
char act(char command) {
  for (const auto &[letter, code] : kCodes)
    if (command == letter)
      send_itself(SIGTRAP, code);
  switch (command) {
  case 'h':
    for (const int signal : {SIGTRAP, SIGUSR1})
      std::signal(signal, handle);
    return command;
  case 'i':
    asm volatile("int3");
    return command;
  case 'k': // as the BPF programs stop it
    send_itself(SIGSTOP, SI_KERNEL);
    return command;
  case 'n': {
    const char count = char('0' + handled);
    handled = 0;
    return count;
  }
  case 'p': {
    const pid_t self = getpid();
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      while (getppid() == self)
        pause();
      _exit(0); // it has ended before
    }
    return command;
  }
  default:
    return command;
  }
}

class SingleSteps : public testing::Test {
protected:
  void start(const std::vector<std::string> &chains = kPlan) {
    plan_ = make_plan(chains);
    step_.emplace(plan_, chains_);
    try {
      step_->trace(child_.pid());
    } catch (const ovnitrace::Error &error) {
      GTEST_SKIP() << error.what();
    }
  }
  uint32_t tracer_of(uint32_t pid) const {
    const std::string text = status_of(pid, "TracerPid");
    return text.empty() ? 0 : uint32_t(std::stoul(text));
  }
  /// How many signals the child has handled after this command.
  char handled_after(char command) const {
    EXPECT_EQ(child_.turn(command), command);
    return child_.turn('n');
  }
  FakeChains::Hit hit(uint64_t alarms) const { return {0, child_.pid(), alarms}; }
  /// Lets the child go from instruction to instruction.
  void step(uint32_t hits) {
    chains_.step(hits);
    step_->look(0, child_.pid());
    EXPECT_TRUE(eventually([&] { return !chains_.hits().empty(); }));
  }

  Plan plan_;
  FakeChains chains_;
  const ObedientChild child_{act};
  std::optional<SingleStep> step_;
};
using Hits = std::vector<FakeChains::Hit>;

TEST_F(SingleSteps, ATracedProcessGoesOnUntilItIsLetGo) {
  start();
  EXPECT_TRUE(chains_.stops_for_tracer());
  const uint32_t tracer = tracer_of(child_.pid());
  EXPECT_GT(tracer, 0u);
  EXPECT_NE(tracer, uint32_t(getpid()));
  EXPECT_TRUE(eventually([&] { return status_of(tracer, "Name") == "ovt-steps"; }));
  EXPECT_EQ(child_.turn('1'), '1');
  step_.reset();
  EXPECT_FALSE(chains_.stops_for_tracer());
  EXPECT_EQ(tracer_of(child_.pid()), 0u);
  EXPECT_EQ(child_.turn('2'), '2');
  EXPECT_EQ(chains_.hits(), Hits());
}

TEST_F(SingleSteps, SaysWhyAThreadCannotBeTraced) {
  plan_ = make_plan(kPlan);
  step_.emplace(plan_, chains_);
  ASSERT_EQ(ptrace(PTRACE_SEIZE, child_.pid(), nullptr, 0), 0);
  for (const auto &[tid, why] :
       {std::pair(child_.pid(), "Operation not permitted"), {0x7ffffffeu, "No such process"}})
    try {
      step_->trace(tid);
      ADD_FAILURE() << tid;
    } catch (const ovnitrace::Error &error) {
      EXPECT_EQ(std::string(error.what()),
                "--control: icount, uniform and int3 need ptrace, which the kernel refuses for " +
                    std::to_string(tid) + ": " + why +
                    "; is a debugger or strace attached to it, or CAP_SYS_PTRACE missing?");
    }
}

TEST_F(SingleSteps, OneThreadOrThoseOfAProcessOrAllAreLookedAt) {
  const ObedientChild other;
  const auto looks = [&] {
    child_.turn('1'); // it has taken what was sent to it before
    other.turn('1');
    return std::pair(chains_.hits_of(child_.pid()), chains_.hits_of(other.pid()));
  };
  using Looks = std::pair<size_t, size_t>;
  start();
  chains_.list(child_.pid(), other.pid());
  step_->look(child_.pid(), child_.pid());
  EXPECT_TRUE(eventually([&] { return chains_.hits_of(child_.pid()) == 1; }));
  EXPECT_EQ(tracer_of(other.pid()), 0u);
  step_->look(other.pid());
  EXPECT_TRUE(eventually([&] { return chains_.hits_of(other.pid()) == 1; }));
  EXPECT_EQ(looks(), Looks(1, 1));
  EXPECT_EQ(tracer_of(other.pid()), tracer_of(child_.pid())) << "it is traced from here on";
  step_->look(child_.pid());
  EXPECT_TRUE(eventually([&] { return chains_.hits_of(child_.pid()) == 2; }));
  EXPECT_EQ(looks(), Looks(2, 1));
  step_->look(0);
  EXPECT_TRUE(eventually([&] { return looks() == Looks(3, 2); }));
}

TEST_F(SingleSteps, EachInstructionIsAHitWhileTheyAreCounted) {
  start();
  step(100);
  while (chains_.steps_left())
    ASSERT_EQ(child_.turn('1'), '1');
  for (const char byte : {'2', '3'})
    EXPECT_EQ(child_.turn(byte), byte);
  Hits expected(101, hit(kCounts));
  expected[0] = hit(0);
  EXPECT_EQ(chains_.hits(), expected);
}

TEST_F(SingleSteps, ANewProgramIsCountedFromItsFirstInstruction) {
  const test::TempDir dir;
  std::ofstream(dir / "seven.s") << ".text\n.globl _start\n_start: nop\n mov $39, %eax\n syscall\n"
                                    " nop\n nop\n mov $60, %eax\n xor %edi, %edi\n syscall\n"
                                    ".section .note.GNU-stack,\"\",@progbits\n";
  const std::string program = dir / "seven",
                    build = "gcc -static -nostdlib " + (dir / "seven.s") + " -o " + program;
  ASSERT_EQ(std::system(build.c_str()), 0) << build;
  const ObedientChild starter([&](char byte) {
    if (byte == 'e')
      execl(program.c_str(), program.c_str(), nullptr);
    return byte;
  });
  start();
  chains_.step(1000);
  step_->trace(starter.pid());
  starter.tell('e');
  siginfo_t end;
  ASSERT_EQ(waitid(P_PID, starter.pid(), &end, WEXITED | WNOWAIT), 0);
  Hits expected(8, {0, starter.pid(), kCounts});
  expected[0].alarms = 0;
  EXPECT_EQ(chains_.hits(), expected);
}

TEST_F(SingleSteps, AnInt3IsAHitOfItsAlarmsAndNoSignal) {
  start();
  child_.turn('h');
  EXPECT_EQ(handled_after('i'), '0');
  EXPECT_EQ(chains_.hits(), Hits{hit(kTraps)});
  EXPECT_EQ(handled_after('i'), '0');
  EXPECT_EQ(chains_.hits(), Hits(2, hit(kTraps)));
}

TEST_F(SingleSteps, AnInt3IsTheProgramsOwnWithoutSuchAlarms) {
  start({"start:icount:5"});
  child_.turn('h');
  EXPECT_EQ(handled_after('i'), '1');
  EXPECT_EQ(chains_.hits(), Hits());
}

TEST_F(SingleSteps, OtherSignalsReachTheProgram) {
  start();
  child_.turn('h');
  for (const auto &[command, code] : kCodes)
    EXPECT_EQ(handled_after(command), code == SI_KERNEL ? '0' : '1') << command;
  kill(pid_t(child_.pid()), SIGUSR1);
  EXPECT_TRUE(eventually([&] { return child_.turn('n') == '1'; }));
  EXPECT_EQ(chains_.hits(), Hits{hit(kTraps)}) << "the one that looks like an int3";
}

TEST_F(SingleSteps, SignalsThatComeOfTracingDoNot) {
  start();
  step(UINT32_MAX);
  for (const auto &[command, code] : kCodes) {
    child_.turn('h'); // a step in a handler of SIGTRAP takes the handler away
    EXPECT_EQ(handled_after(command), code == SI_QUEUE || code == TRAP_HWBKPT ? '1' : '0')
        << command;
  }
  kill(pid_t(child_.pid()), SIGUSR1);
  EXPECT_TRUE(eventually([&] { return child_.turn('n') == '1'; }));
}

// The parent of a program, such as a shell, sees these stops as without a tracer.
TEST_F(SingleSteps, AStoppedProcessStaysStoppedUntilItIsContinued) {
  start();
  size_t looks = 0;
  for (const int signal : {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU}) {
    kill(pid_t(child_.pid()), signal);
    int status = 0;
    ASSERT_EQ(waitpid(pid_t(child_.pid()), &status, WUNTRACED), pid_t(child_.pid()));
    EXPECT_TRUE(WIFSTOPPED(status) && WSTOPSIG(status) == signal) << status;
    kill(pid_t(child_.pid()), SIGCONT);
    EXPECT_EQ(child_.turn('1'), '1');
    EXPECT_EQ(chains_.hits().size(), ++looks) << signal << ": looked at when it goes on";
  }
}

TEST_F(SingleSteps, AThreadThatHasLoadedCodeWaitsToBeReleased) {
  start();
  EXPECT_FALSE(step_->next_held());
  EXPECT_EQ(child_.turn('k'), 'k') << "it need not wait";
  EXPECT_EQ(chains_.hits(), Hits{hit(0)});
  chains_.hold();
  child_.tell('k');
  pollfd file = {step_->file(), POLLIN, 0};
  ASSERT_EQ(poll(&file, 1, 60'000), 1);
  const auto held = step_->next_held();
  ASSERT_TRUE(held);
  EXPECT_EQ(held->pid, child_.pid());
  EXPECT_EQ(held->tid, child_.pid());
  EXPECT_FALSE(step_->next_held()) << "one of them";
  step_->release(1); // which does not wait
  EXPECT_TRUE(eventually([&] { return status_of(child_.pid(), "State").starts_with("t"); }));
  step_->release(child_.pid());
  EXPECT_EQ(child_.answer(), 'k');
  EXPECT_EQ(chains_.hits(), Hits(2, hit(0)));
}

TEST_F(SingleSteps, OneThatIsLookedAtOrExecutesAProgramMayHaveToWait) {
  const ObedientChild starter([](char byte) {
    if (byte == 'e')
      execl("/bin/cat", "/bin/cat", nullptr); // which reads what we write, and ends
    return byte;
  });
  start();
  step_->trace(starter.pid());
  const auto wait_for = [&](uint32_t tid) {
    pollfd file = {step_->file(), POLLIN, 0};
    ASSERT_EQ(poll(&file, 1, 60'000), 1);
    const auto held = step_->next_held();
    ASSERT_TRUE(held);
    EXPECT_EQ(held->tid, tid);
    EXPECT_TRUE(eventually([&] { return status_of(tid, "State").starts_with("t"); }));
    EXPECT_EQ(chains_.hits().back().tid, tid);
    step_->release(tid);
    EXPECT_TRUE(eventually([&] { return !status_of(tid, "State").starts_with("t"); }));
  };
  chains_.hold();
  step_->look(0, child_.pid());
  wait_for(child_.pid());
  EXPECT_EQ(child_.turn('1'), '1');
  chains_.hold();
  starter.tell('e');
  wait_for(starter.pid());
  EXPECT_TRUE(eventually([&] { return status_of(starter.pid(), "Name") == "cat"; }));
}

TEST_F(SingleSteps, ThreadsThatWaitOrAreCountedAreLetGoAtTheEnd) {
  start();
  chains_.hold();
  child_.tell('k');
  pollfd file = {step_->file(), POLLIN, 0};
  ASSERT_EQ(poll(&file, 1, 60'000), 1);
  step_.reset();
  EXPECT_EQ(child_.answer(), 'k');
  EXPECT_EQ(tracer_of(child_.pid()), 0u);
  start();
  step(UINT32_MAX);
  EXPECT_EQ(child_.turn('1'), '1');
  step_.reset();
  EXPECT_EQ(child_.turn('2'), '2') << "no signal of the tracer has killed it";
  EXPECT_EQ(tracer_of(child_.pid()), 0u);
}

TEST_F(SingleSteps, ItIsSaidOnceThatTheTracerHasEnded) {
  start();
  kill(pid_t(tracer_of(child_.pid())), SIGKILL);
  pollfd file = {step_->file(), POLLIN, 0};
  ASSERT_EQ(poll(&file, 1, 60'000), 1);
  try {
    step_->next_held();
    ADD_FAILURE();
  } catch (const ovnitrace::Error &error) {
    EXPECT_STREQ(error.what(), "the process that counts instructions has ended: icount, uniform "
                               "and int3 no longer hit");
  }
  EXPECT_EQ(step_->file(), -1);
  EXPECT_FALSE(chains_.stops_for_tracer());
  const std::string why = test::error_from([&] { step_->trace(child_.pid()); });
  EXPECT_NE(why.find(std::to_string(child_.pid()) + ": No such process;"), why.npos) << why;
  EXPECT_EQ(child_.turn('1'), '1');
}

TEST_F(SingleSteps, AChildIsTracedIfItHasChains) {
  start();
  const auto new_child = [&](size_t hits) {
    EXPECT_EQ(child_.turn('p'), 'p');
    EXPECT_TRUE(eventually([&] { return chains_.hits().size() == hits; }));
    return chains_.hits().back().tid;
  };
  const uint32_t known = new_child(1);
  EXPECT_NE(known, child_.pid());
  EXPECT_EQ(tracer_of(known), tracer_of(child_.pid()));
  chains_.know_only(child_.pid());
  const uint32_t unknown = new_child(2);
  EXPECT_NE(unknown, known);
  EXPECT_TRUE(eventually([&] { return tracer_of(unknown) == 0; }));
  EXPECT_EQ(tracer_of(known), tracer_of(child_.pid()));
  EXPECT_TRUE(eventually([&] { return status_of(unknown, "State").starts_with("S"); }))
      << "it goes on";
  chains_.list(unknown, 0);
  step_->look(unknown);
  EXPECT_TRUE(eventually([&] { return chains_.hits_of(unknown) == 2; })) << "it has chains now";
}

} // namespace
} // namespace ovnitrace::control

#endif
