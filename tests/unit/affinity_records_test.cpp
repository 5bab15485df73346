// SPDX-License-Identifier: BSD-2-Clause
// The CPUs that a thread may use, from the messages of the kernel to the records of a chunk.
#include "tests/unit/support/chunk_list.h"
#include "user/chunk/chunk_writer.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace ovnitrace::test {
namespace {

constexpr uint32_t kTid = 42;

/// The messages of a mask: the first is of `kind`.
std::vector<life_record> messages(uint32_t kind, uint64_t time, const std::set<uint32_t> &cpus,
                                  uint32_t possible) {
  std::vector<life_record> all;
  for (uint32_t first = 0; first == 0 || first < possible; first += CAPTURE_LIFE_CPUS) {
    life_record record = {};
    record.time = time;
    record.kind = first ? uint32_t(LIFE_AFFINITY) : kind;
    record.tid = record.pid = kTid;
    record.arg = first;
    record.has_cpus = 1;
    for (uint32_t n = 0; n < CAPTURE_LIFE_CPUS; n++)
      if (cpus.contains(first + n))
        record.cpus[n / 64] |= uint64_t(1) << n % 64;
    all.push_back(record);
  }
  return all;
}

/// What a reader makes of the words, as docs/format.md says. `words`: how many there were.
std::set<uint32_t> read(const ChunkList &list, size_t &words) {
  std::set<uint32_t> cpus;
  words = 0;
  for (const Chunk &chunk : list.chunks)
    for (const ftrace_record &record : chunk.records) {
      if (record.code != FTrace_EXT_affinity)
        continue;
      words++;
      if (record.par2 >> 24 == 0)
        cpus.clear();
      for (uint32_t bit = 0; bit < 24; bit++)
        if (record.par2 >> bit & 1)
          cpus.insert((record.par2 >> 24) * 24 + bit);
    }
  return cpus;
}

TEST(AffinityRecords, SayWhichCpusAThreadMayUse) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; round++) {
    const uint32_t possible = 1 + random() % (round % 3 ? 64 : FTRACE_AFFINITY_MOST);
    std::set<uint32_t> cpus;
    for (uint32_t n = 1 + random() % 40; n > 0; n--)
      cpus.insert(random() % possible);
    ThreadRegistry registry;
    ChunkList list(256);
    ChunkWriter writer(0, 0, registry, list);
    const uint32_t kinds[] = {LIFE_NEW, LIFE_SNAPSHOT, LIFE_AFFINITY};
    for (const life_record &record : messages(kinds[round % 3], 100, {0, 1, 2}, possible))
      writer.life(record);
    for (const life_record &record : messages(LIFE_AFFINITY, 200, cpus, possible))
      writer.life(record);
    writer.finish(300);
    size_t words = 0;
    EXPECT_EQ(read(list, words), cpus);
    std::set<uint32_t> with_cpus = {0};
    for (const uint32_t cpu : cpus)
      with_cpus.insert(cpu / 24);
    EXPECT_EQ(words, 1 + with_cpus.size()) << "the others are left out";
    EXPECT_FALSE(list.grew());
  }
}

TEST(AffinityRecords, AreAbsentIfTheCaptureDidNotLook) {
  ThreadRegistry registry;
  ChunkList list(256);
  ChunkWriter writer(0, 0, registry, list);
  life_record record = messages(LIFE_NEW, 100, {1}, 2).front();
  record.has_cpus = 0;
  writer.life(record);
  writer.finish(300);
  size_t words = 0;
  read(list, words);
  EXPECT_EQ(words, 0u);
}

} // namespace
} // namespace ovnitrace::test
