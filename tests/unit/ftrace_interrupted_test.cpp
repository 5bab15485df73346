// SPDX-License-Identifier: BSD-2-Clause
// A signal at each instruction of TRACER_LOGEVENT, whose handler logs too, or forks: it must come
// to an end, and what is saved then must be right.
#include "tests/support/sanitizer.h"
#include "tests/unit/support/cases.h"
#include "tests/unit/support/ftrace_rig.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <functional>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ovnitrace::test;

namespace {

constexpr unsigned kHangs = 60; ///< seconds; who hangs is killed then
/// How many instructions are between two interruptions. The long run interrupts at each.
const unsigned kStride = cases(1) > 1 ? 1 : 7;

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
  void SetUp() override {
    if (kThreadSanitizer)
      GTEST_SKIP() << "ThreadSanitizer delivers signals later, and its own code is interrupted";
    if (ptrace(PTRACE_CONT, getpid(), nullptr, nullptr) != 0 && errno == ENOSYS)
      GTEST_SKIP() << "no ptrace here: this is qemu-user";
  }

  /// Logs event 0 and so on, `before` of them, into a new chunk, and interrupts the next one by the
  /// handler after so many instructions. What the chunk holds is in shared_ then. False if the
  /// event was logged before so many.
  bool interrupt(int slots, int mode, unsigned instructions, unsigned before = 0,
                 void (*handler)(int) = log_in_handler);

  /// Interrupts at each kStride-th instruction, and calls `check`. What must be seen may last only
  /// a few instructions: unless it was, the instructions between are tried, too. Returns how many
  /// instructions the event has.
  size_t interrupt_at_all(int slots, int mode, unsigned before, void (*handler)(int),
                          const std::function<void()> &check, const std::function<bool()> &seen) {
    size_t n = 0;
    for (size_t first = 0; first < kStride && !seen() && !HasFailure(); first++)
      for (n = first; interrupt(slots, mode, unsigned(n), before, handler) && !HasFailure();
           n += kStride) {
        SCOPED_TRACE(n);
        check();
      }
    return n;
  }

  /// Saves the chunk, with the clock's record before, into shared_.
  void save(int chunk);
  static void fork_and_save(int);
  static void delete_chunk(int);

  struct Shared {
    volatile bool logged;
    volatile int deleted; ///< what FTrace_chunk_delete() returned
    FTrace_Chunk status;
    ftrace_record records[8];
    size_t count;
    std::vector<ftrace_record> saved() const { return {records, records + count}; }
  } * shared_;

private:
  [[noreturn]] void child(int slots, int mode, unsigned before, void (*handler)(int));
};

FtraceInterrupted *g_test; ///< for handlers

void FtraceInterrupted::save(int chunk) {
  FTrace_disable();
  shared_->status = status(chunk);
  std::string path = dir_ / "saved.dat";
  EXPECT_EQ(FTrace_init_disk_writer(path.data(), 0, nullptr, nullptr), 0);
  EXPECT_EQ(FTrace_send_chunk(chunk, 0, shared_->status.flags & FTRACE_CHUNK_MODE_MASK), 0);
  const auto records = read_records(path);
  EXPECT_LE(records.size(), std::size(shared_->records));
  shared_->count = std::min(records.size(), std::size(shared_->records));
  std::copy_n(records.begin(), shared_->count, shared_->records);
}

/// The only chunk is saved by a child, which has not got the interrupted function.
void FtraceInterrupted::fork_and_save(int) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(kHangs);
    g_test->save(0);
    _exit(HasFailure());
  }
  int status = -1;
  if (waitpid(pid, &status, 0) != pid || status != 0)
    _exit(1);
}

void FtraceInterrupted::delete_chunk(int) {
  FTrace_disable();
  g_test->shared_->deleted = FTrace_chunk_delete(0);
}

void FtraceInterrupted::child(int slots, int mode, unsigned before, void (*handler)(int)) {
  g_test = this;
  signal(SIGUSR1, handler);
  alarm(kHangs);
  int chunk = start(slots, mode);
  for (unsigned i = 0; i < before; i++)
    log(i);
  timespec now; // lest the dynamic linker look for it in the midst of logging
  clock_gettime(CLOCK_MONOTONIC, &now);
  ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  raise(SIGSTOP);
  log(1);
  shared_->logged = true;
  raise(SIGSTOP);
  if (handler == log_in_handler)
    save(chunk);
  _exit(HasFailure());
}

