// SPDX-License-Identifier: BSD-2-Clause
// Logging from many threads and from signal handlers at once: no event lost, doubled or torn.
#include "tests/unit/support/ftrace_rig.h"

#include <csignal>
#include <sys/time.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <span>
#include <thread>

using namespace ovnitrace::test;

namespace {

constexpr int CYC = FTRACE_CHUNK_FLAG_CYC, JTN = FTRACE_CHUNK_FLAG_JTN,
              STOP = FTRACE_CHUNK_FLAG_STOP;
constexpr unsigned kThreads = 4;

class FtraceThread : public FtraceRig {};

/// An event of which any torn half shows: parameter 1 says the thread, 2 the thread and a number.
void log_as(unsigned thread, unsigned number) {
  TRACER_LOGEVENT(FTrace_EVT_user_event_1, FTrace_WORD(thread), thread << 28 | number);
}

template <typename Body> void in_threads(Body body) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; i++)
    threads.emplace_back(body, i);
  for (std::thread &thread : threads)
    thread.join();
}

unsigned number_in(const ftrace_record &record) {
  return record.par2 & 0x0fffffff;
}

/// The numbers of one thread's events, in the order in which they were logged: from `first` on,
/// below `end`.
struct Numbers {
  unsigned first = 0, end = 0;
  bool operator==(const Numbers &) const = default;
};

/// Checks that no record is torn and that each thread's numbers follow one another without a gap;
/// gives them by thread.
std::vector<Numbers> check(std::span<const ftrace_record> records) {
  std::vector<Numbers> all(kThreads);
  for (const ftrace_record &record : records) {
    EXPECT_EQ(record.code, FTrace_EVT_user_event_1);
    EXPECT_EQ(record.par1, record.par2 >> 28);
    if (record.par1 >= kThreads)
      continue;
    Numbers &numbers = all[record.par1];
    if (numbers == Numbers{})
      numbers.first = numbers.end = number_in(record);
    EXPECT_EQ(number_in(record), numbers.end) << "of thread " << record.par1;
    numbers.end = number_in(record) + 1;
  }
  return all;
}

void check_times(const std::vector<ftrace_record> &records) {
  for (size_t i = 1; i < records.size(); i++)
    EXPECT_LE(ftrace_record_tsc(&records[i - 1]), ftrace_record_tsc(&records[i])) << i;
}

TEST_F(FtraceThread, AcrossJumpsNothingIsLostAndTimesAreInOrder) {
  constexpr unsigned kEach = 20000;
  constexpr int kChunks = 40;
  for (int i = 0; i < kChunks; i++)
    ASSERT_EQ(create(int(kThreads * kEach) / kChunks, kFree | JTN), i);
  for (int i = 0; i + 1 < kChunks; i++)
    ASSERT_EQ(FTrace_chunk_link(i, i + 1), 0);
  FTrace_actual_chunk_select(0);
  FTrace_enable();
  in_threads([](unsigned thread) {
    for (unsigned i = 0; i < kEach; i++)
      log_as(thread, i);
  });
  FTrace_disable();
  std::vector<ftrace_record> all;
  for (int i = 0; i < kChunks; i++) {
    auto records = records_of(i);
    all.insert(all.end(), records.begin(), records.end());
    EXPECT_EQ(status(i).lost, 0u);
  }
  EXPECT_EQ(all.size(), size_t(kThreads) * kEach);
  EXPECT_EQ(check(all), std::vector(kThreads, Numbers{0, kEach}));
  check_times(all);
}

TEST_F(FtraceThread, ACyclicChunkKeepsTheLastOnesWhole) {
  constexpr int kSlots = 8; // so that threads overtake each other by a turn
  constexpr unsigned kEach = 20000;
  int chunk = start(kSlots, CYC);
  in_threads([](unsigned thread) {
    for (unsigned i = 0; i < kEach; i++)
      log_as(thread, i);
  });
  FTrace_disable();
  auto records = records_of(chunk);
  ASSERT_EQ(records.size(), size_t(kSlots));
  std::set<unsigned> seen;
  for (const ftrace_record &record : records) {
    EXPECT_EQ(record.par1, record.par2 >> 28);
    EXPECT_TRUE(seen.insert(record.par2).second);
  }
  // The newest event is some thread's last one. A thread that was suspended may hold one older
  // slot.
  std::sort(records.begin(), records.end(), [](const ftrace_record &a, const ftrace_record &b) {
    return ftrace_record_tsc(&a) < ftrace_record_tsc(&b);
  });
  EXPECT_EQ(number_in(records.back()), kEach - 1);
}

