// SPDX-License-Identifier: BSD-2-Clause
// What a converted trace says of itself: its date, and the numbers of its processes.
#include "emulator/core/process_number.h"
#include "emulator/open/open_trace.h"
#include "tests/support/convert_directory.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

#include <ctime>
#include <set>

namespace ovnitrace {
namespace {

using test::CollectingSink;
using test::TempDir;
using test::TraceBuilder;

constexpr uint64_t kBegin = 5'000'000'000'000; // ns since the host was started

void write_trace(const std::string &path, const std::string &clock) {
  TraceBuilder trace(path);
  trace.cpu(0).at(kBegin).start().id(1, 7, 7, "app").dispatch(1).at(kBegin + 1000).stop();
  trace.json(R"({"format": "ovnitrace", "version": 1)" + clock + "}").write();
}

TEST(PrvDate, IsTheTimeOfTheCapture) {
  TempDir dir;
  write_trace(dir.path(), R"(, "clock": {"to_wall_ns": 994995000000000000})");
  CollectingSink sink;
  convert_directory(dir.path(), {}, sink);
  for (const char *name : {"thread.prv", "cpu.prv"})
    EXPECT_TRUE(test::text_of(dir / name).starts_with("#Paraver (13/07/01 at 04:53):")) // in UTC
        << test::text_of(dir / name);
}

TEST(PrvDate, IsNotTheTimeOfTheConversion) {
  TempDir dir;
  write_trace(dir.path(), "");
  CollectingSink sink;
  convert_directory(dir.path(), {}, sink);
  EXPECT_TRUE(test::text_of(dir / "thread.prv").starts_with("#Paraver (01/01/70 at 00:00):"));
}

TEST(PrvDate, IsTheTimeOfTheCaptureOnAClockWithAnOffset) {
  TempDir dir;
  write_trace(dir.path(), R"(, "clock": {"to_wall_ns": 994995000000000000})");
  CollectingSink sink;
  EXPECT_EQ(open_trace({{dir.path(), -4'000'000'000'000}}, sink)->catalog().date, 995'000'000);
}

TEST(PrvDate, IsZeroWithoutAValidClock) {
  for (const char *clock :
       {"", R"(, "clock": {"to_wall_ns": 0})", R"(, "clock": {"to_wall_ns": -9223372036854775808})",
        R"(, "clock": {"to_wall_ns": -5000000000001})"}) {
    TempDir dir;
    write_trace(dir.path(), clock);
    CollectingSink sink;
    EXPECT_EQ(open_trace({{dir.path()}}, sink)->catalog().date, 0) << clock;
  }
}

TEST(ProcessNumber, SkipsTheErrorValues666And777) {
  std::set<int64_t> seen;
  int64_t last = 0;
  for (size_t i = 0; i < 2000; i++) {
    const int64_t number = process_number(i);
    EXPECT_GT(number, last);
    EXPECT_NE(number, kStateBad);
    EXPECT_NE(number, kStateTooManyThreads);
    last = number;
  }
  EXPECT_EQ(last, 2002) << "no other is left out";
}

TEST(ProcessNumber, IsLabelledAsItIsShown) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  auto &chunk = trace.cpu(0).at(100).start();
  for (uint16_t n = 1; n <= 800; n++)
    chunk.id(n, 1000u + n, 1000u + n, "p" + std::to_string(n));
  chunk.at(200).dispatch(666).at(300).sleep(666).at(400).dispatch(800).at(500).stop();
  trace.write();
  CollectingSink sink;
  convert_directory(dir.path(), {}, sink);
  const std::string prv = test::text_of(dir / "cpu.prv"), pcf = test::text_of(dir / "cpu.pcf");
  EXPECT_NE(prv.find(":5:667"), std::string::npos);
  EXPECT_EQ(prv.find(":5:666"), std::string::npos);
  EXPECT_NE(prv.find(":5:802"), std::string::npos);
  for (const char *label : {"\n667    p666 (1666)", "\n802    p800 (1800)",
                            "\n666    Error: disabled", "\n777    Error: more"})
    EXPECT_NE(pcf.find(label), std::string::npos) << label;
}

} // namespace
} // namespace ovnitrace
