// SPDX-License-Identifier: BSD-2-Clause
// Files that are missing, or shorter than trace.json says: emulator/input/missing_records.
#include "emulator/base/error.h"
#include "emulator/compress/compress_trace.h"
#include "emulator/input/missing_records.h"
#include "emulator/open/open_trace.h"
#include "emulator/summary/summarizer.h"
#include "tests/support/convert_directory.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace ovnitrace {
namespace {

using test::ChunkBuilder;
using test::CollectingSink;
using test::TempDir;
using test::TraceBuilder;

/// A thread on CPU 0, none on CPU 1, two chunks each.
class MissingRecords : public testing::Test {
protected:
  MissingRecords() : trace_(dir_.path()) {
    trace_.cpu(0)
        .at(100)
        .start()
        .id(1, 7, 7, "app")
        .dispatch(1)
        .next_chunk()
        .id(1, 7, 7, "app")
        .at(200)
        .end(1)
        .stop();
    trace_.cpu(1).at(100).start().at(150).next_chunk().at(200).stop();
    count_[0] = trace_.cpu(0).records().size();
    count_[1] = trace_.cpu(1).records().size();
    trace_.json(
        R"({"format": "ovnitrace", "version": 1, "cpus": 2, "written": [{"cpu": 0, "records": )" +
        std::to_string(count_[0]) + R"(}, {"cpu": 1, "records": )" + std::to_string(count_[1]) +
        "}, 5, {}]}");
    trace_.write();
  }
  /// What reading reports, all of it at opening.
  CollectingSink open() const {
    CollectingSink sink;
    open_trace({{dir_.path(), 0}}, sink);
    return sink;
  }
  void drop_last_records(uint16_t cpu, uint64_t records) const {
    std::filesystem::resize_file(trace_.file(cpu), (count_[cpu] - records) * sizeof(ftrace_record));
  }

  TempDir dir_;
  TraceBuilder trace_;
  uint64_t count_[2];
};

TEST_F(MissingRecords, NothingIsReportedOfAWholeTrace) {
  EXPECT_EQ(open().reported.size(), 0u);
  compress_trace(dir_.path(), 1);
  EXPECT_EQ(open().reported.size(), 0u);
  CollectingSink sink;
  report_missing_records(dir_.path(), sink);
  EXPECT_EQ(sink.reported.size(), 0u);
}

TEST_F(MissingRecords, AFileThatIsMissingIsNamed) {
  std::filesystem::remove(trace_.file(1));
  const CollectingSink sink = open();
  ASSERT_EQ(sink.reported.size(), 1u);
  EXPECT_EQ(sink.damage(), 1u);
  EXPECT_EQ(sink.reported[0].file, trace_.file(1));
  EXPECT_EQ(sink.reported[0].what,
            "the file is missing, with " + std::to_string(count_[1]) + " records");
}

// As a copy that ended too early leaves it: each chunk that is there is sound.
TEST_F(MissingRecords, AFileThatEndsBetweenTwoChunksIsShort) {
  drop_last_records(1, 5);
  const CollectingSink sink = open();
  ASSERT_FALSE(sink.reported.empty());
  EXPECT_EQ(sink.reported[0].what,
            "5 of its " + std::to_string(count_[1]) + " records are missing");
  EXPECT_EQ(sink.reported[0].offset, (count_[1] - 5) * sizeof(ftrace_record)) << "in bytes";
}

TEST_F(MissingRecords, OneRecordThatIsMissingIsSeen) {
  drop_last_records(1, 1);
  const std::string what = "1 of its " + std::to_string(count_[1]) + " records are missing";
  EXPECT_EQ(open().count(what), 1u);
  CollectingSink sink;
  report_missing_records(dir_.path(), sink);
  EXPECT_EQ(sink.count(what), 1u) << "also by the size of the files alone";
}

TEST_F(MissingRecords, AFileWhoseFirstChunkIsMissingIsShort) {
  ChunkBuilder second(1);
  second.at(200).stop();
  const auto &records = second.records();
  TraceBuilder::write_file(trace_.file(1), records.data(), records.size() * sizeof(ftrace_record));
  EXPECT_EQ(open().count(std::to_string(count_[1] - records.size()) + " of its "), 1u);
}

// The numbers of a flight recorder's chunks need not begin with 0: it has forgotten the others, and
// says so itself. A gap is only where records are missing that were written.
TEST_F(MissingRecords, AFirstChunkOfAnyNumberIsWholeIfAllThatWasWrittenIsThere) {
  ChunkBuilder chunk(1);
  chunk.at(150).record(FTrace_EVT_ipoint).at(200).stop().records()[2].par2 = 4;
  const auto &records = chunk.records();
  TraceBuilder::write_file(trace_.file(1), records.data(), records.size() * sizeof(ftrace_record));
  for (uint64_t more : {0, 1}) {
    const std::string json =
        R"({"format": "ovnitrace", "version": 1, "written": [{"cpu": 1, "records": )" +
        std::to_string(records.size() + more) + "}]}";
    TraceBuilder::write_file(dir_ / "trace.json", json.data(), json.size());
    CollectingSink sink;
    const auto source = open_trace({{dir_.path(), 0}}, sink);
    uint64_t gaps = 0;
    for (Event event; source->next(event);)
      gaps += event.kind == FTrace_EVT_blackout_start;
    EXPECT_EQ(gaps, more);
    EXPECT_EQ(sink.reported.size(), more);
  }
}

TEST_F(MissingRecords, OfCompressedFilesAreReported) {
  drop_last_records(0, 2);
  std::filesystem::remove(trace_.file(1));
  compress_trace(dir_.path(), 1);
  CollectingSink reported;
  report_missing_records(dir_.path(), reported);
  EXPECT_EQ(reported.damage(), 2u);
  for (const CollectingSink &sink : {open(), reported}) {
    EXPECT_EQ(sink.count("2 of its " + std::to_string(count_[0]) + " records are missing"), 1u);
    EXPECT_EQ(sink.count("the file is missing"), 1u);
  }
}

TEST_F(MissingRecords, AFileThatIsMissingIsNamedAlsoWhereTheCaptureDidNotEnd) {
  trace_.json(R"({"format": "ovnitrace", "version": 1, "cpus": 2})").write();
  EXPECT_EQ(open().reported.size(), 0u);
  std::filesystem::remove(trace_.file(1));
  EXPECT_EQ(open().count("the file is missing, or was not begun; what was in it is not known"), 1u);
}

TEST_F(MissingRecords, ATraceWithoutThreadsNeedNotHaveCapturedNothing) {
  std::filesystem::remove(trace_.file(0));
  CollectingSink sink;
  ConvertOptions options;
  options.directory = dir_ / "prv";
  try {
    convert_directory(dir_.path(), options, sink);
    FAIL() << "there is no thread";
  } catch (const Error &error) {
    EXPECT_EQ(std::string(error.what()),
              "the trace has no threads: nothing was captured, or its files are missing");
  }
  EXPECT_EQ(sink.count("the file is missing"), 1u);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "prv"));
}