bool FtraceInterrupted::interrupt(int slots, int mode, unsigned instructions, unsigned before,
                                  void (*handler)(int)) {
  *shared_ = {};
  const pid_t pid = fork();
  if (pid == 0)
    child(slots, mode, before, handler);
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

TEST_F(FtraceInterrupted, TheOnlySlotOfACyclicChunkLosesAtMostOneEvent) {
  const Said start{FTrace_EVT_blackout_start, 0, 0}, end{FTrace_EVT_blackout_end, 0, 1};
  const Said handlers{FTrace_EVT_user_event_1, 0, 2};
  size_t lost = 0;
  const auto check = [&] {
    std::vector<Said> in_chunk = said(shared_->saved());
    ASSERT_FALSE(in_chunk.empty());
    in_chunk.erase(in_chunk.begin()); // the clock
    // One of both is there; that the other was overwritten is no loss.
    ASSERT_GE(in_chunk.size(), 1u);
    EXPECT_TRUE(in_chunk[0] == user(1) || in_chunk[0] == handlers);
    if (shared_->status.lost == 0) {
      EXPECT_EQ(in_chunk.size(), 1u);
      return;
    }
    lost++;
    EXPECT_EQ(shared_->status.lost, 1u);
    EXPECT_EQ(in_chunk, (std::vector{user(1), start, end}));
  };
  EXPECT_GT(interrupt_at_all(1, FTRACE_CHUNK_FLAG_CYC, 0, log_in_handler, check,
                             [&] { return lost > 0; }),
            50u);
  EXPECT_GT(lost, 0u);
}

TEST_F(FtraceInterrupted, NothingIsLostWhereThereIsRoom) {
  for (int mode : {FTRACE_CHUNK_FLAG_CYC, FTRACE_CHUNK_FLAG_JTN}) {
    size_t n = 0;
    for (; interrupt(3, mode, unsigned(n)) && !HasFailure(); n += kStride) {
      SCOPED_TRACE(n);
      EXPECT_EQ(shared_->count, 3u); // with the clock
      EXPECT_EQ(shared_->status.lost, 0u);
    }
    EXPECT_GT(n, 50u);
  }
}

TEST_F(FtraceInterrupted, AStopChunkStopsOnce) {
  const Said handlers{FTrace_EVT_user_event_1, 0, 2}, stop{FTrace_EVT_trace_stop, 0, 0};
  size_t n = 0;
  for (; interrupt(1, FTRACE_CHUNK_FLAG_STOP, unsigned(n)) && !HasFailure(); n += kStride) {
    SCOPED_TRACE(n);
    const std::vector<Said> saved = said(shared_->saved());
    ASSERT_EQ(saved.size(), 3u); // with the clock
    EXPECT_TRUE(saved[1] == user(1) || saved[1] == handlers);
    EXPECT_EQ(saved[2], stop);
  }
  EXPECT_GT(n, 50u);
}

TEST_F(FtraceInterrupted, AForkedChildsClockStartsAtItsFirstEvent) {
  // The slot that the child's copy of the event never fills is in a cyclic chunk still empty.
  size_t empty = 0;
  const auto check = [&] {
    const auto saved = shared_->saved();
    ASSERT_GE(saved.size(), 2u);
    EXPECT_EQ(said(saved[0]), (Said{FTrace_EVT_cycles_per_msec, 0, 1000000}));
    EXPECT_EQ(said(saved[1]), user(0));
    EXPECT_EQ(ftrace_record_tsc(&saved[0]), ftrace_record_tsc(&saved[1]));
    empty += saved.size() > 2 && saved[2].code == FTrace_EVT_empty;
  };
  EXPECT_GT(interrupt_at_all(3, FTRACE_CHUNK_FLAG_CYC, 1, fork_and_save, check,
                             [&] { return empty > 0; }),
            50u);
  EXPECT_GT(empty, 0u);
}

TEST_F(FtraceInterrupted, AForkedChildsFullStopChunkHasStopped) {
  const Said cut{FTrace_EVT_blackout_end, 0, 1}, stop{FTrace_EVT_trace_stop, 0, 0};
  size_t cuts = 0, full = 0;
  const auto check = [&] {
    std::vector<Said> saved = said(shared_->saved());
    ASSERT_GE(saved.size(), 2u);
    saved.erase(saved.begin()); // the clock
    std::erase(saved, Said{});  // a slot of the emergency area that is not filled
    if (shared_->status.events < 2) {
      EXPECT_EQ(saved, std::vector{user(0)});
      return;
    }
    full++;
    ASSERT_EQ(saved.size(), 3u);
    cuts += saved[1] == cut;
    EXPECT_TRUE(saved[1] == cut || saved[1] == user(1));
    EXPECT_EQ(saved[2], stop);
  };
  interrupt_at_all(2, FTRACE_CHUNK_FLAG_STOP, 1, fork_and_save, check,
                   [&] { return cuts > 0 && full > cuts; });
  EXPECT_GT(cuts, 0u);
  EXPECT_GT(full, cuts);
}

// A thread that was stopped in the middle of an event is waited for, but not for ever.
TEST_F(FtraceInterrupted, AChunkIsBusyWhileAnEventIsInIt) {
  size_t busy = 0, gone = 0;
  const auto check = [&] {
    EXPECT_TRUE(shared_->deleted == 0 || shared_->deleted == FTRACE_E_BUSY) << shared_->deleted;
    (shared_->deleted == 0 ? gone : busy)++;
  };
  interrupt_at_all(2, FTRACE_CHUNK_FLAG_JTN, 0, delete_chunk, check, [&] { return busy > 0; });
  EXPECT_GT(busy, 0u);
  EXPECT_GT(gone, 0u);
}

} // namespace
