// SPDX-License-Identifier: BSD-2-Clause
// A signal at each instruction of TRACER_LOGEVENT, whose handler logs too: it must come to an end.
#include "tests/unit/support/ftrace_rig.h"

#include <csignal>
#include <ctime>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ovnitrace::test;

namespace {

void log_in_handler(int) {
  TRACER_LOGEVENT(FTrace_EVT_user_event_1, 0, 2);
}

class FtraceInterrupted : public FtraceRig {
protected:
  FtraceInterrupted() {
    void *memory =
        mmap(nullptr, sizeof *shared_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared_ = static_cast<Shared *>(memory);
  }
  ~FtraceInterrupted() override { munmap(shared_, sizeof *shared_); }

  /// Interrupts the first event of a chunk after so many instructions by that of a handler. What
  /// the chunk holds is in shared_ then. False if it was logged before so many.
  bool interrupt(int slots, int mode, unsigned instructions);

  struct Shared {
    volatile bool logged;
    FTrace_Chunk status;
    ftrace_record records[8];
    size_t count;
  } * shared_;

private:
  [[noreturn]] void child(int slots, int mode);
};

void FtraceInterrupted::child(int slots, int mode) {
  constexpr unsigned kHangs = 60; // seconds; it is killed then rather than to go on for ever
  signal(SIGUSR1, log_in_handler);
  alarm(kHangs);
  int chunk = start(slots, mode);
  timespec now; // lest the dynamic linker look for it in the midst of logging
  clock_gettime(CLOCK_MONOTONIC, &now);
  ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  raise(SIGSTOP);
  log(1);
  shared_->logged = true;
  raise(SIGSTOP);
  FTrace_disable();
  shared_->status = status(chunk);
  auto records = records_of(chunk);
  shared_->count = records.size();
  for (size_t i = 0; i < records.size() && i < std::size(shared_->records); i++)
    shared_->records[i] = records[i];
  _exit(HasFailure());
}

bool FtraceInterrupted::interrupt(int slots, int mode, unsigned instructions) {
  *shared_ = {};
  const pid_t pid = fork();
  if (pid == 0)
    child(slots, mode);
  int status = 0;
  waitpid(pid, &status, 0);
  for (unsigned i = 0; i < instructions && WIFSTOPPED(status) && !shared_->logged; i++) {
    ptrace(PTRACE_SINGLESTEP, pid, nullptr, nullptr);
    waitpid(pid, &status, 0);
  }
  const bool in_time = !shared_->logged;
  for (long signal = SIGUSR1; WIFSTOPPED(status);) {
    ptrace(PTRACE_CONT, pid, nullptr, signal);
    waitpid(pid, &status, 0);
    signal = WIFSTOPPED(status) && WSTOPSIG(status) != SIGSTOP ? WSTOPSIG(status) : 0;
  }
  EXPECT_TRUE(WIFEXITED(status)) << "killed by " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  return in_time;
}

TEST_F(FtraceInterrupted, InTheOnlySlotOfACyclicChunk) {
  const Said begin{FTrace_EVT_blackout_start, 0, 0}, end{FTrace_EVT_blackout_end, 0, 1};
  const Said handlers{FTrace_EVT_user_event_1, 0, 2};
  size_t lost = 0, n = 0;
  for (; interrupt(1, FTRACE_CHUNK_FLAG_CYC, unsigned(n)) && !HasFailure(); n++) {
    SCOPED_TRACE(n);
    std::vector<Said> in_chunk;
    for (size_t i = 0; i < shared_->count; i++)
      in_chunk.push_back(said(shared_->records[i]));
    // One of both is there; that the other was overwritten is no loss.
    ASSERT_GE(in_chunk.size(), 1u);
    EXPECT_TRUE(in_chunk[0] == user(1) || in_chunk[0] == handlers);
    if (shared_->status.lost == 0) {
      EXPECT_EQ(in_chunk.size(), 1u);
      continue;
    }
    lost++;
    EXPECT_EQ(shared_->status.lost, 1u);
    EXPECT_EQ(in_chunk, (std::vector{user(1), begin, end}));
  }
  EXPECT_GT(lost, 0u);
  EXPECT_GT(n, 50u);
}

TEST_F(FtraceInterrupted, NothingIsLostWhereThereIsRoom) {
  for (int mode : {FTRACE_CHUNK_FLAG_CYC, FTRACE_CHUNK_FLAG_JTN}) {
    size_t n = 0;
    for (; interrupt(3, mode, unsigned(n)) && !HasFailure(); n += 3) {
      SCOPED_TRACE(n);
      EXPECT_EQ(shared_->count, 2u);
      EXPECT_EQ(shared_->status.lost, 0u);
    }
    EXPECT_GT(n, 50u);
  }
}

} // namespace
