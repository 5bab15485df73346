// SPDX-License-Identifier: BSD-2-Clause
// --buffer: the kinds of chunks, their sizes, and when tracing stops: user/chunk.
#include "emulator/base/error.h"
#include "tests/unit/support/chunks.h"
#include "user/chunk/buffer_kind.h"
#include "user/chunk/chunk_meters.h"
#include "user/chunk/linked_chunks.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

TEST(BufferKind, IsReadFromText) {
  EXPECT_EQ(parse_buffer_kind("disk").kind, BufferKind::kJtn);
  EXPECT_EQ(parse_buffer_kind("disk").bytes, 0u);
  EXPECT_EQ(parse_buffer_kind("last:64M").kind, BufferKind::kCyc);
  EXPECT_EQ(parse_buffer_kind("jtn").kind, BufferKind::kJtn) << "the manual's name";
  EXPECT_EQ(parse_buffer_kind("cyc:64M").kind, BufferKind::kCyc);
  EXPECT_EQ(parse_buffer_kind("cyc:64M").bytes, 64u << 20);
  EXPECT_EQ(parse_buffer_kind("stop:1g").kind, BufferKind::kStop);
  EXPECT_EQ(parse_buffer_kind("stop:1g").bytes, 1u << 30);
  EXPECT_EQ(parse_buffer_kind("stop:4096").bytes, 4096u);
  EXPECT_EQ(parse_buffer_kind("stop:16777215T").bytes, 16777215ull << 40) << "the largest";
}

TEST(BufferKind, RefusesUnknownKinds) {
  for (const char *text :
       {"", "disk:1M", "last", "jtn:1M", "cyc", "cyc:", "cyc:0", "cyc:0K", "stop:0", "cyc:-1",
        "cyc:1X", "cyc:1MB", "cyc: 1M", "CYC:1M", "cyc:1M:2", "cyc:99999999999999999999",
        "cyc:18014398509481984K", "stop:16777216T"}) {
    try {
      parse_buffer_kind(text);
      ADD_FAILURE() << text;
    } catch (const Error &error) {
      EXPECT_EQ(error.status(), kExitUsage) << text;
    }
  }
}

TEST(BufferKind, AnErrorSaysWhatToGive) {
  const auto error = [](const std::string &text) -> std::string {
    try {
      parse_buffer_kind(text);
      return "";
    } catch (const Error &thrown) {
      return thrown.what();
    }
  };
  EXPECT_EQ(error("cyc"), "--buffer cyc: give disk (all to disk), last:SIZE (a flight recorder of "
                          "the last SIZE of each CPU) or stop:SIZE (tracing stops when SIZE is "
                          "recorded)");
  EXPECT_EQ(error("stop:0"), "--buffer stop:0: a buffer of no size keeps nothing");
  EXPECT_EQ(error("last:1X"), "--buffer: 1X is no size; give one like 512K, 64M or 2G");
  EXPECT_EQ(error("stop:16777216T"), "--buffer: 16777216T is more than any machine has");
}

TEST(BufferKind, SizesHaveFourUnitsInEitherCase) {
  EXPECT_EQ(parse_size("-x", "0"), 0u);
  EXPECT_EQ(parse_size("-x", "513"), 513u);
  EXPECT_EQ(parse_size("-x", "3k"), 3072u);
  EXPECT_EQ(parse_size("-x", "3K"), 3072u);
  EXPECT_EQ(parse_size("-x", "5m"), 5'242'880u);
  EXPECT_EQ(parse_size("-x", "2G"), 2'147'483'648u);
  EXPECT_EQ(parse_size("-x", "2t"), 2'199'023'255'552u);
  EXPECT_EQ(parse_size("-x", "18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parse_size("-x", "18014398509481983K"), UINT64_MAX - 1023);
  EXPECT_THROW(parse_size("-x", "18014398509481984K"), Error);
}

TEST(RecordingLimit, ReportsOnceWhenReachedAndPassesOnAllChunks) {
  test::CollectingOutput output;
  LinkedChunks queue(output, LinkedChunks::kWait, 1, 3, 256);
  const Chunk chunk = test::event_chunk(0, 0, 1000, 100);
  const uint64_t bytes = chunk.records.size() * sizeof(ftrace_record);
  int full = 0;
  RecordingLimit limit(queue, 3 * bytes - 1, [&] { full++; });
  for (int given = 1; given <= 5; given++) {
    test::give(limit, chunk);
    EXPECT_EQ(full, given >= 3) << given;
  }
  queue.close();
  EXPECT_EQ(output.files[0].size(), 5 * chunk.records.size());
  EXPECT_EQ(output.finished, 1);
}

/// Does not take the last `missing` records of a chunk.
class Refusing final : public ChunkDestination {
public:
  size_t write(const Chunk &) override { return missing; }
  void finish() override {}
  std::string error() const override { return "full"; }
  size_t missing = 0;
};

TEST(CountedOutput, CountsWhatIsTakenOfAChunk) {
  Refusing output;
  CountedOutput counted(output, 3);
  Chunk chunk = test::event_chunk(2, 1, 1000, 10);
  const uint64_t records = chunk.records.size();
  EXPECT_EQ(counted.write(chunk), 0u);
  EXPECT_EQ(counted.bytes(), 16 * records);
  chunk.frame.resize(11);
  EXPECT_EQ(counted.write(chunk), 0u);
  EXPECT_EQ(counted.bytes(), 16 * records + 11) << "the frame is what is written";
  output.missing = 3; // two events and the end of the chunk
  EXPECT_EQ(counted.write(chunk), 3u);
  EXPECT_EQ(counted.bytes(), 16 * records + 11 + 16 * (records - 3));
  EXPECT_EQ(counted.records(), (std::vector<uint64_t>{0, 0, 3 * records - 3}));
  EXPECT_EQ(counted.losses()[2].records, 3u);
  EXPECT_EQ(counted.losses()[2].counted, 2u);
  EXPECT_EQ(counted.error(), "full");
}

TEST(CountedOutput, CountsTakenAndRefusedRecordsOfEachCpu) {
  const Chunk first = test::event_chunk(0, 0, 1000, 100);
  Chunk second = test::event_chunk(1, 0, 1000, 10);
  const auto put = [&](uint16_t code, uint16_t par1, uint32_t par2) {
    ftrace_record record;
    ftrace_record_set(&record, code, par1, 2000, par2);
    second.records.insert(second.records.end() - 1, record);
  };
  put(FTrace_EVT_blackout_end, FTRACE_BLACKOUT_TRANSITIONS, 32);
  put(FTrace_EVT_blackout_end, FTRACE_BLACKOUT_FORGOTTEN, 1000);
  test::CollectingOutput output(first.records.size());
  CountedOutput counted(output, 2);
  EXPECT_EQ(counted.write(first), 0u);
  EXPECT_EQ(counted.write(second), second.records.size());
  EXPECT_EQ(counted.records(), (std::vector<uint64_t>{first.records.size(), 0}));
  EXPECT_EQ(counted.losses()[0].records, 0u);
  EXPECT_EQ(counted.losses()[1].records, second.records.size());
  EXPECT_EQ(counted.losses()[1].counted, 13u);
  EXPECT_EQ(counted.losses()[1].logged, 10u);
  EXPECT_EQ(counted.losses()[1].lost, 42u) << "what was lost in the kernel before is in it";
}

} // namespace
} // namespace ovnitrace
