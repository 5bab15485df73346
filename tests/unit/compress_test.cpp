// SPDX-License-Identifier: BSD-2-Clause
// Compressed chunks: written, read whatever their bytes are, and made from plain files:
// emulator/compress.
#include "emulator/base/error.h"
#include "emulator/compress/compress_trace.h"
#include "emulator/format/chunk_frame.h"
#include "emulator/open/open_trace.h"
#include "tests/unit/support/cases.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"
#include "user/chunk/trace_directory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <sys/stat.h>

#include <random>

namespace ovnitrace {
namespace {

using test::ChunkBuilder;
using test::CollectingSink;
using test::TempDir;
using test::TraceBuilder;

void write_contents(const std::string &path, const std::string &bytes) {
  TraceBuilder::write_file(path, bytes.data(), bytes.size());
}

/// Ten chunks of 400 events on CPU 3.
std::string plain_chunks() {
  ChunkBuilder chunk(3);
  chunk.at(5).start();
  for (int n = 0; n < 10; n++) {
    chunk.id(1, 100, 100, "thread");
    for (uint64_t k = 0; k < 400; k++)
      chunk.at(uint64_t(n) * 100000 + 10 + k * 100 + k * 37 % 100)
          .dispatch(1, uint32_t(k * 2654435761u >> 25));
    if (n < 9)
      chunk.next_chunk();
  }
  chunk.stop();
  const auto &records = chunk.records();
  return {reinterpret_cast<const char *>(records.data()), records.size() * sizeof(ftrace_record)};
}

struct Reading {
  explicit Reading(const std::string &directory) {
    std::unique_ptr<EventSource> source = open_trace({{directory, 0}}, sink);
    catalog = source->catalog();
    for (Event event; source->next(event);) {
      EXPECT_GE(event.time, last) << "in order";
      last = event.time;
      events++;
      text += fmt::format("{} {} {} {}\n", event.time, event.kind, event.thread, event.par2);
    }
  }
  CollectingSink sink;
  Catalog catalog;
  std::string text; ///< the events, a line each
  size_t events = 0;
  uint64_t last = 0;
};

class Compress : public testing::Test {
protected:
  Compress() { write_contents(plain_, bytes_); }
  std::string dumped() const { return Reading(dir_.path()).text; }
  TempDir dir_;
  const std::string plain_ = dir_ / "cpu0003.ftr", packed_ = dir_ / "cpu0003.ftr.zst";
  const std::string bytes_ = plain_chunks();
};

TEST_F(Compress, GivesTheSameEventsAndTheSameBytes) {
  const Reading before(dir_.path());
  ASSERT_EQ(before.events, 4002u);
  chmod(plain_.c_str(), 0640);
  for (int level : {kLeastLevel, 3, kMostLevel}) {
    const CompressResult packed = compress_trace(dir_.path(), level);
    EXPECT_EQ(packed.files, 1u);
    EXPECT_EQ(packed.bytes_before, bytes_.size());
    EXPECT_EQ(packed.bytes_after, test::text_of(packed_).size());
    EXPECT_LT(packed.bytes_after, bytes_.size() / 2);
    EXPECT_FALSE(std::filesystem::exists(plain_));
    struct stat status;
    ASSERT_EQ(stat(packed_.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0640u);
    const Reading after(dir_.path());
    EXPECT_EQ(after.events, before.events);
    EXPECT_EQ(after.catalog.end, before.catalog.end);
    EXPECT_EQ(after.catalog.cpus.at(0).index, 3u);
    EXPECT_EQ(after.sink.damage(), 0u);
    EXPECT_EQ(decompress_trace(dir_.path()).files, 1u);
    EXPECT_EQ(test::text_of(plain_), bytes_);
    EXPECT_FALSE(std::filesystem::exists(packed_));
  }
  EXPECT_EQ(decompress_trace(dir_.path()).files, 0u) << "no compressed file is left";
}

// Its tracer would write on into files that are gone.
TEST_F(Compress, LeavesATraceAloneThatIsBeingWritten) {
  write_contents(dir_ / "trace.json", "{}");
  const auto refused = [&](const auto &call) {
    const TraceDirectory writing(dir_.path(), IfExists::overwrite);
    try {
      call();
    } catch (const Error &error) {
      return std::string(error.what()) ==
             dir_.path() + " is being written by another ovnitrace; wait for its end";
    }
    return false;
  };
  EXPECT_TRUE(refused([&] { compress_trace(dir_.path(), 1); }));
  EXPECT_EQ(test::text_of(plain_), bytes_);
  compress_trace(dir_.path(), 1);
  EXPECT_TRUE(refused([&] { decompress_trace(dir_.path()); }));
  EXPECT_TRUE(std::filesystem::exists(packed_));
  decompress_trace(dir_.path());
  EXPECT_EQ(test::text_of(plain_), bytes_);
}

TEST_F(Compress, CountsTheBytesOfAllFiles) {
  write_contents(dir_ / "cpu0004.ftr", bytes_);
  const CompressResult packed = compress_trace(dir_.path(), 3);
  EXPECT_EQ(packed.files, 2u);
  EXPECT_EQ(packed.bytes_before, 2 * bytes_.size());
  EXPECT_EQ(packed.bytes_after, 2 * test::text_of(packed_).size());
}

TEST_F(Compress, ReportsFilesThatAreAlreadyInTheWantedForm) {
  EXPECT_EQ(decompress_trace(dir_.path()).left, 1u);
  EXPECT_EQ(compress_trace(dir_.path(), 1).left, 0u);
  const std::string packed = test::text_of(packed_);
  write_contents(dir_ / "cpu0004.ftr", bytes_);
  const CompressResult again = compress_trace(dir_.path(), kMostLevel);
  EXPECT_EQ(again.files, 1u);
  EXPECT_EQ(again.left, 1u);
  EXPECT_EQ(test::text_of(packed_), packed);
}

TEST_F(Compress, RefusesADirectoryThatIsNoTrace) {
  std::filesystem::remove(plain_);
  write_contents(dir_ / "notes.txt", "no chunk");
  const std::string expected = dir_.path() +
                               " is no trace: name the directory that ovnitrace wrote, with the "
                               "chunk files cpu0000.ftr, …";
  EXPECT_EQ(test::failure_from([&] { compress_trace(dir_.path(), 1); }), expected);
  EXPECT_EQ(test::failure_from([&] { decompress_trace(dir_.path()); }), expected);
}

TEST_F(Compress, LeavesAPartOfARotatedTraceAlone) {
  write_contents(dir_ / "part.json", "{\"version\": 1}");
  for (const auto &change : {std::function([&] { compress_trace(dir_.path(), 3); }),
                             std::function([&] { decompress_trace(dir_.path()); })})
    EXPECT_EQ(test::failure_from(change),
              dir_.path() + " is a part of a rotated trace: its files are read together with those "
                            "of the other parts, and stay as they are");
  EXPECT_EQ(test::text_of(plain_), bytes_);
}

// Independent frames, each with its size: what the standard tool needs and what makes chunks
// readable alone.
TEST_F(Compress, MakesAFrameOfEachChunk) {
  compress_trace(dir_.path(), 1);
  const std::string packed = test::text_of(packed_);
  size_t at = 0, frames = 0;
  std::string all;
  while (at < packed.size()) {
    const size_t size = ZSTD_findFrameCompressedSize(packed.data() + at, packed.size() - at);
    ASSERT_FALSE(ZSTD_isError(size));
    const unsigned long long content = ZSTD_getFrameContentSize(packed.data() + at, size);
    ASSERT_LT(content, 1u << 20);
    std::string chunk(content, 0);
    ASSERT_EQ(ZSTD_decompress(chunk.data(), chunk.size(), packed.data() + at, size), content);
    EXPECT_EQ(chunk[0], FTrace_EVT_cycles_per_msec);
    all += chunk;
    at += size;
    frames++;
  }
  EXPECT_EQ(frames, 10u);
  EXPECT_LT(packed.size(), bytes_.size() / 4);
  // What `zstd -d` gives has differences in place of times, and is read as well.
  EXPECT_FALSE(all == bytes_);
  const std::string dump = dumped();
  std::filesystem::remove(packed_);
  write_contents(plain_, all);
  EXPECT_TRUE(dumped() == dump);
  write_contents(plain_, bytes_);
  EXPECT_TRUE(dumped() == dump);
}

TEST_F(Compress, GivesAFileThatCanBeNamedAlone) {
  const std::string dump = dumped();
  compress_trace(dir_.path(), 1);
  const Reading alone(packed_);
  EXPECT_TRUE(alone.text == dump);
  EXPECT_EQ(alone.sink.damage(), 0u);
}

// As before there were differences.
TEST_F(Compress, ReadsFramesOfChunksWithTimes) {
  const std::string dump = dumped();
  FrameCompressor compressor(1);
  const auto frame = compressor.compress(bytes_.data(), bytes_.size());
  std::filesystem::remove(plain_);
  write_contents(packed_, {frame.begin(), frame.end()});
  EXPECT_TRUE(dumped() == dump);
  EXPECT_EQ(decompress_trace(dir_.path()).files, 1u);
  EXPECT_TRUE(test::text_of(plain_) == bytes_);
}

TEST_F(Compress, KeepsAnyBytesAsTheyAre) {
  for (size_t size : {size_t(0), size_t(1), size_t(15), size_t(17), bytes_.size() - 5}) {
    write_contents(plain_, bytes_.substr(0, size));
    compress_trace(dir_.path(), 1);
    decompress_trace(dir_.path());
    EXPECT_EQ(test::text_of(plain_), bytes_.substr(0, size));
  }
  std::string large(9 << 20, 0); // no chunk in it: frames of what one can hold
  std::mt19937 random(1);
  for (size_t at = 0; at < large.size(); at += 64)
    large[at] = char(random());
  write_contents(plain_, large);
  compress_trace(dir_.path(), 1);
  decompress_trace(dir_.path());
  EXPECT_TRUE(test::text_of(plain_) == large);
}

TEST_F(Compress, LeavesAFileThatItCannotReplace) {
  const std::string planted = dir_ / "victim";
  write_contents(planted, "untouched");
  std::filesystem::create_symlink(planted, dir_ / "cpu0001.ftr");
  EXPECT_EQ(test::failure_from([&] { compress_trace(dir_.path(), 1); }),
            dir_.path() + "/cpu0001.ftr: cannot read cpu0001.ftr: Too many levels of symbolic "
                          "links; the file was not changed");
  std::filesystem::remove(dir_ / "cpu0001.ftr");
  EXPECT_EQ(test::text_of(planted), "untouched");
  EXPECT_EQ(test::text_of(plain_), bytes_);

  compress_trace(dir_.path(), 1);
  std::string damaged = test::text_of(packed_);
  damaged[damaged.size() / 2] ^= 1;
  write_contents(packed_, damaged);
  const std::string error = test::failure_from([&] { decompress_trace(dir_.path()); });
  EXPECT_TRUE(error.starts_with(packed_ + ": cannot decompress a chunk file: ")) << error;
  EXPECT_TRUE(error.ends_with("; the file was not changed")) << error;
  EXPECT_EQ(test::text_of(packed_), damaged);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_.path()), {}), 2)
      << "and nothing is left over";
  EXPECT_EQ(test::failure_from([&] { compress_trace(dir_ / "none", 1); }),
            "cannot open the trace directory " + (dir_ / "none") + ": No such file or directory");
}