TEST_F(FtraceThread, AStopChunkStopsOnceWhicheverThreadFillsIt) {
  constexpr unsigned kEach = 1000, kRoom = 2000;
  for (int i = 0; i < 20; i++) {
    int chunk = start(kRoom, STOP);
    in_threads([](unsigned thread) {
      for (unsigned n = 0; n < kEach; n++)
        log_as(thread, n);
    });
    const auto records = records_of(chunk); // tracing has ended
    ASSERT_EQ(records.size(), kRoom + 1);
    EXPECT_EQ(said(records[kRoom]), (Said{FTrace_EVT_trace_stop, 0, 0}));
    for (const Numbers &numbers : check(std::span(records).first(kRoom)))
      EXPECT_EQ(numbers.first, 0u);
    check_times(records);
    EXPECT_EQ(FTrace_chunk_delete(chunk), 0);
  }
}

TEST_F(FtraceThread, EachHasAChunkTableOfItsOwn) {
  int chunk = start(9, JTN);
  FTrace_Chunk_Ptr *mine = FTrace_get_chunk_table();
  log(1);
  FTrace_Chunk_Ptr *others = nullptr;
  std::thread([&] {
    others = FTrace_get_chunk_table();
    EXPECT_EQ(others[chunk]->events, 1u);
  }).join();
  EXPECT_NE(mine, others);
  EXPECT_EQ(mine[chunk]->events, 0u); // as it was when this thread asked
  EXPECT_EQ(FTrace_get_chunk_table(), mine);
  EXPECT_EQ(mine[chunk]->events, 1u);
}

TEST_F(FtraceThread, StatusesAreReadWhileChunksChange) {
  std::atomic<bool> over{false};
  std::thread reader([&] {
    while (!over)
      for (FTrace_Chunk_Ptr chunk : std::span(FTrace_get_chunk_table(), FTRACE_MAX_CHUNK))
        EXPECT_TRUE(!chunk || chunk->number == 0);
  });
  for (int i = 0; i < 200; i++) {
    int chunk = start(9, JTN);
    log(1);
    FTrace_disable();
    EXPECT_EQ(FTrace_compress_chunk(chunk, JTN), 0);
    EXPECT_EQ(FTrace_set_chunk_flags(chunk, kFree | JTN), 0);
    EXPECT_EQ(FTrace_chunk_delete(chunk), 0);
  }
  over = true;
  reader.join();
}

TEST_F(FtraceThread, ABlackoutCountsEveryLostEvent) {
  constexpr unsigned kEach = 5000, kRoom = 1000;
  int chunk = start(kRoom, JTN), next = create(kThreads * kEach, kFree | JTN);
  std::atomic<unsigned> ready{0};
  in_threads([&](unsigned thread) {
    for (unsigned i = 0; i < kEach; i++) {
      log_as(thread, i);
      const bool all_are_half_way = i == kEach / 2 && ++ready == kThreads;
      EXPECT_EQ(all_are_half_way ? FTrace_chunk_link(chunk, next) : 0, 0);
    }
  });
  FTrace_disable();
  auto full = records_of(chunk);
  ASSERT_EQ(full.size(), kRoom + 2);
  EXPECT_EQ(full[kRoom].code, FTrace_EVT_blackout_start);
  EXPECT_EQ(full[kRoom + 1].code, FTrace_EVT_blackout_end);
  const auto before = check(std::span(full).first(kRoom)), after = check(records_of(next));
  unsigned lost = 0;
  for (unsigned thread = 0; thread < kThreads; thread++) {
    EXPECT_EQ(before[thread].first, 0u);
    // A thread all of whose events after the jump found no place has none there.
    const unsigned resumed = after[thread] == Numbers{} ? kEach : after[thread].first;
    EXPECT_EQ(after[thread] == Numbers{} ? kEach : after[thread].end, kEach);
    lost += resumed - before[thread].end;
  }
  EXPECT_EQ(full[kRoom + 1].par2, lost);
}

