// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/format/thread_identity.h"

#include <gtest/gtest.h>

#include <vector>

namespace ovnitrace {
namespace {

std::vector<ftrace_record> encoded(const ThreadIdentity &thread) {
  std::vector<ftrace_record> records;
  thread.encode(5, 100, [&](uint16_t code, uint16_t par1, uint64_t time, uint32_t par2) {
    ftrace_record_set(&records.emplace_back(), code, par1, time, par2);
  });
  return records;
}

TEST(ThreadIdentity, ComesBackFromItsRecordsWhateverTheLengthOfItsName) {
  for (size_t length = 0; length <= 16; length++) {
    char comm[17] = "abcdefghijklmnop";
    std::fill(comm + length, comm + sizeof comm, '\0');
    ThreadIdentity thread{
        .tid = 7, .pid = 6, .parent = 5, .birth = 40, .cgroup = 3, .cgroup_since = 40};
    thread.name.emplace(comm);
    const std::vector<ftrace_record> records = encoded(thread);
    EXPECT_EQ(records.size(), 4 + std::max<size_t>(1, (length + 3) / 4)) << length;
    ThreadIdentity back;
    for (const ftrace_record &record : records) {
      EXPECT_EQ(record.par1, 5);
      const bool of_birth = record.code == FTrace_EXT_process || record.code == FTrace_EXT_parent ||
                            record.code == FTrace_EXT_cgroup;
      EXPECT_EQ(ftrace_record_tsc(&record), of_birth ? 40 : 100);
      back.take(record, [](uint64_t ticks) { return 3 * ticks; });
    }
    EXPECT_EQ(back.tid, 7);
    EXPECT_EQ(back.pid, 6);
    EXPECT_EQ(back.parent, 5);
    EXPECT_EQ(back.birth, 120);
    EXPECT_EQ(back.cgroup, 3);
    EXPECT_EQ(back.cgroup_since, 120);
    EXPECT_EQ(back.name_time, 300);
    ASSERT_TRUE(back.name);
    EXPECT_EQ(back.name->raw(), comm);
  }
}

TEST(ThreadIdentity, HasNoRecordOfWhatIsNotKnown) {
  const std::vector<ftrace_record> records = encoded({.tid = 7});
  ASSERT_EQ(records.size(), 1);
  EXPECT_EQ(records[0].code, FTrace_EVT_id);
  ThreadIdentity alive_before;
  alive_before.take(encoded({.tid = 7, .pid = 7})[1], [](uint64_t) { return 99; });
  EXPECT_EQ(alive_before.birth, 0) << "0 is no time, and stays what it is on any clock";
}

} // namespace
} // namespace ovnitrace
