// SPDX-License-Identifier: BSD-2-Clause
// Files that are missing, or shorter than trace.json says: emulator/input/missing_records.
#include "emulator/base/error.h"
#include "emulator/compress/compress_trace.h"
#include "emulator/convert/convert.h"
#include "emulator/input/missing_records.h"
#include "emulator/input/open.h"
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
  /// What reading tells, all of it at opening.
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

TEST_F(MissingRecords, NothingIsToldOfAWholeTrace) {
  EXPECT_EQ(open().told.size(), 0u);
  compress_trace(dir_.path(), 1);
  EXPECT_EQ(open().told.size(), 0u);
  CollectingSink sink;
  tell_missing_records(dir_.path(), sink);
  EXPECT_EQ(sink.told.size(), 0u);
}

TEST_F(MissingRecords, AFileThatIsMissingIsNamed) {
  std::filesystem::remove(trace_.file(1));
  const CollectingSink sink = open();
  ASSERT_EQ(sink.told.size(), 1u);
  EXPECT_EQ(sink.damage(), 1u);
  EXPECT_EQ(sink.told[0].file, trace_.file(1));
  EXPECT_EQ(sink.told[0].what,
            "the file is missing, with " + std::to_string(count_[1]) + " records");
}

// As a copy that ended too early leaves it: each chunk that is there is sound.
TEST_F(MissingRecords, AFileThatEndsBetweenTwoChunksIsShort) {
  drop_last_records(1, 5);
  EXPECT_EQ(open().count("5 of its " + std::to_string(count_[1]) + " records are missing"), 1u);
}

TEST_F(MissingRecords, AFileWhoseFirstChunkIsMissingIsShort) {
  ChunkBuilder second(1);
  second.at(200).stop();
  const auto &records = second.records();
  TraceBuilder::write_file(trace_.file(1), records.data(), records.size() * sizeof(ftrace_record));
  EXPECT_EQ(open().count(std::to_string(count_[1] - records.size()) + " of its "), 1u);
}

TEST_F(MissingRecords, AreToldOfCompressedFilesToo) {
  drop_last_records(0, 2);
  std::filesystem::remove(trace_.file(1));
  compress_trace(dir_.path(), 1);
  CollectingSink told;
  tell_missing_records(dir_.path(), told);
  for (const CollectingSink &sink : {open(), told}) {
    EXPECT_EQ(sink.damage(), 2u);
    EXPECT_EQ(sink.count("2 of its " + std::to_string(count_[0]) + " records are missing"), 1u);
    EXPECT_EQ(sink.count("the file is missing"), 1u);
  }
}

TEST_F(MissingRecords, AFileThatIsMissingIsNamedAlsoWhereTheCaptureDidNotEnd) {
  trace_.json(R"({"format": "ovnitrace", "version": 1, "cpus": 2})").write();
  EXPECT_EQ(open().told.size(), 0u);
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
              "the trace has no threads: nothing was captured, or it is missing");
  }
  EXPECT_EQ(sink.count("the file is missing"), 1u);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "prv"));
}

} // namespace
} // namespace ovnitrace
