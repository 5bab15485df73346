// SPDX-License-Identifier: BSD-2-Clause
// What is said of trace directories that lack something: the whole text.
#include "emulator/input/missing_records.h"
#include "emulator/open/open_trace.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace ovnitrace {
namespace {

using test::TempDir;
using test::TraceBuilder;
using Texts = std::vector<std::string>;

/// Returns "file@offset: what" of each report about one chunk file.
Texts reports(ChunkInput chunk) {
  HostInput host{.name = "host", .chunks = {}};
  chunk.name = "f";
  host.chunks.push_back(std::move(chunk));
  test::CollectingSink sink;
  report_missing_records(host, sink);
  Texts texts;
  for (const Diagnostic &found : sink.reported)
    texts.push_back(found.file + "@" + std::to_string(found.offset) + ": " + found.what);
  return texts;
}

ChunkInput chunk(uint64_t records, uint64_t written, bool missing = false, uint64_t unwritten = 0,
                 uint64_t events = 0) {
  ChunkInput made;
  made.records = records;
  made.written = written;
  made.missing = missing;
  made.unwritten = unwritten;
  made.unwritten_events = events;
  return made;
}

TEST(TextsOfMissingRecords, AreCounted) {
  EXPECT_EQ(reports(chunk(7, 7)), Texts{});
  EXPECT_EQ(reports(chunk(8, 7)), Texts{});
  EXPECT_EQ(reports(chunk(6, 7)), Texts{"f@96: 1 of its 7 records are missing"});
  EXPECT_EQ(reports(chunk(1, 2000)), Texts{"f@16: 1,999 of its 2,000 records are missing"});
}

TEST(TextsOfMissingRecords, OfAMissingFileAreThoseThatItHad) {
  EXPECT_EQ(reports(chunk(0, 7, true)), Texts{"f@0: the file is missing, with 7 records"});
  EXPECT_EQ(reports(chunk(0, 0, true)),
            Texts{"f@0: the file is missing, or was not begun; what was in it is not known"});
}

TEST(TextsOfMissingRecords, MayNeverHaveBeenWritten) {
  EXPECT_EQ(reports(chunk(7, 7, false, 3, 1)),
            Texts{"f@112: 3 records with 1 event in them could not be written"});
  EXPECT_EQ(reports(chunk(0, 0, true, 1, 2)),
            Texts{"f@0: there is no such file: 1 record with 2 events in them could not be "
                  "written"});
  EXPECT_EQ(reports(chunk(0, 4, true, 1, 2)),
            (Texts{"f@0: there is no such file: 1 record with 2 events in them could not be "
                   "written",
                   "f@0: the file is missing, with 4 records"}));
}

struct TraceFaults : ::testing::Test {
  std::string error() {
    test::CollectingSink sink;
    return test::error_from([&] { open_trace({{dir.path()}}, sink); });
  }
  TempDir dir;
};

TEST_F(TraceFaults, ADirectoryNeedsAChunkFile) {
  TraceBuilder(dir.path()).json(R"({"format": "ovnitrace", "version": 1})").write();
  EXPECT_EQ(error(), "the trace " + dir.path() +
                         " has no chunk file (cpu0000.ftr, …): the capture has just begun, or "
                         "nothing could be written");
}

TEST_F(TraceFaults, ATraceNeedsARecord) {
  TraceBuilder::write_file(dir / "cpu0000.ftr", "", 0);
  EXPECT_EQ(error(),
            "the trace " + dir.path() + " is empty: nothing was captured, or it was not written");
}

TEST_F(TraceFaults, AChunkFileIsAFile) {
  std::filesystem::create_directory(dir / "cpu0003.ftr");
  EXPECT_EQ(error(), "cannot read " + (dir / "cpu0003.ftr") + ": not a regular file");
}

TEST_F(TraceFaults, ANewerTraceNeedsANewerReader) {
  TraceBuilder trace(dir.path());
  trace.cpu(0).start().records()[1].par1 = FTRACE_EXT_VERSION + 1;
  trace.write();
  EXPECT_EQ(error(), "cannot read " + (dir / "cpu0000.ftr") + ": its chunks are of version " +
                         std::to_string(FTRACE_EXT_VERSION + 1) + ", this ovnitrace knows " +
                         std::to_string(FTRACE_EXT_VERSION) + ": use a newer ovnitrace");
}

} // namespace
} // namespace ovnitrace
