// SPDX-License-Identifier: BSD-2-Clause
// Chunks of libovnitrace: making, changing, linking and selecting them, and every wrong way to.
#include "tests/unit/support/ftrace_rig.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <set>

using namespace ovnitrace::test;

namespace {

constexpr int CYC = FTRACE_CHUNK_FLAG_CYC, JTN = FTRACE_CHUNK_FLAG_JTN,
              STOP = FTRACE_CHUNK_FLAG_STOP, FULL = FTRACE_CHUNK_FLAG_FULL,
              BUSY = FTRACE_CHUNK_FLAG_BUSY, NODEL = FTRACE_CHUNK_FLAG_NODEL,
              COMPR = FTRACE_CHUNK_FLAG_COMPR;

class FtraceChunk : public FtraceRig {};

/// Runs it in a child, so that limits do not stay; true if it says so.
template <typename Check> bool in_child(Check check) {
  pid_t child = fork();
  if (child == 0)
    _exit(check() ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(FtraceChunk, FlagValuesAreTheOriginals) {
  EXPECT_EQ(FTRACE_CHUNK_FLAG_FREE, 0x01);
  EXPECT_EQ(FULL, 0x02);
  EXPECT_EQ(CYC, 0x00);
  EXPECT_EQ(JTN, 0x04);
  EXPECT_EQ(STOP, 0x08);
  EXPECT_EQ(BUSY, 0x10);
  EXPECT_EQ(NODEL, 0x20);
  EXPECT_EQ(COMPR, 0x40);
}

TEST_F(FtraceChunk, CreateNumbersFromZeroAndReusesNumbers) {
  EXPECT_EQ(create(1, kFree), 0);
  EXPECT_EQ(create(1, kFree), 1);
  EXPECT_EQ(create(1, kFree), 2);
  EXPECT_EQ(FTrace_chunk_delete(1), 0);
  EXPECT_EQ(create(1, kFree), 1);
}

TEST_F(FtraceChunk, ANewOneHasNothingOfADeletedOneWithItsNumber) {
  int chunk = start(1, JTN), other = create(1, kFree);
  log(1), log(2), log(3);
  FTrace_disable();
  ASSERT_EQ(FTrace_chunk_link(chunk, other), 0);
  EXPECT_EQ(status(chunk).lost, 2u);
  ASSERT_EQ(FTrace_chunk_delete(chunk), 0);
  ASSERT_EQ(create(2, STOP), chunk);
  EXPECT_EQ(flags_of(chunk), STOP);
  EXPECT_EQ(status(chunk).lost, 0u);
  EXPECT_EQ(status(chunk).events, 0u);
  EXPECT_EQ(status(chunk).emergency_events, 0u);
  EXPECT_EQ(status(chunk).next, -1);
  EXPECT_EQ(said_in(chunk), std::vector<Said>{});
}

TEST_F(FtraceChunk, SizesTooSmall) {
  for (int size : {0, -1, INT_MIN, 15}) {
    EXPECT_EQ(FTrace_chunk_create(size, 48, kFree), FTRACE_E_SIZE) << size;
    EXPECT_EQ(FTrace_chunk_create(16, size, kFree), FTRACE_E_SIZE) << size;
  }
  EXPECT_EQ(FTrace_chunk_create(16, 47, kFree), FTRACE_E_SIZE);
  EXPECT_EQ(FTrace_chunk_create(16, 48, kFree), 0);
}

TEST_F(FtraceChunk, SizesBeyondMemory) {
  rlimit before, after;
  getrlimit(RLIMIT_AS, &before);
  const rlimit limit{rlim_t(1) << 40, before.rlim_max};
  setrlimit(RLIMIT_AS, &limit);
  getrlimit(RLIMIT_AS, &after);
  setrlimit(RLIMIT_AS, &before);
  if (after.rlim_cur != limit.rlim_cur)
    GTEST_SKIP() << "address space cannot be limited here: this is qemu-user, or it is limited";
  EXPECT_TRUE(in_child([] {
    rlim_t pages = 0; // that this process has mapped; threads of tests before take some for good
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t most = pages * rlim_t(sysconf(_SC_PAGESIZE)) + (256 << 20);
    const rlimit limit{most, most};
    return pages > 0 && setrlimit(RLIMIT_AS, &limit) == 0 &&
           FTrace_chunk_create(INT_MAX, 48, kFree) == FTRACE_E_NOMEM &&
           FTrace_chunk_create(16, INT_MAX, kFree) == FTRACE_E_NOMEM &&
           FTrace_chunk_create(16, 48, kFree) == 0; // and the number was not lost
  }));
}

TEST_F(FtraceChunk, NoMoreThan256) {
  for (int i = 0; i < FTRACE_MAX_CHUNK; i++)
    ASSERT_EQ(create(1, kFree), i);
  EXPECT_EQ(create(1, kFree), FTRACE_E_TOO_MANY);
}

TEST_F(FtraceChunk, FlagsThatContradictEachOther) {
  int chunk = create(1, kFree);
  for (int wrong : {JTN | STOP, kFree | FULL, kFree | BUSY, kFree | COMPR, 0x80}) {
    EXPECT_EQ(create(1, wrong), FTRACE_E_FLAGS) << wrong;
    EXPECT_EQ(FTrace_set_chunk_flags(chunk, FTrace_flags(wrong)), FTRACE_E_FLAGS) << wrong;
    EXPECT_EQ(FTrace_send_chunk(chunk, 0, FTrace_flags(wrong)), FTRACE_E_FLAGS) << wrong;
  }
  EXPECT_EQ(flags_of(chunk), kFree);
}

TEST_F(FtraceChunk, UnknownNumbers) {
  int chunk = create(1, kFree);
  FTrace_flags flags;
  for (int number : {-1, 1, FTRACE_MAX_CHUNK, INT_MAX, INT_MIN}) {
    EXPECT_EQ(FTrace_chunk_delete(number), FTRACE_E_UNKNOWN_CHUNK);
    EXPECT_EQ(FTrace_set_chunk_flags(number, kFree), FTRACE_E_UNKNOWN_CHUNK);
    EXPECT_EQ(FTrace_get_chunk_flags(number, &flags), FTRACE_E_UNKNOWN_CHUNK);
    EXPECT_EQ(FTrace_actual_chunk_select(number), FTRACE_E_UNKNOWN_CHUNK);
    EXPECT_EQ(FTrace_chunk_link(number, chunk), FTRACE_E_UNKNOWN_CHUNK);
    EXPECT_EQ(FTrace_chunk_link(chunk, number), FTRACE_E_UNKNOWN_CHUNK);
    EXPECT_EQ(FTrace_compress_chunk(number, 0), FTRACE_E_UNKNOWN_CHUNK);
    EXPECT_EQ(FTrace_send_chunk(number, 0, 0), FTRACE_E_UNKNOWN_CHUNK);
    EXPECT_EQ(FTrace_last_error(), FTRACE_E_UNKNOWN_CHUNK);
  }
  EXPECT_EQ(FTrace_get_chunk_flags(chunk, nullptr), FTRACE_E_ARGUMENT);
}

TEST_F(FtraceChunk, DeleteRefusesProtectedAndUsedOnes) {
  int chunk = create(1, kFree | NODEL);
  EXPECT_EQ(FTrace_chunk_delete(chunk), FTRACE_E_NODEL);
  EXPECT_EQ(FTrace_actual_chunk_select(chunk), 0);
  EXPECT_EQ(FTrace_enable(), 0);
  EXPECT_EQ(FTrace_set_chunk_flags(chunk, 0), 0); // NODEL may change while it is used
  EXPECT_EQ(FTrace_chunk_delete(chunk), FTRACE_E_BUSY);
  FTrace_disable();
  EXPECT_EQ(FTrace_chunk_delete(chunk), 0);
  EXPECT_EQ(FTrace_enable(), FTRACE_E_NO_CHUNK);
}

TEST_F(FtraceChunk, FlagsOfAChunkInUseStay) {
  int chunk = start(4, JTN);
  EXPECT_EQ(FTrace_set_chunk_flags(chunk, CYC), FTRACE_E_BUSY);
  EXPECT_EQ(FTrace_set_chunk_flags(chunk, kFree | JTN), FTRACE_E_BUSY);
  EXPECT_EQ(FTrace_set_chunk_flags(chunk, FULL | JTN), FTRACE_E_BUSY);
  EXPECT_EQ(FTrace_send_chunk(chunk, 0, kFree), FTRACE_E_BUSY);
  EXPECT_EQ(FTrace_compress_chunk(chunk, 0), FTRACE_E_BUSY);
  EXPECT_EQ(flags_of(chunk), JTN);
}

TEST_F(FtraceChunk, SelectTakesOnlyFreeOnes) {
  int taken = create(1, JTN), full = create(1, FULL), chunk = create(1, kFree);
  EXPECT_EQ(FTrace_actual_chunk_select(taken), FTRACE_E_NOT_FREE);
  EXPECT_EQ(FTrace_actual_chunk_select(full), FTRACE_E_NOT_FREE);
  EXPECT_EQ(FTrace_enable(), FTRACE_E_NO_CHUNK);
  EXPECT_EQ(FTrace_actual_chunk_select(chunk), 0);
  EXPECT_EQ(flags_of(chunk), 0);
  EXPECT_EQ(FTrace_actual_chunk_select(chunk), FTRACE_E_NOT_FREE);
  EXPECT_EQ(FTrace_set_chunk_flags(taken, kFree | JTN), 0);
  EXPECT_EQ(FTrace_actual_chunk_select(taken), 0);
}

TEST_F(FtraceChunk, LinkTakesOnlyFreeOnes) {
  int a = create(1, kFree | JTN), b = create(1, kFree | JTN), c = create(1, kFree);
  EXPECT_EQ(FTrace_chunk_link(a, a), FTRACE_E_SELF);
  EXPECT_EQ(FTrace_chunk_link(a, b), 0);
  EXPECT_EQ(FTrace_chunk_link(a, c), 0); // instead
  EXPECT_EQ(FTrace_actual_chunk_select(a), 0);
  EXPECT_EQ(FTrace_chunk_link(b, a), FTRACE_E_NOT_FREE); // selected
  EXPECT_EQ(FTrace_chunk_delete(c), 0);
  EXPECT_EQ(status(a).next, -1);
}

TEST_F(FtraceChunk, FlagsReadAsTheyWereSetAlsoOfALinkedChunk) {
  int a = create(1, kFree | JTN), b = create(1, kFree);
  ASSERT_EQ(FTrace_chunk_link(a, b), 0);
  std::string path = dir_ / "b.dat";
  ASSERT_EQ(FTrace_init_disk_writer(path.data(), 0, nullptr, nullptr), 0);
  for (int mode : {CYC, JTN, STOP})
    for (int flags : {0, kFree, FULL, NODEL, kFree | NODEL, FULL | NODEL}) {
      EXPECT_EQ(FTrace_set_chunk_flags(b, FTrace_flags(mode | flags)), 0);
      EXPECT_EQ(flags_of(b), mode | flags);
      EXPECT_EQ(FTrace_set_chunk_flags(b, 0), 0);
      EXPECT_EQ(FTrace_send_chunk(b, 0, FTrace_flags(mode | flags)), 0);
      EXPECT_EQ(flags_of(b), mode | flags);
    }
}

TEST_F(FtraceChunk, OnlyAFreeChunkIsJumpedTo) {
  int a = create(1, kFree | JTN), b = create(2, kFree | JTN);
  ASSERT_EQ(FTrace_chunk_link(a, b), 0);
  EXPECT_EQ(FTrace_set_chunk_flags(b, JTN), 0);
  EXPECT_EQ(FTrace_actual_chunk_select(a), 0);
  EXPECT_EQ(FTrace_enable(), 0);
  log(1), log(2);
  EXPECT_EQ(FTrace_set_chunk_flags(b, kFree | JTN | NODEL), 0);
  log(3);
  FTrace_disable();
  EXPECT_EQ(status(a).lost, 1u);
  EXPECT_EQ(said_in(b), std::vector{user(3)});
}

TEST_F(FtraceChunk, TwoMayBeLinkedToOne) {
  int a = create(1, kFree | JTN), b = create(1, kFree | JTN), both = create(3, kFree);
  EXPECT_EQ(FTrace_chunk_link(a, both), 0);
  EXPECT_EQ(FTrace_chunk_link(b, both), 0);
  for (int from : {a, b}) {
    ASSERT_EQ(FTrace_set_chunk_flags(both, kFree), 0);
    ASSERT_EQ(FTrace_actual_chunk_select(from), 0);
    ASSERT_EQ(FTrace_enable(), 0);
    log(1), log(unsigned(from + 2));
    FTrace_disable();
    EXPECT_EQ(said_in(from), std::vector{user(1)});
    EXPECT_EQ(said_in(both), std::vector{user(unsigned(from + 2))});
  }
}

TEST_F(FtraceChunk, ClearingFullLetsASelectedChunkTakeEvents) {
  int chunk = start(3, STOP);
  log(1);
  FTrace_disable();
  EXPECT_EQ(FTrace_set_chunk_flags(chunk, FULL | STOP), 0);
  EXPECT_EQ(FTrace_enable(), FTRACE_E_FULL);
  log(2);
  EXPECT_EQ(flags_of(chunk), FULL | STOP);
  EXPECT_EQ(FTrace_set_chunk_flags(chunk, STOP), 0);
  EXPECT_EQ(flags_of(chunk), STOP);
  EXPECT_EQ(FTrace_enable(), 0);
  for (unsigned i = 3; i < 7; i++)
    log(i);
  FTrace_disable();
  EXPECT_EQ(said_in(chunk),
            (std::vector<Said>{user(1), user(3), user(4), {FTrace_EVT_trace_stop, 0, 0}}));
}

TEST_F(FtraceChunk, ClearingFullDoesNotFreeAnUnselectedChunk) {
  int empty = create(2, kFree | JTN), left = start(2, JTN), selected = create(2, kFree);
  log(1);
  FTrace_disable();
  ASSERT_EQ(FTrace_actual_chunk_select(selected), 0);
  for (int chunk : {empty, left}) {
    EXPECT_EQ(FTrace_set_chunk_flags(chunk, FULL | JTN), 0);
    EXPECT_EQ(FTrace_set_chunk_flags(chunk, JTN), 0);
    EXPECT_EQ(flags_of(chunk), JTN);
    EXPECT_EQ(FTrace_actual_chunk_select(chunk), FTRACE_E_NOT_FREE);
  }
  EXPECT_EQ(FTrace_enable(), 0);
  log(2);
  FTrace_disable();
  EXPECT_EQ(said_in(left), std::vector{user(1)});
  EXPECT_EQ(said_in(selected), std::vector{user(2)});
}

TEST_F(FtraceChunk, GetFirst) {
  EXPECT_EQ(FTrace_get_first_chunk(kFree), FTRACE_E_NOT_FOUND);
  int jtn = create(1, JTN), free_jtn = create(1, kFree | JTN), cyc = create(1, kFree),
      stop = create(1, kFree | STOP | NODEL), kept = create(1, NODEL);
  EXPECT_EQ(FTrace_get_first_chunk(kFree | CYC), cyc);
  EXPECT_EQ(FTrace_get_first_chunk(CYC), cyc);
  EXPECT_EQ(FTrace_get_first_chunk(JTN), jtn);
  EXPECT_EQ(FTrace_get_first_chunk(kFree | JTN), free_jtn);
  EXPECT_EQ(FTrace_get_first_chunk(kFree | STOP), stop);
  EXPECT_EQ(FTrace_get_first_chunk(NODEL), kept);
  EXPECT_EQ(FTrace_get_first_chunk(kFree | NODEL), FTRACE_E_NOT_FOUND);
  EXPECT_EQ(FTrace_get_first_chunk(JTN | STOP), FTRACE_E_NOT_FOUND);
  ASSERT_EQ(FTrace_chunk_delete(cyc), 0);
  EXPECT_EQ(FTrace_get_first_chunk(kFree | CYC), FTRACE_E_NOT_FOUND);
}

TEST_F(FtraceChunk, GetFirstFindsALinkedChunkThatWasSentAndFreed) {
  int a = create(1, kFree | JTN), b = create(1, kFree | JTN);
  ASSERT_EQ(FTrace_chunk_link(a, b), 0);
  ASSERT_EQ(FTrace_actual_chunk_select(a), 0);
  ASSERT_EQ(FTrace_enable(), 0);
  log(1), log(2);
  FTrace_disable();
  EXPECT_EQ(FTrace_get_first_chunk(kFree | JTN), FTRACE_E_NOT_FOUND);
  std::string path = dir_ / "b.dat";
  ASSERT_EQ(FTrace_init_disk_writer(path.data(), 0, nullptr, nullptr), 0);
  ASSERT_EQ(FTrace_send_chunk(b, 0, kFree | JTN), 0);
  EXPECT_EQ(flags_of(b), kFree | JTN);
  EXPECT_EQ(FTrace_get_first_chunk(kFree | JTN), b);
}

TEST_F(FtraceChunk, Table) {
  int a = create(3, kFree | JTN, 5 * kEvent), b = create(1, kFree);
  FTrace_chunk_link(a, b);
  FTrace_Chunk_Ptr *table = FTrace_get_chunk_table();
  EXPECT_EQ(table[2], nullptr);
  EXPECT_EQ(table[FTRACE_MAX_CHUNK - 1], nullptr);
  EXPECT_EQ(table[a]->id, FTRACE_CHUNK_ID);
  EXPECT_EQ(table[b]->number, 1u);
  EXPECT_EQ(table[a]->flags, kFree | JTN);
  EXPECT_EQ(table[a]->size, 48u);
  EXPECT_EQ(table[a]->emergency_size, 80u);
  EXPECT_EQ(table[a]->next, b);
  EXPECT_EQ(table[b]->next, -1);
}

TEST_F(FtraceChunk, EveryErrorHasWordsOfItsOwn) {
  std::set<std::string> texts;
  for (int error = FTRACE_E_NOT_COMPRESSED; error <= 0; error++)
    EXPECT_TRUE(texts.insert(FTrace_strerror(error)).second) << FTrace_strerror(error);
  for (int unknown : {1, INT_MAX, INT_MIN, FTRACE_E_NOT_COMPRESSED - 1})
    EXPECT_STREQ(FTrace_strerror(unknown), "an unknown error of the tracer");
}

} // namespace
