// SPDX-License-Identifier: BSD-2-Clause
// A process that forks while threads log and change chunks: the child's copy can be used.
#include "tests/unit/support/ftrace_rig.h"

#include <csignal>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

using namespace ovnitrace::test;

namespace {

constexpr int CYC = FTRACE_CHUNK_FLAG_CYC, JTN = FTRACE_CHUNK_FLAG_JTN;

sem_t g_parked, g_go_on;

void park(int) {
  sem_post(&g_parked);
  while (sem_wait(&g_go_on) != 0) {
  }
}

class FtraceFork : public FtraceRig {
protected:
  FtraceFork() {
    sem_init(&g_parked, 0, 0);
    sem_init(&g_go_on, 0, 0);
    struct sigaction action {};
    action.sa_handler = park;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, &before_);
  }
  ~FtraceFork() override { sigaction(SIGUSR1, &before_, nullptr); }

  /// Forks again and again while a thread that logs is stopped wherever it is just then.
  template <typename InChild> void fork_while_logging(int chunk, int mode, InChild in_child);

  /// True if the child says so. One that hangs is killed.
  template <typename Check> static bool in_child(Check check) {
    constexpr unsigned kHangs = 60;
    const pid_t child = fork();
    if (child == 0) {
      alarm(kHangs);
      check();
      _exit(HasFailure());
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status == 0;
  }

private:
  struct sigaction before_;
};

template <typename InChild>
void FtraceFork::fork_while_logging(int chunk, int mode, InChild in_child_do) {
  constexpr int kTimes = 60;
  std::atomic<bool> over{false};
  std::thread logger([&] {
    for (unsigned i = 0; !over; i++)
      log(i);
  });
  for (int i = 0; i < kTimes && !HasFailure(); i++) {
    while (status(chunk).events == 0)
      std::this_thread::yield();
    pthread_kill(logger.native_handle(), SIGUSR1);
    sem_wait(&g_parked);
    EXPECT_TRUE(in_child(in_child_do)) << i;
    sem_post(&g_go_on);
    FTrace_disable();
    EXPECT_EQ(FTrace_set_chunk_flags(chunk, FTrace_flags(kFree | mode)), 0);
    EXPECT_EQ(FTrace_enable(), 0);
  }
  over = true;
  logger.join();
}

TEST_F(FtraceFork, EventsThatOtherThreadsHadStartedAreReportedAsLost) {
  int chunk = start(1 << 18, JTN);
  fork_while_logging(chunk, JTN, [&] {
    FTrace_disable();
    auto records = records_of(chunk);
    unsigned lost = 0, next = 0;
    for (const ftrace_record &record : records) {
      const bool first = &record == &records[0];
      if (said(record) == Said{FTrace_EVT_blackout_end, 0, 1})
        lost++, next++;
      else if (record.code == FTrace_EVT_blackout_start)
        break; // the chunk was full
      else
        EXPECT_TRUE(first || said(record) == user(next)) << record.code << " " << record.par2;
      if (record.code == FTrace_EVT_user_event_0)
        next = record.par2 + 1;
      EXPECT_TRUE(first || ftrace_record_tsc(&record) >= ftrace_record_tsc(&record - 1));
    }
    EXPECT_LE(lost, 1u);
    EXPECT_GE(status(chunk).lost, lost);
    // And it can be used from here on.
    EXPECT_EQ(FTrace_set_chunk_flags(chunk, kFree | JTN), 0);
    EXPECT_EQ(FTrace_enable(), 0);
    log(7);
    FTrace_disable();
    EXPECT_EQ(said_in(chunk), std::vector{user(7)});
  });
}

TEST_F(FtraceFork, ACyclicChunkGoesOn) {
  constexpr unsigned kSlots = 4;
  int chunk = start(kSlots, CYC);
  fork_while_logging(chunk, CYC, [&] {
    for (unsigned i = 0; i < 2 * kSlots; i++)
      log(i);
    FTrace_disable();
    EXPECT_EQ(status(chunk).lost, status(chunk).emergency_events ? 1u : 0u);
    auto records = said_in(chunk);
    ASSERT_GE(records.size(), size_t(kSlots));
    for (unsigned i = kSlots; i < 2 * kSlots; i++)
      EXPECT_EQ(std::count(records.begin(), records.end(), user(i)), 1) << i;
    if (status(chunk).lost) {
      const std::vector<Said> last(records.end() - 2, records.end());
      EXPECT_EQ(last, (std::vector<Said>{{FTrace_EVT_blackout_start, 0, 0},
                                         {FTrace_EVT_blackout_end, 0, 1}}));
    }
  });
}

TEST_F(FtraceFork, AFullChunkCanBeSent) {
  int chunk = start(1, JTN);
  fork_while_logging(chunk, JTN, [&] {
    FTrace_disable();
    EXPECT_EQ(records_of(chunk).size(), status(chunk).lost ? 3u : 1u);
  });
}

TEST_F(FtraceFork, WhileOthersAreInEveryPrimitive) {
  constexpr int kTimes = 40;
  int a = start(100, JTN), b = create(100000, kFree | JTN);
  log(1);
  ASSERT_EQ(FTrace_actual_chunk_select(b), 0);
  FTrace_disable();
  std::atomic<bool> over{false};
  std::thread changer([&] {
    while (!over) {
      FTrace_compress_chunk(b, JTN);
      FTrace_set_chunk_flags(b, kFree | JTN);
    }
  });
  std::thread sender([&] {
    std::string path = dir_ / "parent.dat";
    while (!over) {
      FTrace_init_disk_writer(path.data(), 0, nullptr, nullptr);
      FTrace_send_chunk(a, 0, JTN);
    }
  });
  for (int i = 0; i < kTimes && !HasFailure(); i++)
    EXPECT_TRUE(in_child([&] {
      EXPECT_EQ(said_in(a), std::vector{user(1)});
      EXPECT_EQ(FTrace_chunk_delete(b), 0);
    })) << i;
  over = true;
  changer.join();
  sender.join();
}

} // namespace
