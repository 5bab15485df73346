// SPDX-License-Identifier: BSD-2-Clause
// Chunks to files: what is there after a failure can be read: user/chunk/chunk_files.
#include "emulator/base/unique_fd.h"
#include "emulator/compress/compress_trace.h"
#include "emulator/open/open_trace.h"
#include "tests/unit/support/chunks.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "user/chunk/chunk_files.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

namespace ovnitrace {
namespace {

class ChunkFilesTest : public testing::Test {
protected:
  test::TempDir dir_;
  UniqueFd fd_{open(dir_.path().c_str(), O_RDONLY | O_DIRECTORY)};
  uint64_t size_of(uint32_t cpu) {
    return std::filesystem::file_size(dir_ / ChunkFiles::file_name(cpu));
  }
};

TEST_F(ChunkFilesTest, MakesAFileForEachCpuThatHasChunks) {
  const mode_t before = umask(0);
  ChunkFiles files(fd_.get(), 3);
  const Chunk first = test::event_chunk(0, 0, 10, 20), second = test::event_chunk(2, 0, 10, 30);
  EXPECT_EQ(files.write(first), 0u);
  EXPECT_EQ(files.write(second), 0u);
  EXPECT_EQ(files.write(first), 0u);
  files.finish();
  umask(before);
  EXPECT_EQ(int(std::filesystem::status(dir_ / "cpu0002.ftr").permissions()), 0644);
  EXPECT_EQ(files.error(), "");
  EXPECT_EQ(size_of(0), 2 * 16 * first.records.size());
  EXPECT_EQ(size_of(2), 16 * second.records.size());
  EXPECT_EQ(files.bytes(0), 2 * 16 * first.records.size());
  EXPECT_EQ(files.bytes(1), 0u);
  EXPECT_FALSE(std::filesystem::exists(dir_ / ChunkFiles::file_name(1)));
}

TEST_F(ChunkFilesTest, CompressesEachChunk) {
  ChunkFiles files(fd_.get(), 1, 3);
  Chunk chunk = test::event_chunk(0, 0, 10, 200);
  EXPECT_EQ(files.write(chunk), 0u);
  const Chunk last = test::event_chunk(0, 1, 1000, 200, FTrace_EVT_trace_stop);
  EXPECT_EQ(files.write(last), 0u);
  files.finish();
  EXPECT_LT(std::filesystem::file_size(dir_ / "cpu0000.ftr.zst"), 16 * chunk.records.size());
  EXPECT_EQ(decompress_trace(dir_.path()).files, 1u);
  EXPECT_EQ(size_of(0), 16 * (chunk.records.size() + last.records.size()));
}

// A frame that somebody else made: the file that is not compressed is beside the others.
TEST_F(ChunkFilesTest, WritesTheFrameThatAChunkAlreadyHas) {
  ChunkFiles files(fd_.get(), 1, 1);
  FrameCompressor store(kStoredLevel);
  size_t records = 0, stored = 0;
  for (uint32_t number = 0; number < 6; number++) {
    const bool is_last = number == 5;
    Chunk chunk = test::event_chunk(0, number, 1000 * (number + 1), 200,
                                    is_last ? FTrace_EVT_trace_stop : FTrace_EVT_next_chunk);
    if (number % 2) {
      const std::span<const char> frame = store.compress_chunk(chunk.records);
      chunk.frame.assign(frame.begin(), frame.end());
      stored += frame.size();
    }
    EXPECT_EQ(files.write(chunk), 0u);
    records += chunk.records.size();
  }
  files.finish();
  EXPECT_GT(std::filesystem::file_size(dir_ / "cpu0000.ftr.zst"), stored);
  EXPECT_GE(stored, 16 * records / 2);
  EXPECT_EQ(decompress_trace(dir_.path()).files, 1u);
  EXPECT_EQ(size_of(0), 16 * records);
  test::CollectingSink sink;
  const auto source = open_trace({{dir_.path(), 0}}, sink);
  size_t events = 0;
  for (Event event; source->next(event);)
    events++;
  EXPECT_EQ(events, 1 + 6 * 200 + 1u);
  EXPECT_EQ(sink.damage(), 0u);
}

TEST_F(ChunkFilesTest, KeepsWholeCompressedChunksWhenTheDiskIsFull) {
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  ChunkFiles files(fd_.get(), 1, 3);
  size_t missing = 0, given = 0;
  for (uint32_t number = 0; number < 50; number++) {
    const Chunk chunk = test::event_chunk(0, number, 1000 * (number + 1), 100);
    missing += files.write(chunk);
    given += chunk.records.size();
  }
  files.finish();
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  EXPECT_NE(files.error().find("cpu0000.ftr.zst: File too large"), std::string::npos)
      << files.error();
  EXPECT_EQ(files.bytes(0), std::filesystem::file_size(dir_ / "cpu0000.ftr.zst"));
  decompress_trace(dir_.path());
  EXPECT_GT(size_of(0), 0u);
  EXPECT_EQ(size_of(0) / 16 + missing, given);
}

TEST_F(ChunkFilesTest, OverwritesNothing) {
  test::TraceBuilder::write_file(dir_ / "cpu0000.ftr", "mine", 4);
  ChunkFiles files(fd_.get(), 1);
  const Chunk chunk = test::event_chunk(0, 0, 10, 20);
  EXPECT_EQ(files.write(chunk), chunk.records.size());
  EXPECT_NE(files.error().find("cpu0000.ftr: File exists"), std::string::npos) << files.error();
  EXPECT_EQ(size_of(0), 4u);
}

// A limit of file sizes fails as a full disk does, in the middle of a record here.
TEST_F(ChunkFilesTest, KeepsWholeRecordsWhenTheDiskIsFull) {
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  ChunkFiles files(fd_.get(), 2);
  const Chunk chunk = test::event_chunk(0, 0, 10, 40), other = test::event_chunk(1, 0, 10, 1);
  const size_t missing = files.write(chunk) + files.write(chunk);
  const size_t after = files.write(other);
  files.finish();
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  EXPECT_EQ(size_of(0), 1000u / 16 * 16);
  EXPECT_EQ(files.bytes(0), 992u);
  EXPECT_EQ(files.bytes(1), 0u);
  EXPECT_EQ(size_of(0) / 16 + missing, 2 * chunk.records.size());
  EXPECT_EQ(after, other.records.size()) << "nothing is written behind what is missing";
  EXPECT_NE(files.error().find("cannot write cpu0000.ftr: File too large"), std::string::npos)
      << files.error();
}

} // namespace
} // namespace ovnitrace