TEST_F(Compress, PrefersThePlainFileWhereBothAreThere) {
  write_contents(packed_, "half of a compr");
  const Reading reading(dir_.path());
  EXPECT_EQ(reading.events, 4002u);
  EXPECT_EQ(reading.sink.damage(), 0u);
}

// What a killed tracer leaves: the chunks before are all there.
TEST_F(Compress, ReadsAFileThatWasCut) {
  compress_trace(dir_.path(), 1);
  const std::string packed = test::text_of(packed_);
  size_t last_events = 0;
  for (size_t length = 1; length < packed.size(); length += 97) {
    write_contents(packed_, packed.substr(0, length));
    if (length < 16) {
      EXPECT_THROW(Reading reading(dir_.path()), Error) << "nothing in it";
      continue;
    }
    const Reading reading(dir_.path());
    EXPECT_GE(reading.events, last_events);
    EXPECT_EQ(reading.sink.count("cut in the middle of a compressed chunk"), 1u) << length;
    last_events = reading.events;
  }
  EXPECT_GE(last_events, 9 * 400u);
}

TEST_F(Compress, ContinuesAfterADamagedChunk) {
  compress_trace(dir_.path(), 1);
  std::string packed = test::text_of(packed_);
  packed[packed.size() / 2] ^= 0x55;
  write_contents(packed_, packed);
  const Reading reading(dir_.path());
  EXPECT_GE(reading.events, 8 * 400u);
  EXPECT_LT(reading.events, 4002u);
  EXPECT_EQ(reading.sink.count("a compressed chunk is damaged"), 1u);
}

TEST_F(Compress, SurvivesAnyWrongBytes) {
  compress_trace(dir_.path(), 1);
  const std::string packed = test::text_of(packed_);
  std::mt19937 random(3);
  for (unsigned round = 0; round < test::cases(500); round++) {
    std::string damaged = packed.substr(0, packed.size() - random() % 40);
    for (uint32_t flips = 1 + random() % 8; flips; flips--)
      damaged[random() % damaged.size()] = char(random());
    write_contents(packed_, damaged);
    try {
      const Reading reading(dir_.path());
      ASSERT_LE(reading.events, 8010u);
    } catch (const Error &error) { // only a newer version is refused
      ASSERT_NE(std::string_view(error.what()).find("newer ovnitrace"), std::string_view::npos)
          << error.what();
    }
  }
}

} // namespace
} // namespace ovnitrace
