// SPDX-License-Identifier: BSD-2-Clause
// Random lines, against what they must become.
#include "emulator/prv/prv_writer.h"
#include "tests/unit/support/cases.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/prv_shape.h"
#include "tests/unit/support/temp_dir.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <sched.h>
#include <set>
#include <tuple>

namespace ovnitrace {
namespace {

using test::kFourRows;
using test::lines_of;
using test::numbers_of;
using test::two_nodes;
using Lines = std::vector<std::string>;

/// What a trace must say, computed differently. Every (time, row) has its types in the order of
/// their first events, with their last values. A type with punctual events has each of them, too.
/// All are ordered by time.
struct Expected {
  std::map<std::pair<uint64_t, uint32_t>, std::vector<std::pair<uint32_t, int64_t>>> values;
  std::map<std::pair<uint64_t, uint32_t>, uint32_t> cpu;
  std::set<std::tuple<uint64_t, uint32_t, uint32_t>> punctual;

  void event(uint64_t time, uint32_t row, const TypedValue &value, uint32_t row_cpu,
             bool is_punctual) {
    cpu.emplace(std::pair(time, row), row_cpu);
    auto &list = values[{time, row}];
    const bool further = is_punctual && !punctual.insert({time, row, value.type}).second;
    auto last = list.end();
    for (auto at = list.begin(); at != list.end(); ++at)
      if (at->first == value.type)
        last = at;
    if (further || last == list.end())
      list.emplace_back(value.type, value.value);
    else
      last->second = value.value;
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
  for (uint32_t seed = 0; seed < test::cases(200); seed++) {
    test::TempDir dir;
    std::mt19937 random(seed);
    PrvWriter writer(dir / "t.prv", two_nodes(), kFourRows);
    Expected expected;
    uint32_t cpu[4] = {};
    uint64_t time = random() % 3;
    size_t arrows = 0;
    for (int i = 0; i < 300; i++) {
      const uint32_t row = random() % 4;
      switch (random() % 6) {
      case 0:
      case 1:
        time += random() % 4;
        break;
      case 2: {
        const TypedValue value = {int64_t(random()) - INT32_MAX, uint32_t(random() % 6)};
        writer.punctual(time, row, value);
        expected.event(time, row, value, cpu[row], true);
        break;
      }
      case 3:
        writer.arrow(time, row, (row + 1) % 4, time + random() % 9, 1, 2);
        arrows++;
        break;
      default: {
        cpu[row] = row < 3 ? random() % 5 : 5 + random() % 2;
        std::vector<TypedValue> line;
        for (uint32_t type = 0; type < 6; type++)
          if (random() % 2)
            line.push_back({int64_t(random()) - INT32_MAX, type});
        if (line.empty())
          line.push_back({0, 0});
        writer.line(time, row, cpu[row], line);
        for (const TypedValue &value : line)
          expected.event(time, row, value, cpu[row], false);
      }
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

/// Types and values that share places among the kept texts, that are too long to be kept, and that
/// are counted and never kept, wherever they are in a line.
TEST(PrvWriter, WritesTheSameTextAsPlainFormatting) {
  const std::vector<uint32_t> types = {1,   2,   222,      222 + 512,  222 + 1024,
                                       999, 300, 70000001, 4294967295, 80000005};
  const std::vector<uint32_t> measured = {222, 222 + 1024, 70000001};
  std::mt19937_64 random(1);
  const auto value = [&]() -> int64_t {
    switch (random() % 4) {
    case 0:
      return int64_t(random() >> random() % 64);
    case 1:
      return -int64_t(random() >> 1 >> random() % 63);
    case 2:
      return random() % 2 ? INT64_MIN : INT64_MAX;
    default:
      return int64_t(random() % 100);
    }
  };
  test::TempDir dir;
  PrvWriter writer(dir / "t.prv", two_nodes(), kFourRows, {.measured = measured});
  Lines expected;
  std::map<uint32_t, int64_t> largest;
  uint64_t time = 0;
  for (int n = 0; n < 20000; n++) {
    time += 1 + (random() % 100 == 0 ? random() % (uint64_t(1) << 40) : random() % 3000);
    const uint32_t row = random() % 4, cpu = row < 3 ? random() % 5 : 5 + random() % 2;
    std::vector<TypedValue> line;
    std::string text = "2:" + std::to_string(cpu) + ":1:" + std::to_string(kFourRows[row].task) +
                       ":" + std::to_string(kFourRows[row].thread) + ":" + std::to_string(time);
    for (const uint32_t type : types)
      if (random() % 2) {
        line.push_back({value(), type});
        text += ":" + std::to_string(type) + ":" + std::to_string(line.back().value);
        largest[type] = std::max(largest[type], line.back().value);
      }
    if (line.empty())
      continue;
    writer.line(time, row, cpu, line);
    expected.push_back(text);
  }
  writer.close(time);
  Lines lines = lines_of(dir / "t.prv");
  lines.erase(lines.begin());
  ASSERT_EQ(lines, expected);
  ASSERT_EQ(writer.scales().size(), measured.size());
  for (const auto &[type, scale] : writer.scales())
    EXPECT_EQ(scale.largest(), largest[type]) << type;
}

/// More lines than several blocks hold, by the same calls on all cores and on one.
TEST(PrvWriter, OneCoreWritesWhatSeveralWrite) {
  test::TempDir dir;
  const auto write = [&](const std::string &path) {
    std::mt19937_64 random(1);
    PrvWriter writer(path, two_nodes(), kFourRows);
    for (uint64_t time = 0; time < 60000; time++) {
      const uint32_t row = random() % 4;
      writer.line(time, row, row < 3 ? 1 : 5,
                  std::vector<TypedValue>{{int64_t(random()), 1}, {int64_t(random() % 9), 2}});
      if (random() % 3 == 0)
        writer.arrow(time, row, (row + 1) % 4, time, 1, 2);
      if (random() % 100 == 0)
        writer.punctual(time, row, {int64_t(time), 3});
    }
    writer.close(60000);
  };
  write(dir / "several.prv");
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  write(dir / "one.prv");
  EXPECT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(test::text_of(dir / "one.prv"), test::text_of(dir / "several.prv"));
}

} // namespace
} // namespace ovnitrace
