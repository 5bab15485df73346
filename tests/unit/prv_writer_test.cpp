// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/prv/prv_writer.h"

#include "emulator/base/error.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <zlib.h>

namespace ovnitrace {
namespace {

using test::lines_of;

std::vector<uint64_t> numbers_of(const std::string &line, char separator = ':') {
  std::vector<uint64_t> numbers;
  std::istringstream in(line);
  for (std::string part; std::getline(in, part, separator);)
    numbers.push_back(uint64_t(std::stoll(part)));
  return numbers;
}

/// A node of 4 CPUs and one of 2; a process of 3 threads on the first, one of 1 on the second.
PrvHeader two_nodes() {
  PrvHeader header;
  header.cpus_per_node = {4, 2};
  header.tasks = {{{1, 1, 1}}, {{2}}};
  header.end = 1000;
  header.date = 86400;
  return header;
}

const std::vector<PrvRow> kFourRows = {{1, 1}, {1, 2}, {1, 3}, {2, 1}};

class PrvWriterTest : public testing::Test {
protected:
  PrvWriterTest() : writer(std::make_unique<PrvWriter>(path, two_nodes(), kFourRows)) {}

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
};

using Lines = std::vector<std::string>;

TEST_F(PrvWriterTest, HeaderReportsNodesAndTasksAndIsRewrittenAtClose) {
  writer->event(5, 0, 4, 1);
  writer->close(123456789);
  std::string header = lines_of(path).front();
  EXPECT_EQ(header.substr(0, 10), "#Paraver (");
  EXPECT_EQ(header.substr(header.find("):")), "):00000000000123456789_ns:2(4,2):1:2(3:1,1:2)");
}

TEST_F(PrvWriterTest, HeaderEndsAtTheLastRecordIfThatIsLater) {
  writer->event(5, 0, 4, 1);
  writer->arrow(2000, 0, 1, 3000, 0, 0);
  writer->close(1000);
  EXPECT_NE(lines_of(path).front().find("):00000000000000003000_ns:"), std::string::npos);
}

TEST(PrvWriter, TraceOfCpusHasNoNodes) {
  test::TempDir dir;
  PrvHeader header;
  header.tasks = {{{1, 1}}};
  PrvWriter writer(dir / "cpu.prv", header, {{1, 1}, {1, 2}});
  writer.set_cpu(1, 1); // would make Paraver drop the line
  writer.event(7, 1, 3, 2);
  writer.close(9);
  Lines lines = lines_of(dir / "cpu.prv");
  EXPECT_EQ(lines[0].substr(lines[0].find("_ns")), "_ns:0:1:1(2:1)");
  EXPECT_EQ(lines[1], "2:0:1:1:2:7:3:2");
}

TEST_F(PrvWriterTest, EventsOfOneRowAtOneTimeAreOneLine) {
  writer->event(10, 0, 6, 1);
  writer->event(10, 1, 4, 2);
  writer->event(10, 0, 2, 77);
  writer->event(11, 0, 4, -5);
  EXPECT_EQ(body(), (Lines{"2:0:1:1:1:10:6:1:2:77", "2:0:1:1:2:10:4:2", "2:0:1:1:1:11:4:-5"}));
}

TEST_F(PrvWriterTest, TheLastValueOfATypeWinsAndTheTypeIsThereOnce) {
  writer->event(10, 0, 4, 1);
  writer->event(10, 0, 2, 7);
  writer->event(10, 0, 4, 2);
  writer->event(10, 0, 2, 8);
  writer->event(10, 0, 4, 3);
  EXPECT_EQ(body(), (Lines{"2:0:1:1:1:10:4:3:2:8"}));
}

// docs/models.md, "Channels": a punctual event is shown 1 ns before its time, and the state before
// it again at its time.
TEST_F(PrvWriterTest, PunctualEventAfterEventsOfTheCurrentTimeIsWrittenBeforeThem) {
  writer->event(10, 0, 4, 1);
  writer->event(9, 1, 50, 3);
  writer->event(10, 1, 50, 0);
  EXPECT_EQ(body(), (Lines{"2:0:1:1:2:9:50:3", "2:0:1:1:1:10:4:1", "2:0:1:1:2:10:50:0"}));
}

TEST_F(PrvWriterTest, PunctualEventJoinsTheLineOfTheInstantBefore) {
  writer->event(9, 1, 4, 1);
  writer->event(10, 0, 4, 1);
  writer->event(9, 1, 50, 3);
  writer->event(9, 1, 4, 2);
  EXPECT_EQ(body(), (Lines{"2:0:1:1:2:9:4:2:50:3", "2:0:1:1:1:10:4:1"}));
}

TEST_F(PrvWriterTest, InstantsOneNanosecondApartStayApart) {
  for (uint64_t time = 0; time < 5; time++)
    writer->event(time, 0, 4, int64_t(time));
  EXPECT_EQ(body(), (Lines{"2:0:1:1:1:0:4:0", "2:0:1:1:1:1:4:1", "2:0:1:1:1:2:4:2",
                           "2:0:1:1:1:3:4:3", "2:0:1:1:1:4:4:4"}));
}

TEST_F(PrvWriterTest, TimeThatGoesBackIsAnError) {
  writer->event(10, 0, 4, 1);
  EXPECT_THROW(writer->event(8, 0, 4, 2), Error);
  EXPECT_THROW(writer->arrow(0, 0, 1, 0, 0, 0), Error);
  EXPECT_THROW(writer->event(UINT64_MAX, 0, 4, 2), Error); // 0 - 1: a punctual event at 0
  EXPECT_EQ(body(), (Lines{"2:0:1:1:1:10:4:1"}));
}

TEST_F(PrvWriterTest, NothingComesBeforeTimeZero) {
  EXPECT_THROW(writer->event(UINT64_MAX, 0, 4, 2), Error);
  EXPECT_THROW(writer->event(uint64_t(INT64_MAX) + 1, 0, 4, 2), Error);
}

TEST_F(PrvWriterTest, CpuFieldIsThatOfTheTimeAtWhichTheLineBegan) {
  writer->event(10, 0, 4, 1);
  writer->set_cpu(0, 3);
  writer->event(10, 0, 2, 7); // the line at 10 has begun without a CPU
  writer->event(11, 0, 4, 2);
  writer->set_cpu(0, 0);
  writer->event(12, 0, 4, 3);
  writer->set_cpu(0, 3);
  writer->event(13, 0, 4, 4);
  EXPECT_EQ(body(), (Lines{"2:0:1:1:1:10:4:1:2:7", "2:3:1:1:1:11:4:2", "2:0:1:1:1:12:4:3",
                           "2:3:1:1:1:13:4:4"}));
}

TEST_F(PrvWriterTest, CpuOfAnotherNodeOrOfNoneIsNotWritten) {
  uint64_t time = 0;
  for (uint32_t cpu : {0u, 1u, 4u, 5u, 6u, 7u, 70000u, UINT32_MAX}) {
    for (uint32_t row : {0u, 3u}) {
      writer->set_cpu(row, cpu);
      writer->event(time, row, 4, cpu);
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
  writer->set_cpu(0, 2);
  writer->set_cpu(3, 6);
  writer->event(9, 1, 4, 1);
  writer->arrow(10, 0, 3, 15, 4, 99);
  writer->arrow(9, 3, 3, 9, UINT64_MAX, UINT32_MAX);
  EXPECT_EQ(body(),
            (Lines{"2:0:1:1:2:9:4:1", "3:6:1:2:1:9:9:6:1:2:1:9:9:18446744073709551615:4294967295",
                   "3:2:1:1:1:10:10:6:1:2:1:15:15:4:99"}));
}

TEST_F(PrvWriterTest, TheTraceLastsUntilItsLatestArrowIsThere) {
  writer->arrow(10, 0, 3, 5000, 0, 1);
  writer->arrow(10, 0, 3, 20, 0, 1);
  writer->event(30, 0, 4, 1);
  writer->close(1000);
  EXPECT_NE(lines_of(path)[0].find(":00000000000000005000_ns:"), std::string::npos);
}

TEST_F(PrvWriterTest, ExtremesFitIntoLinesThatCrossBuffers) {
  writer->set_cpu(0, 4);
  Lines expected;
  for (uint64_t time = INT64_MAX - 20; time <= INT64_MAX; time++) {
    std::string line = "2:4:1:1:1:" + std::to_string(time);
    for (uint32_t i = 0; i < 1000; i++) {
      writer->event(time, 0, UINT32_MAX - i, INT64_MIN);
      line += ":" + std::to_string(UINT32_MAX - i) + ":" + std::to_string(INT64_MIN);
    }
    expected.push_back(line);
  }
  EXPECT_TRUE(body() == expected);
}

// Types 4, 260 and 516 fall on one place of the cache of type digits; 0 is a type, too.
TEST_F(PrvWriterTest, TypesThatShareTheirPlaceInTheCacheKeepTheirDigits) {
  Lines expected;
  for (uint64_t time = 0; time < 6; time++) {
    uint32_t type = uint32_t(time % 3) * 256 + (time > 2 ? 0 : 4);
    writer->event(time, 0, type, 1);
    expected.push_back("2:0:1:1:1:" + std::to_string(time) + ":" + std::to_string(type) + ":1");
  }
  EXPECT_EQ(body(), expected);
}

// The body must not be empty (docs/format.md).
TEST_F(PrvWriterTest, TraceWithoutEventsHasARecord) {
  EXPECT_EQ(body(1234), (Lines{"1:0:1:1:1:0:1234:0"}));
}

TEST_F(PrvWriterTest, NothingIsUnderTheFinalNameBeforeClose) {
  for (uint64_t time = 0; time < 200000; time++)
    writer->event(time, 0, 4, 1);
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
    try {
      write(cpus, size_t(tasks), size_t(threads));
      FAIL() << "was written";
    } catch (const Error &error) {
      EXPECT_NE(std::string(error.what()).find("65536"), std::string::npos);
      EXPECT_NE(std::string(error.what()).find(cpus > 65535 ? "--cpu" : "--pid, --tid or --comm"),
                std::string::npos);
    }
}

TEST(PrvWriter, ObjectsThatAreNotInTheHeaderAreRefused) {
  test::TempDir dir;
  auto write = [&](std::vector<PrvRow> rows, PrvHeader header = two_nodes()) {
    PrvWriter(dir / "thread.prv", header, std::move(rows)).close(1);
  };
  EXPECT_NO_THROW(write(kFourRows));
  EXPECT_THROW(write({{0, 1}}), Error);
  EXPECT_THROW(write({{1, 0}}), Error);
  EXPECT_THROW(write({{1, 4}}), Error);
  EXPECT_THROW(write({{3, 1}}), Error);
  PrvHeader header = two_nodes();
  header.tasks[0].thread_nodes[0] = 0; // illegal when there are nodes
  EXPECT_THROW(write(kFourRows, header), Error);
  header.tasks[0].thread_nodes[0] = 3;
  EXPECT_THROW(write(kFourRows, header), Error);
  header.tasks[0].thread_nodes.clear();
  EXPECT_THROW(write({}, header), Error);
  header.tasks.clear();
  EXPECT_THROW(write({}, header), Error);
}

std::string gunzip(const std::string &path) {
  gzFile file = gzopen(path.c_str(), "rb");
  std::string text;
  char buffer[4096];
  for (int size; (size = gzread(file, buffer, sizeof buffer)) > 0;)
    text.append(buffer, size_t(size));
  EXPECT_EQ(gzclose(file), Z_OK) << path;
  return text;
}

TEST(PrvWriter, GzipHoldsTheSameTraceWithTheLengthToldAtClose) {
  test::TempDir dir;
  for (bool gzip : {false, true}) {
    PrvWriter writer(dir / (gzip ? "u.prv" : "t.prv"), two_nodes(), kFourRows, {gzip});
    for (uint64_t time = 0; time < 100000; time++)
      writer.event(time, uint32_t(time % 4), 4, int64_t(time * time));
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

/// What a trace must say, computed in another way: every (time, row) has its types in the order of
/// their first event with their last values; all ordered by time.
struct Expected {
  std::map<std::pair<uint64_t, uint32_t>, std::vector<std::pair<uint32_t, int64_t>>> values;
  std::map<std::pair<uint64_t, uint32_t>, uint32_t> cpu;

  void event(uint64_t time, uint32_t row, uint32_t type, int64_t value, uint32_t row_cpu) {
    cpu.emplace(std::pair(time, row), row_cpu);
    auto &list = values[{time, row}];
    auto same = std::find_if(list.begin(), list.end(), [&](auto &v) { return v.first == type; });
    if (same != list.end())
      same->second = value;
    else
      list.emplace_back(type, value);
  }

  Lines sorted_lines() const {
    Lines lines;
    for (const auto &[key, list] : values) {
      const PrvRow &object = kFourRows[key.second];
      std::string line = "2:" + std::to_string(cpu.at(key)) + ":1:" + std::to_string(object.task) +
                         ":" + std::to_string(object.thread) + ":" + std::to_string(key.first);
      for (auto [type, value] : list)
        line += ":" + std::to_string(type) + ":" + std::to_string(value);
      lines.push_back(line);
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  }
};

TEST(PrvWriter, RandomStreamsAreSortedByTimeAndComplete) {
  for (uint32_t seed = 0; seed < 200; seed++) {
    test::TempDir dir;
    std::mt19937 random(seed);
    PrvWriter writer(dir / "t.prv", two_nodes(), kFourRows);
    Expected expected;
    uint32_t cpu[4] = {};
    uint64_t time = random() % 3;
    size_t arrows = 0;
    for (int i = 0; i < 300; i++) {
      uint32_t row = random() % 4, type = random() % 6;
      int64_t value = int64_t(random()) - INT32_MAX;
      switch (random() % 8) {
      case 0:
      case 1:
        time += random() % 4;
        break;
      case 2:
        cpu[row] = row < 3 ? random() % 5 : 5 + random() % 2;
        writer.set_cpu(row, cpu[row]);
        break;
      case 3: // punctual, which needs an instant that is current
        writer.event(time, row, type, value);
        expected.event(time, row, type, value, cpu[row]);
        if (time == 0)
          break;
        writer.event(time - 1, row, type, value + 1);
        expected.event(time - 1, row, type, value + 1, cpu[row]);
        break;
      case 4:
        writer.arrow(time, row, (row + 1) % 4, time + random() % 9, 1, 2);
        arrows++;
        break;
      default:
        writer.event(time, row, type, value);
        expected.event(time, row, type, value, cpu[row]);
      }
    }
    writer.close(time);

    Lines lines = lines_of(dir / "t.prv"), events;
    uint64_t last = 0;
    for (size_t i = 1; i < lines.size(); i++) {
      uint64_t at = numbers_of(lines[i])[5];
      ASSERT_GE(at, last) << "seed " << seed << ": " << lines[i];
      last = at;
      if (lines[i][0] == '2')
        events.push_back(lines[i]);
    }
    EXPECT_EQ(lines.size() - 1 - events.size(), arrows);
    std::sort(events.begin(), events.end());
    ASSERT_EQ(events, expected.sorted_lines()) << "seed " << seed;
  }
}

} // namespace
} // namespace ovnitrace
