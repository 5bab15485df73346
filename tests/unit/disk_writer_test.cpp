// SPDX-License-Identifier: BSD-2-Clause
// Chunks to files: user/chunk/linked_chunks and user/chunk/chunk_files.
#include "user/chunk/chunk_files.h"
#include "user/chunk/linked_chunks.h"

#include "tests/unit/support/temp_dir.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;

namespace ovnitrace::test {

/// Linked chunks to files.
struct DiskWriter {
  DiskWriter(int directory, uint32_t cpus, size_t chunks, size_t records)
      : files(directory, cpus), queue(files, LinkedChunks::kWait, cpus, chunks - 1, records) {}
  ChunkFiles files;
  LinkedChunks queue;
};

class DiskWriterTest : public testing::Test {
protected:
  DiskWriterTest() : fd_(open(dir_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}
  ~DiskWriterTest() override { close(fd_); }

  static void give(ChunkPool &writer, uint32_t cpu, size_t records, uint32_t mark) {
    Chunk *chunk = writer.borrow(cpu);
    ASSERT_TRUE(chunk->records.empty()) << "it is lent with what was in it";
    ASSERT_EQ(chunk->cpu, cpu);
    for (size_t n = 0; n < records; n++) {
      ftrace_record record;
      ftrace_record_set(&record, 1, 2, n, mark);
      chunk->records.push_back(record);
    }
    writer.give(chunk);
  }
  std::vector<uint32_t> marks_of(const std::string &name) const {
    std::vector<uint32_t> marks;
    std::ifstream file(dir_ / name, std::ios::binary);
    for (ftrace_record record; file.read(reinterpret_cast<char *>(&record), sizeof record);)
      marks.push_back(record.par2);
    return marks;
  }

  TempDir dir_;
  int fd_;
};

TEST_F(DiskWriterTest, AppendsChunksInTheirOrderToAFileForEachCpu) {
  DiskWriter writer(fd_, 1300, 4, 8);
  for (uint32_t n = 0; n < 100; n++)
    give(writer.queue, n % 2 ? 0 : 1234, 2, n);
  writer.queue.close();
  EXPECT_EQ(writer.queue.error(), "");
  EXPECT_EQ(writer.queue.records_dropped(), 0u);
  const std::vector<uint32_t> odd = marks_of("cpu0000.ftr"), even = marks_of("cpu1234.ftr");
  ASSERT_EQ(odd.size(), 100u);
  ASSERT_EQ(even.size(), 100u);
  for (uint32_t n = 0; n < 100; n++) {
    EXPECT_EQ(odd[n], n / 2 * 2 + 1);
    EXPECT_EQ(even[n], n / 2 * 2);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_.path()), {}), 2) << "no file for the others";
}

// Files that we write are made by us: what was planted there is neither followed nor overwritten.
TEST_F(DiskWriterTest, FollowsNoLink) {
  std::ofstream(dir_ / "victim") << "untouched";
  fs::create_symlink(dir_ / "victim", dir_ / "cpu0000.ftr");
  DiskWriter writer(fd_, 1, 2, 8);
  give(writer.queue, 0, 3, 1);
  writer.queue.close();
  EXPECT_NE(writer.queue.error().find("cpu0000.ftr"), std::string::npos) << writer.queue.error();
  EXPECT_EQ(fs::file_size(dir_ / "victim"), 9u);
}

TEST_F(DiskWriterTest, CountsWhatItCannotWriteAndGoesOnLending) {
  fs::create_directory(dir_ / "cpu0000.ftr"); // no file can be made of that name
  DiskWriter writer(fd_, 2, 2, 8);
  for (uint32_t n = 0; n < 50; n++)
    give(writer.queue, 0, 3, n);
  writer.queue.close();
  EXPECT_NE(writer.queue.error(), "");
  EXPECT_EQ(writer.queue.records_dropped(), 150u);
}

} // namespace ovnitrace::test
