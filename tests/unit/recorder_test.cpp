// SPDX-License-Identifier: BSD-2-Clause
// The reader of a real capture: user/record/recorder. Needs root.
#include "user/record/recorder.h"

#include "emulator/base/clock.h"
#include "emulator/base/error.h"
#include "tests/unit/support/chunk_store.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/ordered_child.h"
#include "user/record/host.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <iterator>
#include <optional>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace ovnitrace {
namespace {

using test::OrderedChild;
using test::StoredRecord;

/// The test, its child and the reader have one CPU. An order then takes the CPU from the test to
/// the child and back.
class RecorderTest : public testing::Test {
protected:
  void SetUp() override {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_ = 0;
    while (!CPU_ISSET(cpu_, &before_))
      cpu_++;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu_, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  void TearDown() override { sched_setaffinity(0, sizeof before_, &before_); }

  /// Loads a capture of the child. Returns false if the test is to be skipped.
  bool load(const OrderedChild &child, size_t ring_bytes = 1 << 20) {
    try {
      capture_.emplace(CaptureParameters{.targets = {child.pid()}, .ring_bytes = ring_bytes});
      return true;
    } catch (const Error &error) {
      EXPECT_NE(geteuid(), 0u) << error.what();
      return false;
    }
  }
  void make_recorder() {
    begin_ = monotonic_ns();
    recorder_.emplace(*capture_, families_ ? &*families_ : nullptr, nullptr, nullptr, store_,
                      begin_);
  }
  void attach() {
    capture_->attach();
    capture_->snapshot();
  }
  void finish() {
    capture_->detach();
    recorder_->finish();
  }
  static void turn(const OrderedChild &child, int times) {
    for (int n = 0; n < times; n++)
      child.order('x');
  }
  /// What the kernel has counted, also what came too late.
  uint64_t logged() const {
    uint64_t sum = 0;
    for (uint32_t cpu = 0; cpu < capture_->cpus(); cpu++)
      sum += capture_->stage(cpu).events + capture_->stage(cpu).count;
    return sum;
  }

  cpu_set_t before_;
  uint32_t cpu_ = 0; ///< of the test
  uint64_t begin_ = 0;
  test::ChunkStore store_;
  std::optional<Capture> capture_;
  std::optional<FamilyCapture> families_;
  std::optional<Recorder> recorder_;
};

#define LOAD_OR_SKIP(...)                                                                          \
  if (!load(__VA_ARGS__))                                                                          \
  GTEST_SKIP() << "only root may load BPF programs"

/// Executes /bin/true with two arguments.
void run_true() {
  const pid_t program = fork();
  if (program == 0) {
    execl("/bin/true", "/bin/true", "one", "two", nullptr);
    _exit(1);
  }
  waitpid(program, nullptr, 0);
}

TEST_F(RecorderTest, AFlushHandsOverAllThatIsOlderThanTheTimeThatItReturns) {
  const OrderedChild child([](char order) {
    if (order == 't')
      run_true();
  });
  LOAD_OR_SKIP(child);
  make_recorder();
  std::thread::id beginner;
  recorder_->start([&] {
    beginner = std::this_thread::get_id();
    attach();
  });
  EXPECT_NE(beginner, std::this_thread::get_id());
  turn(child, 100);
  child.order('t');
  const uint64_t worked = monotonic_ns();
  uint64_t flushed = 0;
  for (int n = 0; n < 1000 && flushed < worked; n++) // the first ones do not know it yet
    flushed = recorder_->flush();
  EXPECT_GE(flushed, worked);
  EXPECT_LE(flushed, monotonic_ns());
  const size_t handed = store_.transitions(0, flushed);
  EXPECT_GE(store_.all_of(FTrace_EVT_task_dispatch).size(), 100u);
  EXPECT_GE(recorder_->take_fullest_ring(), sizeof(sched_batch)) << "one at least was full";
  EXPECT_EQ(recorder_->take_fullest_ring(), 0u) << "since then nothing came";

  EXPECT_EQ(recorder_->threads_so_far(), 2u);
  const ThreadsSoFar threads = recorder_->copy_threads();
  EXPECT_EQ(threads.registry.all().count(child.pid()), 1u);
  ASSERT_EQ(threads.command_lines.all().size(), 1u);
  EXPECT_EQ(threads.command_lines.all()[0].text, "/bin/true one two");
  EXPECT_FALSE(recorder_->cgroups().paths().empty());

  turn(child, 50);
  finish();
  EXPECT_EQ(store_.transitions(0, flushed), handed);
  EXPECT_GE(store_.all_of(FTrace_EVT_task_dispatch).size(), 150u);
  EXPECT_EQ(recorder_->threads().registry.count(), 2u);
  EXPECT_EQ(recorder_->threads().command_lines.all().size(), 1u);
  EXPECT_EQ(recorder_->records(), store_.records());
  EXPECT_GT(recorder_->events(), 300u);
  EXPECT_LT(recorder_->events(), recorder_->records());
  EXPECT_EQ(recorder_->regions(), 0u);
  uint64_t counted = 0, lost = 0, of_families = 0;
  for (const CpuCount &count : recorder_->counts()) {
    counted += count.events;
    lost += count.lost;
    of_families += count.family_events;
  }
  EXPECT_EQ(counted, logged());
  EXPECT_EQ(lost, 0u);
  EXPECT_EQ(of_families, 0u);
  for (uint32_t cpu = 0; cpu < capture_->cpus(); cpu++)
    EXPECT_EQ(store_.cpus().count(cpu) != 0, cpu_is_online(cpu)) << "also if nothing ran there";
}

TEST_F(RecorderTest, LeavesOutPausesAndWhatComesAfterTheEnd) {
  const OrderedChild child([](char) {});
  LOAD_OR_SKIP(child);
  make_recorder();
  recorder_->start([this] { attach(); });
  turn(child, 50);
  recorder_->pause(true);
  recorder_->flush();
  const uint64_t paused = monotonic_ns();
  turn(child, 50);
  const uint64_t resumed = monotonic_ns();
  recorder_->pause(false);
  recorder_->flush();
  const uint64_t goes_on = monotonic_ns();
  turn(child, 50);
  recorder_->mark(monotonic_ns(), 7);
  recorder_->mark(monotonic_ns(), 8);
  recorder_->flush();
  const uint64_t end = monotonic_ns();
  recorder_->end_at(end);
  turn(child, 50);
  finish();

  EXPECT_GE(store_.transitions(0, paused), 100u);
  EXPECT_EQ(store_.transitions(paused, resumed), 0u);
  EXPECT_GE(store_.transitions(goes_on, end + 1), 100u);
  EXPECT_EQ(store_.all([&](const StoredRecord &one) { return one.time > end; }).size(), 0u);
  uint64_t counted = 0, lost = 0;
  for (const CpuCount &count : recorder_->counts()) {
    counted += count.events;
    lost += count.lost;
  }
  EXPECT_LE(counted + 200, logged()) << "each turn is a switch to the child and one from it";
  EXPECT_GE(counted, 200u);
  EXPECT_EQ(lost, 0u);

  const std::vector<StoredRecord> marks = store_.all_of(FTrace_EXT_mark);
  ASSERT_EQ(marks.size(), 2u);
  uint32_t first = 0;
  while (capture_->ring_fd(first) < 0)
    first++;
  for (size_t n = 0; n < 2; n++) {
    EXPECT_EQ(marks[n].cpu, first);
    EXPECT_EQ(marks[n].par1, 7 + n);
  }
  for (const uint16_t code : {FTrace_EVT_blackout_start, FTrace_EVT_blackout_end})
    for (uint32_t cpu = 0; cpu < capture_->cpus(); cpu++) {
      const auto of_pause = [&](const StoredRecord &one) {
        return one.code == code && one.cpu == cpu && one.par1 == FTRACE_BLACKOUT_PAUSED;
      };
      EXPECT_EQ(store_.all(of_pause).size(), cpu_is_online(cpu) ? 1u : 0u) << cpu;
    }
}

/// Two processes give each other the CPU, with a new name each time.
void rename_alternately(int rounds) {
  int there[2], back[2];
  if (pipe(there) != 0 || pipe(back) != 0)
    _exit(1);
  const auto rename = [](int n) { prctl(PR_SET_NAME, n % 2 ? "odd" : "even"); };
  char byte = 0;
  const pid_t other = fork();
  if (other == 0) {
    close(there[1]);
    for (int n = 0; read(there[0], &byte, 1) == 1; n++) {
      rename(n);
      if (write(back[1], &byte, 1) != 1)
        break;
    }
    _exit(0);
  }
  for (int n = 0; n < rounds; n++) {
    rename(n);
    if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
      _exit(1);
  }
  close(there[1]);
  waitpid(other, nullptr, 0);
}

// Nothing is read before the beginning is over. Rings of a page are full long before that.
TEST_F(RecorderTest, LossesAreCountedOnceAndAreBlackouts) {
  constexpr uint32_t kSignals = 500;
  constexpr int kRounds = 25'000; // more renamings than the ring of life events has room for
  const OrderedChild child([](char order) {
    if (order == 'r')
      return rename_alternately(kRounds);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &one, nullptr);
  });
  child.order('b');
  LOAD_OR_SKIP(child, size_t(sysconf(_SC_PAGESIZE)));
  families_.emplace(*capture_, parse_families("signal"), std::vector<ProbedFile>(), 0);
  make_recorder();
  recorder_->start([&] {
    capture_->attach();
    families_->attach();
    capture_->snapshot();
    for (uint32_t n = 0; n < kSignals; n++)
      kill(pid_t(child.pid()), SIGRTMIN);
    child.order('r');
  });
  for (int n = 0; n < 3; n++)
    recorder_->flush();
  families_->detach();
  finish();