/// A capture from 100 to 1000 ns, with a chunk of CPU 0 in its file and none of CPU 1, as a full
/// disk leaves it.
class NotWritten : public testing::Test {
protected:
  void write(const std::string &members) {
    ChunkBuilder &chunk = trace_.cpu(0).at(100).start().id(1, 7, 7, "app").dispatch(1);
    chunk.at(200).record(FTrace_EVT_next_chunk, 0, 1);
    trace_.json(R"({"format": "ovnitrace", "version": 1, "cpus": 2, "begin_ns": 100,
                    "topology": [{"cpu": 0}, {"cpu": 1}], "end_ns": 1000,
                    "written": [{"cpu": 0, "records": )" +
                std::to_string(chunk.records().size()) +
                R"(}], "ended": {"write_error": "no space"})" + members + "}");
    trace_.write();
  }
  Summary summary() {
    CollectingSink sink;
    const auto source = open_trace({{dir_.path(), 0}}, sink);
    EXPECT_EQ(source->catalog().begin, 100u);
    EXPECT_EQ(source->catalog().end, 1000u) << "not only what was written";
    Summary all = summarize(*source);
    damage_ = sink.damage();
    return all;
  }

  TempDir dir_;
  TraceBuilder trace_{dir_.path()};
  size_t damage_ = 0;
};

TEST_F(NotWritten, IsABlackoutToTheEndOfTheCaptureWithItsCount) {
  write(R"(, "not_written": [{"cpu": 0, "records": 90, "events": 40},
                             {"cpu": 1, "records": 9, "events": 5}])");
  const Summary of = summary();
  EXPECT_EQ(damage_, 2u) << "both are reported, once";
  EXPECT_EQ(of.lost, 45u);
  EXPECT_FALSE(of.lost_more) << "it is known how many";
  EXPECT_EQ(of.cpus[0].lost, 40u);
  EXPECT_EQ(of.cpus[0].unknown, 900u);
  EXPECT_EQ(of.cpus[1].lost, 5u);
  EXPECT_EQ(of.cpus[1].unknown, 900u) << "a CPU of which nothing was written";
  EXPECT_EQ(of.threads[0].alive(), 900u);
  EXPECT_EQ(of.events, 2u) << "what a reader adds is no event of the trace";
}

TEST_F(NotWritten, IsNoBlackoutIfTheCpuHadNoRecords) {
  write(R"(, "not_written": [{"cpu": 1, "records": 6, "events": 0}])");
  const Summary of = summary();
  EXPECT_EQ(of.cpus[1].unknown, 0u);
  EXPECT_FALSE(of.cpus[1].lost_more);
}

TEST_F(NotWritten, HasNoCountWhereTheFileWasCutLater) {
  write(R"(, "not_written": [{"cpu": 0, "records": 90, "events": 40}])");
  std::filesystem::resize_file(trace_.file(0), std::filesystem::file_size(trace_.file(0)) - 16);
  EXPECT_TRUE(summary().cpus[0].lost_more);
}

// The trace was written before trace.json counted what could not be written.
TEST_F(NotWritten, IsABlackoutWithoutACountIfTheCountIsMissing) {
  write("");
  const Summary of = summary();
  EXPECT_TRUE(of.cpus[0].lost_more);
  EXPECT_TRUE(of.cpus[1].lost_more);
  EXPECT_EQ(of.cpus[1].unknown, 900u);
}

// The file that has the last event ends with the trace, as far as anybody knows.
TEST(CutFile, HasLostAnUnknownNumberOfEvents) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(100).start().id(1, 7, 7, "app").dispatch(1).at(200).sleep(1).at(300).stop();
  trace.write();
  std::filesystem::resize_file(trace.file(0), std::filesystem::file_size(trace.file(0)) -
                                                  2 * sizeof(ftrace_record));
  CollectingSink sink;
  const Summary of = summarize(*open_trace({{dir.path(), 0}}, sink));
  EXPECT_TRUE(of.lost_more);
  EXPECT_TRUE(of.cpus[0].lost_more);
  EXPECT_EQ(of.cpus[0].unknown, 0u);
}

} // namespace
} // namespace ovnitrace
