// SPDX-License-Identifier: BSD-2-Clause
// The timeline of plain FTrace files of S.Ha.R.K., emulator/shark and docs/shark.md: the order of
// their records, their clock, and several files of one tracer.
#include "emulator/shark/run_index.h"
#include "tests/unit/support/shark_rig.h"

#include <algorithm>
#include <random>

namespace ovnitrace::test {
namespace {

// ---- order ----

TEST_F(Shark, ACyclicChunkIsOrderedByTime) {
  file.rate(kNsRate).id(40, 1);
  for (uint32_t i = 1; i <= 100; i++)
    file.at(i).record(FTrace_EVT_user_event_0, 0, i);
  file.rotate(70).empty().empty();
  const ReadBack back = read();
  ASSERT_EQ(back.events.size(), 100u);
  for (uint32_t i = 0; i < 100; i++) {
    EXPECT_EQ(back.events[i].par2, i + 1);
    EXPECT_EQ(back.events[i].time, i + 1);
  }
  EXPECT_EQ(back.sink.reported.size(), 0u);
}

TEST_F(Shark, ChunksOneBehindAnotherInAnyOrder) {
  SharkBuilder whole;
  for (uint32_t i = 1; i <= 300; i++)
    whole.at(i).record(FTrace_EVT_ipoint, uint16_t(i));
  const auto &records = whole.records();
  file.rate(kNsRate);
  for (auto [from, to] : {std::pair{250, 300}, {200, 250}, {100, 200}, {0, 100}})
    file.records().insert(file.records().end(), records.begin() + from, records.begin() + to);
  const ReadBack back = read();
  ASSERT_EQ(back.events.size(), 300u);
  for (uint32_t i = 0; i < 300; i++)
    EXPECT_EQ(back.events[i].par1, i + 1);
}

TEST_F(Shark, EqualsAStableSortOfRandomRuns) {
  std::mt19937 random(3);
  for (int round = 0; round < 30; round++) {
    file = {};
    struct Planned {
      uint64_t time;
      uint32_t number;
    };
    std::vector<std::vector<Planned>> runs(1 + random() % 40);
    uint32_t number = 0;
    uint64_t begin = 1'000'000;
    file.at(2'000'000).rate(kNsRate); // a run of its own
    for (auto &run : runs) {
      begin -= 1 + random() % 20; // each run begins before the one in front of it ends
      uint64_t time = begin;
      for (size_t n = 2 + random() % 300; n > 0; n--) {
        time += 20 + random() % 3;
        run.push_back({time, number});
        file.at(time).record(FTrace_EVT_user_event_1, 0, number++);
        if (random() % 20 == 0)
          file.empty();
      }
    }
    std::vector<Planned> planned;
    std::stable_sort(runs.begin(), runs.end(),
                     [](const auto &a, const auto &b) { return a[0].time < b[0].time; });
    for (const auto &run : runs)
      planned.insert(planned.end(), run.begin(), run.end());
    std::stable_sort(planned.begin(), planned.end(),
                     [](const Planned &a, const Planned &b) { return a.time < b.time; });
    const ReadBack back = read();
    ASSERT_EQ(back.events.size(), planned.size());
    for (size_t i = 0; i < planned.size(); i++) {
      ASSERT_EQ(back.events[i].par2, planned[i].number) << i;
      ASSERT_EQ(back.events[i].time, planned[i].time - planned[0].time);
    }
  }
}

TEST_F(Shark, APartBeyondTheLimitIsReportedAndStillRead) {
  file.at(0).rate(kNsRate);
  const size_t records = 2 * shark::RunIndex::kMaxRuns + 1000;
  for (size_t i = 0; i < records; i++)
    file.at(records - i).record(FTrace_EVT_ipoint);
  const ReadBack back = read();
  EXPECT_EQ(back.events.size(), records);
  EXPECT_EQ(back.sink.count("the records are in no order: from here on some are shown too late"),
            1u);
  EXPECT_TRUE(std::is_sorted(back.events.begin(), back.events.end(),
                             [](const Event &a, const Event &b) { return a.time < b.time; }));
}

// ---- the clock ----

TEST_F(Shark, TimesAreExactAtAnyRate) {
  for (uint32_t rate : {1u, 7u, 999983u, kNsRate, 2399999u, 4294967295u}) {
    for (uint64_t first : {uint64_t(0), uint64_t(0xfffffffe), uint64_t(1) << 40}) {
      const uint64_t last = first + 123456789012ull;
      file = {};
      file.at(first).record(FTrace_EVT_ipoint).at(last).record(FTrace_EVT_ipoint).rate(rate);
      const ReadBack back = read();
      ASSERT_EQ(back.events.size(), 2u);
      const auto exact = static_cast<unsigned __int128>(last - first) * 1000000 / rate;
      EXPECT_EQ(back.events[0].time, 0u);
      EXPECT_EQ(back.events[1].time, uint64_t(exact)) << rate;
      EXPECT_EQ(back.catalog.end, uint64_t(exact));
    }
  }
}

TEST_F(Shark, TheHighHalfOfTheTimeComesFirst) {
  file.rate(kNsRate).at(0x123456789abcull).record(FTrace_EVT_ipoint);
  EXPECT_EQ(file.records()[1].tsc_high, 0x1234u);
  EXPECT_EQ(file.records()[1].tsc_low, 0x56789abcu);
  EXPECT_EQ(read().events[0].time, 0x123456789abcull);
}

TEST_F(Shark, TheRateComesFromTraceStartIfNoOtherIsGiven) {
  file.at(0).record(FTrace_EVT_ipoint).at(5000).record(FTrace_EVT_trace_start, 40, 2000000);
  ReadBack back = read();
  EXPECT_EQ(back.catalog.end, 2500u);
  EXPECT_EQ(back.sink.damage(), 0u);
  file.record(FTrace_EVT_trace_start, 40, 4000000);
  EXPECT_EQ(read().catalog.end, 2500u) << "the first one";
  file.at(5000).rate(5000000);
  EXPECT_EQ(read().catalog.end, 1000u) << "cycles_per_msec is what the manual gives for it";
}

TEST_F(Shark, AnEventKnowsItsPlaceInTheFile) {
  file.at(100).record(FTrace_EVT_trace_start, 40, 1000000).at(300).record(FTrace_EVT_ipoint);
  uint64_t place = 0;
  for (const Event &event : read().events)
    if (event.kind == FTrace_EVT_ipoint)
      place = event.offset;
  EXPECT_EQ(place, sizeof(ftrace_record));
}

TEST_F(Shark, AnUnknownRateIsReported) {
  file.at(100).record(FTrace_EVT_trace_start, 40, 0).at(300).record(FTrace_EVT_ipoint);
  const ReadBack back = read();
  EXPECT_EQ(back.sink.count("rate of the clock"), 1u);
  EXPECT_EQ(back.catalog.end, 200u);
}

TEST_F(Shark, ASecondRateIsReported) {
  file.at(0).rate(1000000).at(1000).rate(2000000).at(2000).rate(2000000);
  const ReadBack back = read();
  EXPECT_EQ(back.sink.count("2000000 ticks per ms, but 1000000 before"), 1u);
  EXPECT_EQ(back.catalog.end, 2000u);
}

// ---- several files ----

/// The writer of S.Ha.R.K. makes a file a chunk: only one has the rate, and a task can be named in
/// another than it runs in.
TEST_F(Shark, SeveralFilesOfOneTracerAreOneTrace) {
  const std::string first = dir / "0t.dat", second = dir / "1t.dat";
  const auto write = [&](const std::string &to, auto fill) {
    file = {};
    fill();
    file.write(to);
  };
  write(first, [&] { file.at(6000).context_switch(2).at(8000).record(FTrace_EVT_ipoint, 5, 0); });
  write(second, [&] {
    file.at(2000).rate(2 * kNsRate).id(1, 11).id(2, 12).context_switch(1);
    file.at(7000).record(FTrace_EVT_ipoint, 4, 0);
  });
  ReadBack back;
  const auto source = open_trace({{first}, {second}}, back.sink);
  back.catalog = source->catalog();
  for (Event event; source->next(event);)
    back.events.push_back(event);
  EXPECT_EQ(back.rows(), (Texts{"task 11 (1) pid 11", "task 12 (2) pid 12"}));
  EXPECT_EQ(
      back.text({FTrace_EVT_context_switch, FTrace_EVT_ipoint}),
      (Texts{"context_switch@0/1", "context_switch@2000/2", "ipoint@2500/2", "ipoint@3000/2"}));
  EXPECT_EQ(back.catalog.files, (Texts{first, second}));
  EXPECT_EQ(back.events.front().file, 1u);
  EXPECT_EQ(back.events.back().file, 0u);
  EXPECT_EQ(back.events.back().offset, 16u);
  EXPECT_TRUE(back.sink.reported.empty());
}

/// One without events, or with another rate, spoils nothing and is reported by its name.
TEST_F(Shark, AFileOfAnotherRunIsReported) {
  const std::string first = dir / "0t.dat", second = dir / "1t.dat", third = dir / "2t.dat";
  file.at(0).rate(kNsRate).context_switch(1).at(10).context_switch(2);
  file.write(first);
  file = {};
  file.at(5).rate(kNsRate + 1).record(FTrace_EVT_ipoint, 4, 0);
  file.write(second);
  file = {};
  file.write(third);
  ReadBack back;
  const auto source = open_trace({{first}, {second}, {third}}, back.sink);
  ASSERT_EQ(back.sink.reported.size(), 1u);
  EXPECT_EQ(back.sink.reported[0].file, second);
  EXPECT_NE(back.sink.reported[0].what.find("1000001 ticks per ms, but 1000000 before"),
            std::string::npos);
}

TEST_F(Shark, OneFileTwiceIsRefused) {
  file.at(0).rate(kNsRate).context_switch(1);
  file.write(path);
  CollectingSink sink;
  EXPECT_THROW(open_trace({{path}, {path}}, sink), Error);
}

} // namespace
} // namespace ovnitrace::test
