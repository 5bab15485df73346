// SPDX-License-Identifier: BSD-2-Clause
// --buffer: the kinds of chunks, their sizes, and when tracing stops: user/chunk.
#include "emulator/base/error.h"
#include "tests/unit/support/chunks.h"
#include "user/chunk/buffer_kind.h"
#include "user/chunk/chunk_queue.h"
#include "user/chunk/recording_limit.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

TEST(BufferKind, IsReadFromText) {
  EXPECT_EQ(parse_buffer_kind("jtn").kind, BufferKind::kJtn);
  EXPECT_EQ(parse_buffer_kind("cyc:64M").kind, BufferKind::kCyc);
  EXPECT_EQ(parse_buffer_kind("cyc:64M").bytes, 64u << 20);
  EXPECT_EQ(parse_buffer_kind("stop:1g").kind, BufferKind::kStop);
  EXPECT_EQ(parse_buffer_kind("stop:1g").bytes, 1u << 30);
  EXPECT_EQ(parse_buffer_kind("stop:4096").bytes, 4096u);
}

TEST(BufferKind, RefusesWhatIsNone) {
  for (const char *text :
       {"", "jtn:1M", "cyc", "cyc:", "cyc:0", "cyc:0K", "stop:0", "cyc:-1", "cyc:1X", "cyc:1MB",
        "cyc: 1M", "CYC:1M", "cyc:1M:2", "cyc:99999999999999999999", "cyc:18014398509481984K",
        "stop:16777216T"}) {
    try {
      parse_buffer_kind(text);
      ADD_FAILURE() << text;
    } catch (const Error &error) {
      EXPECT_EQ(error.status(), kExitUsage) << text;
    }
  }
}

TEST(BufferKind, RefusesMoreThanTheMemory) {
  EXPECT_NO_THROW(require_memory({BufferKind::kCyc, 1 << 20}, 2));
  EXPECT_THROW(require_memory({BufferKind::kCyc, 1ull << 50}, 2), Error);
  EXPECT_THROW(require_memory({BufferKind::kCyc, UINT64_MAX}, 4096), Error);
  EXPECT_NO_THROW(require_memory({BufferKind::kStop, 1ull << 50}, 2)) << "goes to the disk";
}

TEST(RecordingLimit, TellsOnceWhenSoMuchIsRecordedAndLosesNothing) {
  test::CollectingOutput output;
  ChunkQueue queue(output, 4, 256);
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

TEST(ChunkQueue, CountsWhatItsOutputDoesNotTake) {
  const Chunk chunk = test::event_chunk(0, 0, 1000, 100);
  test::CollectingOutput output(2 * chunk.records.size());
  ChunkQueue queue(output, 2, 256);
  for (int n = 0; n < 5; n++)
    test::give(queue, chunk);
  queue.close();
  EXPECT_EQ(queue.records_dropped(), 3 * chunk.records.size());
  EXPECT_EQ(queue.error(), "no room");
}

} // namespace
} // namespace ovnitrace
