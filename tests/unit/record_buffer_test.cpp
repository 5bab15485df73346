// SPDX-License-Identifier: BSD-2-Clause
// Blocks of records of plain files: emulator/input/record_buffer.
#include "emulator/base/unique_fd.h"
#include "emulator/input/record_buffer.h"

#include <cerrno>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace ovnitrace {
namespace {

constexpr uint64_t kRecord = sizeof(ftrace_record);

/// A file of `records`, of which all but those with the given numbers are in holes.
UniqueFd sparse_file(uint64_t records, std::initializer_list<uint64_t> written) {
  UniqueFd fd(memfd_create("records", MFD_CLOEXEC));
  EXPECT_EQ(ftruncate(fd.get(), off_t(records * kRecord)), 0);
  for (const uint64_t number : written) {
    ftrace_record record = {};
    record.code = FTrace_EVT_user_event_0;
    record.par2 = uint32_t(number);
    EXPECT_EQ(pwrite(fd.get(), &record, kRecord, off_t(number * kRecord)), ssize_t(kRecord));
  }
  return fd;
}

struct Read {
  std::vector<uint64_t> written; ///< numbers of records that are not empty
  size_t blocks = 0;
};

Read read_all(RecordBuffer &buffer) {
  Read read;
  for (auto block = buffer.next_block(); !block.empty(); block = buffer.next_block()) {
    read.blocks++;
    for (const ftrace_record &record : block)
      if (record.code) {
        const uint64_t at = buffer.block_offset() + uint64_t(&record - block.data()) * kRecord;
        EXPECT_EQ(at, record.par2 * kRecord);
        read.written.push_back(record.par2);
      }
  }
  return read;
}

TEST(RecordBuffer, SkipsHoles) {
  const uint64_t records = (8ull << 30) / kRecord, middle = records / 2 + 3;
  const UniqueFd fd = sparse_file(records, {0, 1, middle});
  RecordBuffer buffer(fd.get(), records * kRecord, 1024);
  const Read read = read_all(buffer);
  EXPECT_EQ(read.written, (std::vector<uint64_t>{0, 1, middle}));
  EXPECT_LT(read.blocks, 20u);
}

TEST(RecordBuffer, SkipsHolesOfPartsOnlyToTheirEnds) {
  const uint64_t records = 1 << 24, part = records / 2;
  const UniqueFd fd = sparse_file(records, {5, part - 1, part, records - 1});
  RecordBuffer buffer(fd.get(), records * kRecord, 1024);
  const std::vector<FilePart> parts = {
      {.start = 0, .end = part * kRecord, .place = 0},
      {.start = (records - 1) * kRecord, .end = records * kRecord, .place = 0}};
  buffer.only(parts);
  EXPECT_EQ(read_all(buffer).written, (std::vector<uint64_t>{5, part - 1, records - 1}));
}

TEST(RecordBuffer, KnowsTheBytesOfARecordThatIsNotWhole) {
  const UniqueFd fd = sparse_file(3, {0, 1, 2});
  RecordBuffer buffer(fd.get(), 2 * kRecord + 5, 2);
  EXPECT_EQ(buffer.next_block().size(), 2u);
  EXPECT_EQ(buffer.tail(), 0u);
  EXPECT_EQ(buffer.next_block().size(), 0u);
  EXPECT_EQ(buffer.tail(), 5u);
  EXPECT_EQ(buffer.block_offset(), 2 * kRecord);
  EXPECT_EQ(buffer.error(), 0);
}

TEST(RecordBuffer, ABlockHasNoMoreRecordsThanAsked) {
  const UniqueFd fd = sparse_file(5, {0, 1, 2, 3, 4});
  RecordBuffer buffer(fd.get(), 5 * kRecord, 2);
  std::vector<size_t> sizes;
  for (auto block = buffer.next_block(); !block.empty(); block = buffer.next_block())
    sizes.push_back(block.size());
  EXPECT_EQ(sizes, (std::vector<size_t>{2, 2, 1}));
}

TEST(RecordBuffer, AFileThatBecameShorterEndsThere) {
  const UniqueFd fd = sparse_file(4, {0, 1, 2, 3});
  RecordBuffer buffer(fd.get(), 4 * kRecord, 2);
  EXPECT_EQ(buffer.next_block().size(), 2u);
  ASSERT_EQ(ftruncate(fd.get(), off_t(3 * kRecord)), 0);
  EXPECT_EQ(buffer.next_block().size(), 1u);
  EXPECT_EQ(buffer.next_block().size(), 0u);
  EXPECT_EQ(buffer.error(), 0);
}

TEST(RecordBuffer, SaysWhereAPartWasSkipped) {
  const UniqueFd fd = sparse_file(8, {0, 1, 2, 3, 4, 5, 6, 7});
  RecordBuffer buffer(fd.get(), 8 * kRecord, 3);
  const std::vector<FilePart> parts = {{.start = kRecord, .end = 3 * kRecord, .place = 0},
                                       {.start = 3 * kRecord, .end = 5 * kRecord, .place = 0},
                                       {.start = 6 * kRecord, .end = UINT64_MAX, .place = 0}};
  buffer.only(parts);
  std::vector<std::pair<uint32_t, bool>> firsts; // of each block, and whether it follows a gap
  for (auto block = buffer.next_block(); !block.empty(); block = buffer.next_block())
    firsts.push_back({block[0].par2, buffer.jumped()});
  EXPECT_EQ(firsts, (std::vector<std::pair<uint32_t, bool>>{{1, true}, {3, false}, {6, true}}));
}

TEST(RecordBuffer, AFileThatCannotBeReadHasAnError) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const UniqueFd in(ends[0]), out(ends[1]);
  RecordBuffer buffer(in.get(), 4 * kRecord, 2);
  EXPECT_EQ(buffer.next_block().size(), 0u);
  EXPECT_EQ(buffer.error(), ESPIPE);
}

} // namespace
} // namespace ovnitrace
