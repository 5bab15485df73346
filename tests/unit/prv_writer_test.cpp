// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/prv/prv_writer.h"

#include "emulator/base/error.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/prv_shape.h"
#include "tests/unit/support/temp_dir.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <memory>

namespace ovnitrace {
namespace {

using test::gunzip;
using test::lines_of;

using test::kFourRows;
using test::numbers_of;
using test::two_nodes;

class PrvWriterTest : public testing::Test {
protected:
  PrvWriterTest() : writer(std::make_unique<PrvWriter>(path, two_nodes(), kFourRows)) {}

  /// A line of one value, on the CPU of its row.
  void event(uint64_t time, uint32_t row, uint32_t type, int64_t value) {
    const TypedValue line[] = {{value, type}};
    writer->line(time, row, cpus[row], line);
  }

  /// Closes the trace and returns its body.
  std::vector<std::string> body(uint64_t end = 1000) {
    writer->close(end);
    std::vector<std::string> lines = lines_of(path);
    lines.erase(lines.begin());
    return lines;
  }

  test::TempDir dir;
  std::string path = dir / "thread.prv";
  std::unique_ptr<PrvWriter> writer;
  uint32_t cpus[4] = {}; ///< by row
};

using Lines = std::vector<std::string>;

TEST_F(PrvWriterTest, HeaderReportsNodesAndTasksAndIsRewrittenAtClose) {
  event(5, 0, 4, 1);
  writer->close(123456789);
  std::string header = lines_of(path).front();
  EXPECT_EQ(header.substr(0, 10), "#Paraver (");
  EXPECT_EQ(header.substr(header.find("):")), "):00000000000123456789_ns:2(4,2):1:2(3:1,1:2)");
}

TEST_F(PrvWriterTest, HeaderEndsAtTheLastRecordIfThatIsLater) {
  event(5, 0, 4, 1);
  writer->arrow(2000, 0, 1, 3000, 0, 0);
  writer->close(1000);
  EXPECT_NE(lines_of(path).front().find("):00000000000000003000_ns:"), std::string::npos);
}

TEST(PrvWriter, TraceOfCpusHasNoNodes) {
  test::TempDir dir;
  PrvHeader header;
  header.tasks = {{{1, 1}}};
  PrvWriter writer(dir / "cpu.prv", header, {{1, 1}, {1, 2}});
  const TypedValue value[] = {{2, 3}};
  writer.line(7, 1, 1, value); // CPU 1 would make Paraver drop the line
  writer.close(9);
  Lines lines = lines_of(dir / "cpu.prv");
  EXPECT_EQ(lines[0].substr(lines[0].find("_ns")), "_ns:0:1:1(2:1)");
  EXPECT_EQ(lines[1], "2:0:1:1:2:7:3:2");
}

TEST_F(PrvWriterTest, EventsOfOneRowAtOneTimeAreOneLine) {
  event(10, 0, 6, 1);
  event(10, 1, 4, 2);
  event(10, 0, 2, 77);
  event(11, 0, 4, -5);
  EXPECT_EQ(body(), (Lines{"2:0:1:1:1:10:6:1:2:77", "2:0:1:1:2:10:4:2", "2:0:1:1:1:11:4:-5"}));
}

TEST_F(PrvWriterTest, LargeValuesOfOneRowAtOneTimeAreOneLine) {
  event(10, 0, 6, int64_t(1) << 40);
  event(10, 0, 2, -(int64_t(1) << 40));
  event(10, 0, 4, 3);
  EXPECT_EQ(body(), Lines{"2:0:1:1:1:10:6:1099511627776:2:-1099511627776:4:3"});
}

TEST_F(PrvWriterTest, PunctualEventsOfOneTypeAndTimeAreAllWritten) {
  event(10, 0, 9, 1);
  for (const int64_t value : {5, 7, 7})
    writer->punctual(10, 0, {value, 9});
  writer->punctual(10, 0, {3, 8});
  writer->punctual(11, 0, {2, 9});
  writer->punctual(11, 0, {6, 9});
  event(11, 0, 9, 4);
  EXPECT_EQ(body(), (Lines{"2:0:1:1:1:10:9:5:9:7:9:7:8:3", "2:0:1:1:1:11:9:2:9:4"}));
}

TEST_F(PrvWriterTest, TheLastValueOfATypeWinsAndTheTypeIsThereOnce) {
  event(10, 0, 4, 1);
  event(10, 0, 2, 7);
  event(10, 0, 4, 2);
  event(10, 0, 2, 8);
  event(10, 0, 4, 3);
  EXPECT_EQ(body(), (Lines{"2:0:1:1:1:10:4:3:2:8"}));
}

// docs/models.md, "Channels": a punctual event is shown 1 ns before its time, on the CPU that its
// row had until then.
TEST_F(PrvWriterTest, PunctualEventHasTheCpuOfTheLineBefore) {
  cpus[1] = 2;
  event(5, 1, 4, 1);
  writer->punctual(9, 1, {3, 50});
  cpus[1] = 3;
  event(10, 1, 50, 0);
  EXPECT_EQ(body(), (Lines{"2:2:1:1:2:5:4:1", "2:2:1:1:2:9:50:3", "2:3:1:1:2:10:50:0"}));
}

TEST_F(PrvWriterTest, PunctualEventJoinsTheLineOfTheInstantBefore) {
  event(9, 1, 4, 1);
  event(9, 0, 4, 7);
  writer->punctual(9, 1, {3, 50});
  writer->punctual(9, 1, {2, 4});
  event(10, 0, 4, 1);
  EXPECT_EQ(body(), (Lines{"2:0:1:1:2:9:4:2:50:3", "2:0:1:1:1:9:4:7", "2:0:1:1:1:10:4:1"}));
}

TEST_F(PrvWriterTest, ArrowsComeAfterAllLinesOfTheirInstant) {
  writer->arrow(9, 0, 1, 9, 0, 1);
  event(9, 1, 4, 1);
  EXPECT_EQ(body(), (Lines{"2:0:1:1:2:9:4:1", "3:0:1:1:1:9:9:0:1:1:2:9:9:0:1"}));
}

TEST_F(PrvWriterTest, InstantsOneNanosecondApartStayApart) {
  for (uint64_t time = 0; time < 5; time++)
    event(time, 0, 4, int64_t(time));
  EXPECT_EQ(body(), (Lines{"2:0:1:1:1:0:4:0", "2:0:1:1:1:1:4:1", "2:0:1:1:1:2:4:2",
                           "2:0:1:1:1:3:4:3", "2:0:1:1:1:4:4:4"}));
}

TEST_F(PrvWriterTest, TimeThatGoesBackIsAnError) {
  event(10, 0, 4, 1);
  EXPECT_EQ(test::failure_from([&] { event(9, 0, 4, 2); }),
            "cannot write an event at 9 ns after one at 10 ns: the input is not ordered by time");
  EXPECT_THROW(writer->arrow(0, 0, 1, 0, 0, 0), Error);
  EXPECT_THROW(event(UINT64_MAX, 0, 4, 2), Error);
  EXPECT_EQ(body(), (Lines{"2:0:1:1:1:10:4:1"}));
}

TEST_F(PrvWriterTest, NothingComesBeforeTimeZero) {
  EXPECT_THROW(event(UINT64_MAX, 0, 4, 2), Error);
  EXPECT_THROW(event(uint64_t(INT64_MAX) + 1, 0, 4, 2), Error);
}

TEST_F(PrvWriterTest, TheCpuFieldIsTheCpuAtTheStartOfTheLine) {
  event(10, 0, 4, 1);
  cpus[0] = 3;
  event(10, 0, 2, 7); // the line at 10 has begun without a CPU
  event(11, 0, 4, 2);
  cpus[0] = 0;
  event(12, 0, 4, 3);
  cpus[0] = 3;
  event(13, 0, 4, 4);
  EXPECT_EQ(body(), (Lines{"2:0:1:1:1:10:4:1:2:7", "2:3:1:1:1:11:4:2", "2:0:1:1:1:12:4:3",
                           "2:3:1:1:1:13:4:4"}));
}

TEST_F(PrvWriterTest, CpuOfAnotherNodeOrOfNoneIsNotWritten) {
  uint64_t time = 0;
  for (uint32_t cpu : {0u, 1u, 4u, 5u, 6u, 7u, 70000u, UINT32_MAX}) {
    for (uint32_t row : {0u, 3u}) {
      cpus[row] = cpu;
      event(time, row, 4, cpu);
    }
    time += 10;
  }
  for (const std::string &line : body()) {
    std::vector<uint64_t> field = numbers_of(line);
    bool on_its_node = field[2 + 1] == 1 ? field[7] <= 4 : field[7] == 5 || field[7] == 6;
    EXPECT_EQ(field[1], on_its_node ? field[7] : 0) << line;
  }
}

TEST_F(PrvWriterTest, ArrowsHaveBothObjectsAndTheirCpus) {
  cpus[0] = 2;
  cpus[3] = 6;
  event(8, 0, 4, 1);
  event(8, 3, 4, 1);
  writer->arrow(9, 3, 3, 9, UINT64_MAX, UINT32_MAX);
  writer->arrow(10, 0, 3, 15, 4, 99);
  EXPECT_EQ(body(), (Lines{"2:2:1:1:1:8:4:1", "2:6:1:2:1:8:4:1",
                           "3:6:1:2:1:9:9:6:1:2:1:9:9:18446744073709551615:4294967295",
                           "3:2:1:1:1:10:10:6:1:2:1:15:15:4:99"}));
}

TEST_F(PrvWriterTest, TheTraceLastsUntilItsLatestArrowIsThere) {
  writer->arrow(10, 0, 3, 5000, 0, 1);
  writer->arrow(10, 0, 3, 20, 0, 1);
  event(30, 0, 4, 1);
  writer->close(1000);
  EXPECT_NE(lines_of(path)[0].find(":00000000000000005000_ns:"), std::string::npos);
}

TEST_F(PrvWriterTest, ExtremesFitIntoLinesThatCrossBuffers) {
  cpus[0] = 4;
  Lines expected;
  for (uint64_t time = INT64_MAX - 20; time <= INT64_MAX; time++) {
    std::string line = "2:4:1:1:1:" + std::to_string(time);
    std::vector<TypedValue> values;
    for (uint32_t i = 0; i < 1000; i++) {
      values.push_back({INT64_MIN, UINT32_MAX - i});
      line += ":" + std::to_string(UINT32_MAX - i) + ":" + std::to_string(INT64_MIN);
    }
    writer->line(time, 0, 4, values);
    expected.push_back(line);
  }
  EXPECT_TRUE(body() == expected);
}

// Texts of values are kept: all of these do not fit, and 0 is a type and a value, too.
TEST_F(PrvWriterTest, ValuesKeepTheirDigits) {
  Lines expected;
  for (uint64_t time = 0; time < 20000; time++) {
    const uint32_t type = uint32_t(time % 7) * 64;
    const int64_t value = int64_t(time % 3001) - 1500;
    event(time, 0, type, value);
    expected.push_back("2:0:1:1:1:" + std::to_string(time) + ":" + std::to_string(type) + ":" +
                       std::to_string(value));
  }
  EXPECT_TRUE(body() == expected);
}

TEST(PrvWriter, ValuesOfMeasuredTypesAreCounted) {
  test::TempDir dir;
  PrvWriter writer(dir / "t.prv", two_nodes(), kFourRows, {false, {7, 9}});
  for (uint64_t time = 0; time < 100; time++) {
    const TypedValue line[] = {{5, 7}, {5000, 8}};
    writer.line(time, uint32_t(time % 4), 1, line);
  }
  writer.close(100);
  EXPECT_EQ(writer.scales().size(), 2u);
  EXPECT_EQ(writer.scales().at(7).common(), 5u);
  EXPECT_EQ(writer.scales().at(7).largest(), 5);
  EXPECT_TRUE(writer.scales().at(9).empty());
}

// One instant does not fit into a block.
TEST(PrvWriter, AnInstantOfManyRowsIsSortedLikeAnyOther) {
  constexpr uint32_t kRows = 20000;
  test::TempDir dir;
  PrvHeader header;
  header.tasks = {{std::vector<uint32_t>(kRows, 1)}};
  std::vector<PrvRow> rows;
  for (uint32_t row = 0; row < kRows; row++)
    rows.push_back({1, row + 1});
  PrvWriter writer(dir / "t.prv", header, rows);
  Lines expected;
  for (const uint64_t time : {uint64_t(1), uint64_t(2)}) // in order, then each row twice
    for (uint32_t row = 0; row < kRows; row++)
      expected.push_back("2:0:1:1:" + std::to_string(row + 1) + ":" + std::to_string(time) +
                         (time == 1 ? ":4:1" : ":4:3:5:3"));
  for (const auto &[time, types] : {std::pair(1, 1u), {2, 1u}, {2, 2u}})
    for (uint32_t row = 0; row < kRows; row++) {
      const TypedValue line[] = {{time == 1 ? 1 : 3, 4}, {3, 5}};
      writer.line(uint64_t(time), row, 0, std::span(line).first(types));
    }
  writer.close(2);
  Lines lines = lines_of(dir / "t.prv");
  lines.erase(lines.begin());
  EXPECT_TRUE(lines == expected);
}

// The body must not be empty (docs/format.md).
TEST_F(PrvWriterTest, TraceWithoutEventsHasARecord) {
  EXPECT_EQ(body(1234), (Lines{"1:0:1:1:1:0:1234:0"}));
}

TEST_F(PrvWriterTest, NothingIsUnderTheFinalNameBeforeClose) {
  for (uint64_t time = 0; time < 200000; time++)
    event(time, 0, 4, 1);
  EXPECT_FALSE(std::filesystem::exists(path));
  writer.reset();
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(PrvWriter, MoreObjectsThanParaverLoadsAreRefusedWithAdvice) {
  test::TempDir dir;
  auto write = [&](uint32_t cpus, size_t tasks, size_t threads) {
    PrvHeader header;
    header.cpus_per_node = {1, cpus - 1};
    header.tasks.assign(tasks, {std::vector<uint32_t>(threads, 2)});
    PrvWriter(dir / "thread.prv", header, {{1, 1}}).close(1);
  };
  EXPECT_NO_THROW(write(65535, 1, 65535));
  EXPECT_NO_THROW(write(65535, 65535, 1));
  for (auto [cpus, tasks, threads] : {std::tuple{65536u, 1, 1}, {2, 65536, 1}, {2, 1, 65536}})
    EXPECT_EQ(test::failure_from([&] { write(cpus, size_t(tasks), size_t(threads)); }),
              cpus > 65535 ? "cannot write a Paraver trace of 65536 CPUs: Paraver loads at most "
                             "65535; convert a part of it with --cpu"
                           : "cannot write a Paraver trace of 65536 threads: Paraver loads at "
                             "most 65535; convert a part of it with --pid, --tid or --comm");
}

TEST(PrvWriter, ObjectsThatAreNotInTheHeaderAreRefused) {
  test::TempDir dir;
  auto write = [&](const std::vector<PrvRow> &rows, const PrvHeader &header = two_nodes()) {
    PrvWriter(dir / "thread.prv", header, rows).close(1);
  };
  EXPECT_NO_THROW(write(kFourRows));
  const auto refused = [&](const std::vector<PrvRow> &rows, const PrvHeader &header = two_nodes()) {
    return test::failure_from([&] { write(rows, header); });
  };
  for (const PrvRow &row : {PrvRow{0, 1}, PrvRow{1, 0}, PrvRow{1, 4}, PrvRow{3, 1}})
    EXPECT_EQ(refused({row}), "internal error: a row of a Paraver trace is not in its header")
        << row.task << " " << row.thread;
  PrvHeader header = two_nodes();
  for (const uint32_t node : {0, 3}) { // illegal when there are nodes
    header.tasks[0].thread_nodes[0] = node;
    EXPECT_EQ(refused(kFourRows, header),
              "internal error: a task of a Paraver trace is on a node that does not exist");
  }
  header.tasks[0].thread_nodes.clear();
  EXPECT_EQ(refused({}, header), "internal error: a task of a Paraver trace has no threads");
  header.tasks.clear();
  EXPECT_EQ(refused({}, header), "cannot write a Paraver trace without rows: there is no thread in "
                                 "the trace, or the filters leave none");
}

TEST(PrvWriter, GzipHoldsTheSameTraceWithTheLengthGivenAtClose) {
  test::TempDir dir;
  for (bool gzip : {false, true}) {
    PrvWriter writer(dir / (gzip ? "u.prv" : "t.prv"), two_nodes(), kFourRows, {gzip});
    for (uint64_t time = 0; time < 100000; time++) {
      const TypedValue line[] = {{int64_t(time * time), 4}};
      writer.line(time, uint32_t(time % 4), 0, line);
    }
    writer.close(123456);
  }
  const std::string text = test::text_of(dir / "t.prv");
  EXPECT_EQ(gunzip(dir / "u.prv.gz"), text);
  EXPECT_LT(std::filesystem::file_size(dir / "u.prv.gz"), text.size() / 2);
}

TEST(PrvWriter, TheFormThatIsNotWrittenDoesNotStayFromBefore) {
  test::TempDir dir;
  for (bool gzip : {false, true, false}) {
    PrvWriter(dir / "t.prv", two_nodes(), kFourRows, {gzip}).close(1);
    EXPECT_EQ(std::filesystem::exists(dir / "t.prv"), !gzip);
    EXPECT_EQ(std::filesystem::exists(dir / "t.prv.gz"), gzip);
  }
}

} // namespace
} // namespace ovnitrace
