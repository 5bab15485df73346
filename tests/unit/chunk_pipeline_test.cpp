// SPDX-License-Identifier: BSD-2-Clause
// Chunks are written in their order and whole, whether there is time to compress them or not.
#include "user/chunk/chunk_pipeline.h"

#include "emulator/format/chunk_times.h"
#include "tests/unit/support/chunks.h"
#include "tests/unit/support/few_threads.h"

#include <gtest/gtest.h>

#include <zstd.h>

#include <cstring>
#include <memory>
#include <semaphore>
#include <utility>
#include <vector>

namespace ovnitrace {
namespace {

/// Keeps what is in the frames, and waits for `gate` before it takes the first.
class FrameOutput final : public ChunkDestination {
public:
  size_t write(const Chunk &chunk) override {
    std::lock_guard waits(gate);
    const size_t bytes = chunk.records.size() * sizeof(ftrace_record);
    std::vector<ftrace_record> content(chunk.records.size());
    EXPECT_EQ(ZSTD_decompress(content.data(), bytes, chunk.frame.data(), chunk.frame.size()),
              bytes);
    times_.restore(content);
    EXPECT_EQ(std::memcmp(content.data(), chunk.records.data(), bytes), 0);
    written.push_back(chunk);
    (chunk.frame.size() < bytes / 2 ? compressed : stored)++;
    return written.size() % 2;
  }
  void finish() override { finished++; }
  std::string error() const override { return ""; }

  std::mutex gate;
  std::vector<Chunk> written;
  unsigned compressed = 0, stored = 0, finished = 0;

private:
  TimeRestorer times_;
};

constexpr uint32_t kChunks = 40;

/// What came of so many chunks.
struct Passage {
  explicit Passage(const PipelineCompression &compression, bool stalls) {
    std::unique_lock waits(output.gate, std::defer_lock);
    if (stalls)
      waits.lock();
    ChunkPipeline line(output, compression, [this](Chunk *chunk, size_t records) {
      std::lock_guard lock(mutex);
      EXPECT_TRUE(chunk->frame.empty());
      done.push_back(chunk);
      missing += records;
    });
    for (uint32_t n = 0; n < kChunks; n++) {
      chunks.push_back(
          std::make_unique<Chunk>(test::event_chunk(uint16_t(n % 3), n, 1000 * n + 5, 400)));
      line.add(chunks.back().get());
    }
    if (stalls)
      waits.unlock();
    line.close();
    line.close();
  }
  /// Whether each was written once, in its order, and given back.
  bool is_whole() {
    bool whole = done.size() == kChunks && missing == kChunks / 2 && output.finished == 1;
    for (size_t n = 0; n < output.written.size(); n++)
      whole &= output.written[n].records.front().tsc_low == 1000 * n + 5;
    std::sort(done.begin(), done.end());
    return whole && std::unique(done.begin(), done.end()) == done.end();
  }
  FrameOutput output;
  std::mutex mutex;
  std::vector<std::unique_ptr<Chunk>> chunks;
  std::vector<Chunk *> done;
  size_t missing = 0;
};

constexpr std::chrono::hours kLong(1);

TEST(ChunkPipeline, CompressesEveryChunkIfItCanWait) {
  Passage run({1, kChunks, kLong}, false);
  EXPECT_TRUE(run.is_whole());
  EXPECT_EQ(run.output.compressed, kChunks);
}

TEST(ChunkPipeline, WaitsForNoneThatIsNotReady) {
  for (const PipelineCompression &compression :
       {PipelineCompression{1, 0, kLong},
        PipelineCompression{1, kChunks, std::chrono::seconds(0)}}) {
    Passage run(compression, false);
    EXPECT_TRUE(run.is_whole());
    EXPECT_EQ(run.output.written.size(), kChunks);
  }
}

// The output stalls until there are too many: the first ones are written as they are, also one that
// is just being compressed.
TEST(ChunkPipeline, GivesUpForTheFirstOfTooMany) {
  for (const size_t waits : {1u, 5u, 20u}) {
    Passage run({1, waits, kLong}, true);
    EXPECT_TRUE(run.is_whole());
    EXPECT_EQ(run.output.compressed + run.output.stored, kChunks);
    EXPECT_GE(run.output.compressed, 1u) << "the last ones are, at the end";
  }
}

// The writer waits for an hour, so it is the thread that compresses which lets the chunk go.
TEST(ChunkPipeline, CompressesBeforeTheEnd) {
  FrameOutput output;
  std::counting_semaphore<> done(0);
  Chunk first = test::event_chunk(0, 0, 5, 400), second = test::event_chunk(1, 0, 1005, 400);
  ChunkPipeline line(output, {1, 2, kLong}, [&](Chunk *, size_t) { done.release(); });
  line.add(&first);
  EXPECT_TRUE(done.try_acquire_for(std::chrono::seconds(10)));
  line.add(&second);
  EXPECT_TRUE(done.try_acquire_for(std::chrono::seconds(10)));
  line.close();
  EXPECT_EQ(output.compressed, 2u);
  EXPECT_EQ(output.finished, 1u);
}

TEST(ChunkPipeline, WithoutCompressionMakesNoFrames) {
  test::CollectingOutput output(30);
  std::vector<std::pair<Chunk *, size_t>> done;
  Chunk first = test::event_chunk(0, 0, 5, 10), second = test::event_chunk(2, 0, 5, 40);
  {
    ChunkPipeline line(output, {.level = 0}, [&](Chunk *chunk, size_t missing) {
      EXPECT_TRUE(chunk->frame.empty());
      done.emplace_back(chunk, missing);
    });
    line.add(&first);
    line.add(&second);
  }
  EXPECT_EQ(output.finished, 1) << "the destructor closes it";
  EXPECT_EQ(done, (std::vector<std::pair<Chunk *, size_t>>{{&first, 0},
                                                           {&second, second.records.size()}}));
  EXPECT_EQ(output.count(0, FTrace_EVT_task_dispatch), 10u);
  EXPECT_EQ(output.count(2, FTrace_EVT_task_dispatch), 0u);
}

TEST(ChunkPipeline, ThrowsWhereAThreadCannotStart) {
  const auto start = [] {
    FrameOutput output;
    ChunkPipeline(output, {.level = 1}, [](Chunk *, size_t) {});
  };
  EXPECT_GE(test::failures_with_few_threads(start), 2);
}

} // namespace
} // namespace ovnitrace
