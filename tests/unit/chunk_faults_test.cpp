// SPDX-License-Identifier: BSD-2-Clause
// What is said of a chunk file that is not whole: the whole text, and the place in the file.
#include "emulator/input/merge.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace ovnitrace {
namespace {

using test::ChunkBuilder;
using Texts = std::vector<std::string>;

constexpr size_t kRecord = sizeof(ftrace_record);

ChunkInput input_of(const std::string &name, const void *bytes, size_t size) {
  UniqueFd fd(memfd_create("chunk", MFD_CLOEXEC));
  EXPECT_EQ(write(fd.get(), bytes, size), ssize_t(size));
  return {.name = name, .fd = std::move(fd), .size = size};
}

/// Returns "file@offset: what" of each report. `cut`: bytes that the end of the file lacks.
Texts reports(ChunkBuilder &chunk, size_t cut = 0, bool with_empty = false) {
  HostInput host{.name = "host", .chunks = {}};
  const std::vector<ftrace_record> &records = chunk.records();
  host.chunks.push_back(input_of("one", records.data(), records.size() * kRecord - cut));
  if (with_empty)
    host.chunks.push_back(input_of("two", "", 0));
  std::vector<HostInput> hosts;
  hosts.push_back(std::move(host));
  test::CollectingSink sink;
  MergedTrace trace(std::move(hosts), sink);
  for (Event event; trace.next(event);)
    continue;
  Texts texts;
  for (const Diagnostic &found : sink.reported)
    texts.push_back(found.file + "@" + std::to_string(found.offset) + ": " + found.what);
  return texts;
}

/// Four records of the chunk's head, and trace_start.
ChunkBuilder started() {
  ChunkBuilder chunk(0);
  chunk.at(100).start();
  return chunk;
}

TEST(ChunkFaults, AWholeFileHasNone) {
  ChunkBuilder chunk = started();
  chunk.at(200).stop();
  EXPECT_EQ(reports(chunk), Texts{});
}

TEST(ChunkFaults, AFileMayEndInARecord) {
  ChunkBuilder chunk = started();
  chunk.at(200).stop();
  EXPECT_EQ(reports(chunk, 3),
            Texts{"one@80: the file was cut: its last 13 bytes are not a whole record"});
}

TEST(ChunkFaults, AFileMayEndBeforeTheCapture) {
  ChunkBuilder chunk = started();
  EXPECT_EQ(reports(chunk), Texts{"one@80: the file ends without trace_stop: the capture still "
                                  "runs, the file was cut, or the tracer was killed"});
}

TEST(ChunkFaults, AFileMayBeEmpty) {
  ChunkBuilder chunk = started();
  chunk.at(200).stop();
  EXPECT_EQ(reports(chunk, 0, true), Texts{"two@0: the file is empty"});
}

TEST(ChunkFaults, AChunkMayLackItsEnd) {
  ChunkBuilder chunk = started();
  chunk.next_chunk().at(150).record(FTrace_EVT_cycles_per_msec, 0, 1000000);
  chunk.record(FTrace_EXT_format, FTRACE_EXT_VERSION).at(200).stop();
  EXPECT_EQ(reports(chunk), Texts{"one@96: a chunk has no end"}) << "where it begins";
}

TEST(ChunkFaults, AChunkMayLackRecords) {
  ChunkBuilder chunk = started();
  chunk.next_chunk().at(200).stop();
  chunk.records()[3].par2 = 7;
  EXPECT_EQ(reports(chunk), Texts{"one@0: a chunk has 6 records, but its numevents says 7"});
}

TEST(ChunkFaults, ALaterChunkMayBeNewer) {
  ChunkBuilder chunk = started();
  chunk.next_chunk().at(200).stop();
  chunk.records()[7].par1 = FTRACE_EXT_VERSION + 1;
  EXPECT_EQ(reports(chunk),
            Texts{"one@112: the chunk has version " + std::to_string(FTRACE_EXT_VERSION + 1) +
                  ", newer than this ovnitrace: use a newer one"});
}

TEST(ChunkFaults, HaveThePlaceOfTheirRecord) {
  ChunkBuilder chunk = started();
  chunk.record(0xee).dispatch(3).record(FTrace_EVT_id, 0, 5);
  chunk.record(FTrace_EVT_cycles_per_msec, 0, 0).record(FTrace_EXT_chunk, 0, 4);
  chunk.record(FTrace_EXT_extension, 0, 0x1f).record(FTrace_EXT_extension, 0, 0x1f);
  chunk.at(200).stop();
  EXPECT_EQ(reports(chunk),
            (Texts{"one@80: unknown code 0x00ee: left out",
                   "one@96: task_dispatch of context 3, for which there is no id record: dropped",
                   "one@112: an id for context 0, which is not a thread: left out",
                   "one@128: cycles_per_msec is 0: left out",
                   "one@144: chunk 4 is in the place of chunk 1",
                   ("one@160: events of the unknown family 0x1f are skipped: a newer ovnitrace may "
                    "know them")}));
}

} // namespace
} // namespace ovnitrace
