// SPDX-License-Identifier: BSD-2-Clause
// How slices are packed for the page where there are too many, from slices made by hand.
#include "emulator/report/slice_packer.h"
#include "tests/unit/support/packed_page.h"

#include <gtest/gtest.h>
#include <ovnitrace/ftrace_codes.h>

#include <vector>

namespace ovnitrace {
namespace {

using Numbers = std::vector<uint64_t>;

/// A thread on the only CPU, from 1000 to 6000. Slices shorter than 10 ns may be mixed.
class SlicePackerTest : public ::testing::Test {
protected:
  SlicePackerTest() {
    catalog.hosts.resize(1);
    catalog.cpus.resize(1);
    catalog.threads.resize(1);
    catalog.begin = 1000;
    catalog.end = 6000;
  }
  /// Packs slices that follow one another, of these lengths.
  PackedTrace packed(const Numbers &lengths) {
    SlicePacker packer(catalog, {}, {.coarse = {1}, .grain = 10});
    uint64_t at = 1200;
    for (const uint64_t length : lengths) {
      packer.on_slice(slice(ThreadState::Paused, at, at + length));
      at += length;
    }
    return packer.finish();
  }
  static Slice slice(ThreadState state, uint64_t start, uint64_t end) {
    Slice slice;
    slice.thread = 0;
    slice.state = state;
    slice.start = start;
    slice.end = end;
    return slice;
  }
  static Numbers numbers(const std::string &bytes) {
    Numbers all;
    for (test::Numbers read(bytes); read.more();)
      all.push_back(read.next());
    return all;
  }

  Catalog catalog;
};

TEST_F(SlicePackerTest, ASliceOfTheGrainIsKeptAndShorterOnesAreMixed) {
  const PackedTrace trace = packed({9, 10, 3, 4, 2, 11});
  EXPECT_EQ(numbers(trace.threads[0].length), (Numbers{9, 10, 9, 11}));
  EXPECT_EQ(trace.threads[0].slices, 4u);
  EXPECT_EQ(trace.slices, 4u);
  EXPECT_EQ(trace.coarse_threads, 1u);
  EXPECT_EQ(trace.grain, 10u);
}

TEST_F(SlicePackerTest, AMixedSliceEndsAtTheGrain) {
  EXPECT_EQ(numbers(packed({4, 6, 5, 4, 3}).threads[0].length), (Numbers{10, 12}));
}

TEST_F(SlicePackerTest, AThreadStartsWithTheFirstOfItsMixedSlices) {
  EXPECT_EQ(packed({3, 3, 3, 20}).threads[0].start, 200u);
  EXPECT_EQ(packed({20, 3}).threads[0].start, 200u);
}

TEST_F(SlicePackerTest, AThrottledThreadIsNoLoad) {
  SlicePacker packer(catalog, {}, {});
  packer.on_slice(slice(ThreadState::Warming, 1000, 1003));
  Slice throttled = slice(ThreadState::Cooling, 1003, 1005);
  throttled.reason = FTRACE_OFFCPU_THROTTLED;
  packer.on_slice(throttled);
  packer.on_slice(slice(ThreadState::Cooling, 1005, 1006));
  packer.on_cpu({.cpu = 0, .start = 1010, .end = 1020});
  packer.on_cpu({.cpu = kNone, .start = 1010, .end = 1020});
  packer.on_cpu({.cpu = 1, .start = 1010, .end = 1020}); // there is one
  const PackedTrace trace = packer.finish();
  uint64_t busy = 0, waiting = 0;
  for (size_t step = 0; step < PackedTrace::kLoadSteps; step++) {
    busy += trace.load.at(0)[step];
    waiting += trace.load.at(1)[step];
  }
  EXPECT_EQ(busy, 10u);
  EXPECT_EQ(waiting, 4u);
  EXPECT_EQ(trace.load.size(), 2u);
}

TEST_F(SlicePackerTest, AThrottledSliceStartsWithItsWakeupOrWithItsDeparture) {
  SlicePacker packer(catalog, {}, {});
  packer.on_slice(slice(ThreadState::Paused, 1000, 1100));
  Slice throttled = slice(ThreadState::Cooling, 1100, 1200);
  throttled.reason = FTRACE_OFFCPU_THROTTLED;
  throttled.context = FTRACE_WAKER_SOFTIRQ;
  packer.on_slice(throttled);
  packer.on_slice(slice(ThreadState::Running, 1200, 1300));
  throttled = slice(ThreadState::Cooling, 1300, 1400);
  throttled.reason = FTRACE_OFFCPU_THROTTLED;
  packer.on_slice(throttled);
  EXPECT_EQ(numbers(packer.finish().threads[0].why),
            (Numbers{0, 2 + 2 * FTRACE_WAKER_SOFTIRQ, 0, 1 + 2 * FTRACE_OFFCPU_THROTTLED}));
}

TEST_F(SlicePackerTest, EventsBeforeTheRangeAreLeftOut) {
  Cut cut;
  cut.from = 500;
  SlicePacker packer(catalog, cut, {});
  const System system(catalog, {});
  Event event;
  event.kind = FTrace_EVT_user_event_3;
  event.thread = 0;
  event.par1 = 7;
  event.par2 = 9;
  for (const uint64_t time : {1499, 1500, 1530}) {
    event.time = time;
    packer.on_event(event, system);
  }
  EXPECT_EQ(numbers(packer.finish().events),
            (Numbers{0, 1, FTrace_EVT_user_event_3, 7, 9, 30, 1, FTrace_EVT_user_event_3, 7, 9}));
}

/// A slice, an event and a time without events take 7 bytes, about, a mixed slice 14.
TEST_F(SlicePackerTest, NothingIsKeptBeyondThePlannedBytes) {
  const System system(catalog, {});
  Event event;
  event.kind = FTrace_EVT_user_event_3;
  event.thread = 0;
  event.time = 1500;
  SlicePacker packer(catalog, {}, {.coarse = {1}, .grain = 10, .most_bytes = 35});
  packer.on_slice(slice(ThreadState::Paused, 1200, 1210));
  packer.on_event(event, system);
  packer.on_slice(slice(ThreadState::Paused, 1210, 1211));
  packer.on_slice(slice(ThreadState::Paused, 1211, 1220)); // a mixed one of 10 ns
  packer.on_cpu({.cpu = 0, .start = 1300, .end = 1310, .what = CpuSpan::What::dark});
  EXPECT_FALSE(packer.overflown()) << "exactly 35 bytes";
  packer.on_event(event, system);
  EXPECT_TRUE(packer.overflown());
  packer.on_event(event, system);
  packer.on_slice(slice(ThreadState::Paused, 1220, 1240));
  const PackedTrace trace = packer.finish();
  EXPECT_EQ(trace.slices, 2u);
  EXPECT_EQ(numbers(trace.events).size(), 2u * 5);
  EXPECT_EQ(numbers(trace.dark), (Numbers{0, 300, 10}));
}

} // namespace
} // namespace ovnitrace