  const CpuCount &count = recorder_->counts()[cpu_];
  EXPECT_GE(count.events, 2u * kRounds);
  EXPECT_GT(count.lost, uint64_t(kRounds));
  EXPECT_EQ(store_.lost(cpu_, FTRACE_BLACKOUT_TRANSITIONS), count.lost);
  EXPECT_EQ(count.family_events, kSignals);
  EXPECT_GT(count.family_lost, 100u);
  EXPECT_EQ(store_.lost(cpu_, FTRACE_BLACKOUT_FAMILIES), count.family_lost);
  EXPECT_EQ(store_.all_of(FTrace_EVT_signal).size(), kSignals - count.family_lost);

  EXPECT_GT(recorder_->life_lost(), 1000u);
  EXPECT_EQ(recorder_->life_lost(), capture_->life_lost());
  EXPECT_EQ(recorder_->skipped_runs(), capture_->skipped_runs() + families_->skipped_runs());
  for (const uint32_t cpu : store_.cpus()) {
    EXPECT_EQ(store_.lost(cpu, FTRACE_BLACKOUT_SOMEWHERE),
              recorder_->life_lost() + recorder_->skipped_runs())
        << "it is not known where";
    const std::vector<StoredRecord> dark = store_.all([&](const StoredRecord &one) {
      return one.cpu == cpu && one.code == FTrace_EVT_blackout_start &&
             one.par1 == FTRACE_BLACKOUT_SOMEWHERE;
    });
    ASSERT_FALSE(dark.empty()) << cpu;
    EXPECT_EQ(dark[0].time, begin_) << "since nothing was read";
  }
}

size_t threads_here() {
  namespace fs = std::filesystem;
  return size_t(std::distance(fs::directory_iterator("/proc/self/task"), {}));
}

TEST_F(RecorderTest, DoesNotReadIfItsBeginningFails) {
  const OrderedChild child([](char) {});
  LOAD_OR_SKIP(child);
  const size_t before = threads_here();
  make_recorder();
  EXPECT_EQ(threads_here(), before + 1);
  EXPECT_EQ(test::error_from([&] { recorder_->start([] { throw Error("no target"); }); }),
            "no target");
  for (int n = 0; n < 10'000 && threads_here() > before; n++)
    usleep(1000);
  EXPECT_EQ(threads_here(), before) << "its thread has ended";
  recorder_.reset();
  make_recorder(); // never started
  EXPECT_EQ(threads_here(), before + 1);
  recorder_.reset();
  EXPECT_EQ(threads_here(), before);
  EXPECT_EQ(store_.records(), 0u);
}

} // namespace
} // namespace ovnitrace