TEST_F(FtraceThread, ChunksAreSentAndFreedWhileOthersAreFilled) {
  constexpr unsigned kEach = 20000;
  int a = start(1000, JTN), b = create(1000, kFree | JTN);
  ASSERT_EQ(FTrace_chunk_link(a, b), 0);
  std::string path = dir_ / "ring.dat";
  ASSERT_EQ(FTrace_init_disk_writer(path.data(), 0, nullptr, nullptr), 0);
  std::atomic<bool> over{false};
  std::thread sender([&] {
    bool ring = false;
    while (!over)
      for (int chunk : {a, b})
        if ((flags_of(chunk) & FTRACE_CHUNK_FLAG_FULL) &&
            FTrace_send_chunk(chunk, 0, FTrace_flags(kFree | JTN)) == 0 && !ring)
          ring = FTrace_chunk_link(b, a) == 0;
  });
  in_threads([](unsigned thread) {
    for (unsigned i = 0; i < kEach; i++)
      log_as(thread, i);
  });
  FTrace_disable();
  over = true;
  sender.join();
  for (int chunk : {a, b})
    EXPECT_EQ(FTrace_send_chunk(chunk, 0, FTrace_flags(kFree | JTN)), 0);

  // The sender may have been too slow: then blackouts say how much is missing.
  size_t lost = 0;
  std::set<std::pair<unsigned, unsigned>> seen;
  for (const ftrace_record &record : read_records(path)) {
    if (record.code == FTrace_EVT_blackout_end)
      lost += record.par2;
    if (record.code != FTrace_EVT_user_event_1)
      continue;
    EXPECT_EQ(record.par1, record.par2 >> 28);
    EXPECT_LT(record.par1, kThreads);
    EXPECT_LT(number_in(record), kEach);
    EXPECT_TRUE(seen.insert({record.par1, record.par2}).second);
  }
  EXPECT_EQ(seen.size() + lost, size_t(kThreads) * kEach);
}

std::atomic<unsigned> g_signals, g_nesting;

void log_in_handler(int) {
  g_nesting++;
  const unsigned number = g_signals++;
  TRACER_LOGEVENT(FTrace_EVT_user_event_2, 0, number);
  g_nesting--;
}

TEST_F(FtraceThread, SignalHandlersLogInTheMiddleOfLogging) {
  constexpr unsigned kRoom = 500;
  constexpr int kChunks = FTRACE_MAX_CHUNK;
  for (int i = 0; i < kChunks; i++)
    ASSERT_EQ(create(kRoom, kFree | JTN), i);
  for (int i = 0; i + 1 < kChunks; i++)
    ASSERT_EQ(FTrace_chunk_link(i, i + 1), 0);
  FTrace_actual_chunk_select(0);
  g_signals = g_nesting = 0;
  struct sigaction action {
  }, before;
  action.sa_handler = log_in_handler;
  action.sa_flags = SA_NODEFER | SA_RESTART; // handlers interrupt handlers
  ASSERT_EQ(sigaction(SIGPROF, &action, &before), 0);
  FTrace_enable();
  unsigned logged = 0;
  std::atomic<bool> over{false};
  const pthread_t self = pthread_self();
  std::thread shooter([&] {
    // One more only when the last has begun, and few in one another: the stack holds no more.
    constexpr unsigned kDeepest = 16;
    for (unsigned sent = 0; !over;)
      if (g_signals == sent && g_nesting < kDeepest) {
        sent++;
        pthread_kill(self, SIGPROF);
      }
  });
  while (g_signals == 0)
    std::this_thread::yield();
  while (logged < 20000 || g_signals < 2000) {
    log(logged++);
    if (logged + g_signals > kRoom * kChunks - 1000)
      break;
  }
  over = true;
  shooter.join();
  FTrace_disable();
  sigaction(SIGPROF, &before, nullptr);

  EXPECT_GT(g_signals, 0u);
  unsigned from_body = 0;
  std::set<unsigned> from_handler;
  for (int i = 0; i < kChunks; i++) {
    auto records = records_of(i);
    check_times(records);
    for (const ftrace_record &record : records) {
      if (record.code == FTrace_EVT_user_event_0)
        from_body += record.par2 == from_body;
      else
        from_handler.insert(record.par2);
    }
  }
  EXPECT_EQ(from_body, logged);
  EXPECT_EQ(from_handler.size(), g_signals);
  EXPECT_EQ(*from_handler.rbegin(), g_signals - 1); // so they are all from 0 on
}

} // namespace
