// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace report`: what is packed into the page is the stream of slices, and nothing of a trace
// is HTML there.
#include "emulator/base/error.h"
#include "emulator/critical/path.h"
#include "emulator/open/open_trace.h"
#include "emulator/report/write_report.h"
#include "emulator/slices/slicer.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/packed_page.h"
#include "tests/unit/support/random_schedule.h"
#include "tests/unit/support/report_rig.h"
#include "tests/unit/support/trace_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>

namespace ovnitrace {
namespace {

using nlohmann::json;
using test::kRead;
using test::PackedPage;
using test::PackedSlice;
using test::Texts;
using test::TraceBuilder;

class Collector final : public SliceSink {
public:
  void on_slice(const Slice &slice) override { slices[slice.thread].push_back(slice); }
  std::map<uint32_t, std::vector<Slice>> slices;
};

class PageReport : public test::ReportRig {};

TEST_F(PageReport, AThrottledThreadIsThrottledUntilTheRefill) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
  cpu.at(100).epilogue(1, 22, FTRACE_OFFCPU_THROTTLED).dispatch(2).at(300);
  cpu.record(FTrace_EXT_refill, 1).at(400).epilogue(2, 11).dispatch(1).at(500).stop();
  EXPECT_EQ(texts(page(), 0),
            (Texts{"0-100 running cpu=1 why=0 peer=0", "100-300 throttled cpu=1 why=19 peer=2",
                   "300-400 cooling cpu=1 why=21 peer=0", "400-500 running cpu=1 why=0 peer=0"}));
}

TEST_F(PageReport, EachSliceHasItsReasonAndTheOtherThread) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").id(2, 22, 22, "b");
  cpu.dispatch(1).at(200).epilogue(1, 22).dispatch(2);
  constexpr uint16_t kCall = FTRACE_CALL_NATIVE + 74;
  cpu.at(300).record(FTrace_EVT_task_sleep | FTRACE_CALL_CODE(kCall), 2,
                     11u | FTRACE_OFFCPU_DISK << FTRACE_REASON_SHIFT | FTRACE_CALL_PAR2(kCall));
  cpu.dispatch(1).at(400).activate(2, 11).at(450).sleep(1, 77).dispatch(2);
  cpu.at(500).activate(1, 0, FTRACE_WAKER_HARDIRQ).at(600).stop();
  const PackedPage packed = page();
  EXPECT_EQ(texts(packed, 0),
            (Texts{"0-100 running cpu=1 why=0 peer=0",
                   "100-200 cooling cpu=1 why=3 peer=2", // 1 + 2 * preempted; 1 + index
                   "200-350 running cpu=1 why=0 peer=0", "350-400 paused cpu=1 why=5 peer=3",
                   "400-500 warming cpu=1 why=6 peer=4"})); // 2 + 2 * hardirq
  EXPECT_EQ(texts(packed, 1),
            (Texts{"0-100 unknown cpu=0 why=0 peer=0", "100-200 running cpu=1 why=0 peer=0",
                   "200-300 paused cpu=1 why=39 peer=1", // 1 + 2 * (disk + 16 * the first call)
                   "300-350 warming cpu=1 why=2 peer=1", "350-500 running cpu=1 why=0 peer=0"}));
  EXPECT_EQ(packed.header["calls"], json::parse(R"(["call 74"])"));
  EXPECT_EQ(packed.header["places"], json::parse(R"([""])")) << "there are no stacks";
  EXPECT_EQ(packed.header["untraced"], json::parse(R"([{"tid": 77, "name": ""},
                                                       {"tid": 0, "name": ""}])"));
  EXPECT_EQ(packed.parts.at("order"), std::string({0, 1, 0, 1})) << "the thread of each run";
}

TEST_F(PageReport, HasWhereInTheProgramThreadsBlocked) {
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "a").dispatch(1);
  for (const uint32_t stack : {1u, 2u, 3u}) // 3: there is none
    block_in(kRead, cpu, 1000 + 200 * stack, 1100 + 200 * stack, stack);
  cpu.at(2000).stop();
  trace
      .json(R"json({"format": "ovnitrace", "version": 1, "begin_ns": 1000, "machine": "x86_64",
    "options": {"stacks": "user"}, "stack_files": [{"path": "/usr/lib/libc.so.6"}],
    "stack_frames": [{"file": 0, "function": "read", "offset": 1}, {"function": "f",
      "source": "/a.c", "line": 7}, {"function": "main"}, {"missing": true}],
    "stacks": [{"user": [0, 1, 2]}, {"user": [0, 3, 2]}]})json")
      .write();
  const PackedPage packed = with_stacks();
  EXPECT_EQ(packed.header["calls"], json::parse(R"(["read", "read", "read"])"));
  EXPECT_EQ(packed.header["places"],
            json::parse(R"(["f a.c:7 < main", "read < [frames missing] < main", ""])"));
}

TEST_F(PageReport, ABlockInAPageFaultIsNamedAsInWhy) {
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "a").dispatch(1);
  for (const uint32_t stack : {1u, 2u})
    block_in(FTRACE_CALL_NONE, cpu, 1000 + 200 * stack, 1100 + 200 * stack, stack);
  cpu.at(2000).stop();
  trace
      .json(R"json({"format": "ovnitrace", "version": 1, "begin_ns": 1000, "machine": "x86_64",
    "options": {"stacks": "kernel"}, "stack_frames": [
      {"kernel": true, "function": "exc_page_fault"}, {"kernel": true, "function": "kthread"}],
    "stacks": [{"kernel": [0]}, {"kernel": [1]}]})json")
      .write();
  const PackedPage packed = with_stacks();
  EXPECT_EQ(packed.header["calls"], json::parse(R"(["page fault", "no system call"])"));
  const std::string causes = packed.header["why"]["blocks"].dump();
  EXPECT_NE(causes.find("page fault"), causes.npos) << causes;
}

TEST_F(PageReport, HasUserEventsAndBlackoutsAndTheLoad) {
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "a").dispatch(1);
  cpu.at(1500).record(FTrace_EVT_user_event_3, 300, 70000).at(2000).sleep(1, 0);
  cpu.at(3000).blackout_start().at(3200).blackout_end(5).at(5000).stop();
  const PackedPage packed = page();
  test::Numbers events(packed.parts.at("events")), dark(packed.parts.at("dark"));
  for (uint64_t expected : {500, 1, 0x39, 300, 70000})
    EXPECT_EQ(events.next(), expected);
  EXPECT_FALSE(events.more());
  for (uint64_t expected : {0, 2000, 200})
    EXPECT_EQ(dark.next(), expected);
  EXPECT_FALSE(dark.more());
  test::Numbers load(packed.parts.at("load"));
  uint64_t first_half = 0, rest = 0;
  for (int step = 0; step < 1000; step++) // of 5 ns each
    (step < 200 ? first_half : rest) += load.next();
  EXPECT_EQ(first_half, 1000u);
  EXPECT_EQ(rest, 0u);
}

// Times of user events are differences to the last one; those before the cut are left out.
TEST_F(PageReport, EachUserEventSaysItsThreadAndTheTimeSinceTheLastOne) {
  auto &cpu = trace.cpu(0).at(5000).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
  cpu.at(5100).record(FTrace_EVT_user_event_0, 9, 9).at(5500).record(FTrace_EVT_user_event_0, 1, 2);
  cpu.at(5530).record(FTrace_EVT_user_event_3, 3, 4).at(5600).sleep(1, 22).dispatch(2);
  cpu.at(5607).record(FTrace_EVT_user_event_0, 5, 6).at(6000).sleep(2, 0);
  cpu.at(6100).record(FTrace_EVT_user_event_0, 7, 8).at(9000).stop();
  Cut cut;
  cut.from = 200;
  const PackedPage packed = page(kDefaultPageBytes, cut);
  test::Numbers events(packed.parts.at("events"));
  const uint64_t first = FTrace_EVT_user_event_0, third = FTrace_EVT_user_event_3;
  for (const uint64_t expected : std::initializer_list<uint64_t>{
           300, 1, first, 1, 2, 30, 1, third, 3, 4, 77, 2, first, 5, 6, 493, 0, first, 7, 8})
    EXPECT_EQ(events.next(), expected);
  EXPECT_FALSE(events.more());
  EXPECT_EQ(packed.header["from"], 200);
  EXPECT_EQ(packed.header["to"], 4000);
}

// A range of 1000 steps of 3 ns. CPU 0 is busy in the first two steps, CPU 1 later. Both threads
// wait for a while.
TEST_F(PageReport, TheLoadIsDividedAmongTheStepsOfTheRange) {
  auto &one = trace.cpu(0).at(1000).start().id(1, 11, 11, "a").dispatch(1).at(2005).epilogue(1, 0);
  one.at(2008).dispatch(1).at(2010).sleep(1, 0).at(4500).stop();
  auto &two = trace.cpu(1).at(1000).start().id(1, 22, 22, "b").at(2990).activate(1, 0);
  two.at(2995).dispatch(1).at(2999).sleep(1, 0).at(4500).stop();
  Cut cut;
  cut.from = 1000;
  cut.to = 3500;
  const PackedPage packed = page(kDefaultPageBytes, cut);
  ASSERT_EQ(packed.header["load_steps"], 1000);
  test::Numbers load(packed.parts.at("load"));
  std::map<std::string, uint64_t> filled;
  for (int row = 0; row < 3; row++)
    for (int step = 0; step < 1000; step++)
      if (const uint64_t ns = load.next())
        filled[fmt::format("{} {}", row, step)] = ns;
  EXPECT_FALSE(load.more());
  EXPECT_EQ(filled, (std::map<std::string, uint64_t>{{"0 0", 3},
                                                     {"0 1", 2},
                                                     {"0 2", 1},
                                                     {"0 3", 1},
                                                     {"1 331", 1},
                                                     {"1 332", 3},
                                                     {"2 1", 1},
                                                     {"2 2", 2},
                                                     {"2 330", 3},
                                                     {"2 331", 2}}));
}

/// What is packed, put together again, is the stream; its sums are those of `info`.
TEST_F(PageReport, HasEverySliceOfRandomTraces) {
  for (unsigned seed = 0; seed < 60; seed++) {
    std::mt19937 random(seed);
    trace = TraceBuilder(dir.path());
    const uint64_t end = test::random_schedule(trace, random);
    Cut cut;
    if (seed % 3 == 1) {
      cut.from = random() % 300;
      cut.to = cut.from + random() % (end - 100);
      cut.from = std::min(cut.from, end - 100);
      cut.to = std::max(cut.from, cut.to);
    }
    const PackedPage packed = page(kDefaultPageBytes, cut);
    const auto source = open_trace({{dir.path()}}, sink);
    Collector stream;
    replay_slices(*source, cut, stream);
    std::map<uint32_t, std::array<uint64_t, 6>> sums;
    size_t n = 0;
    for (const auto &[thread, slices] : stream.slices)
      for (const Slice &slice : slices) {
        ASSERT_LT(n, packed.slices.size());
        const PackedSlice &found = packed.slices[n++];
        const std::string where = fmt::format("seed {}, slice {}", seed, n);
        ASSERT_EQ(found.thread, thread) << where;
        ASSERT_EQ(found.state, uint8_t(slice.state)) << where;
        ASSERT_EQ(found.start, slice.start - source->catalog().begin) << where;
        ASSERT_EQ(found.end, slice.end - source->catalog().begin) << where;
        ASSERT_EQ(found.starts, slice.starts) << where;
        ASSERT_EQ(found.ends, slice.ends) << where;
        ASSERT_EQ(found.cpu, slice.cpu == kNone ? 0 : int64_t(slice.cpu) + 1) << where;
        sums[source->catalog().threads[thread].tid][found.state] += found.end - found.start;
      }
    ASSERT_EQ(n, packed.slices.size());
    for (const json &thread : packed.summary["threads"])
      for (uint8_t state : {0, 1, 2, 4, 5})
        ASSERT_EQ(thread["time_ns"][packed.header["states"][state]["name"].get<std::string>()],
                  sums[thread["tid"]][state])
            << "seed " << seed;
  }
}

TEST_F(PageReport, NamesAreOnlyInTheData) {
  trace.cpu(0).at(100).start().id(1, 11, 11, "<script>x()//").dispatch(1).at(200).stop();
  trace.json(R"({"version": 1, "command": ["<img onerror=x()>"]})");
  const std::string text = html();
  EXPECT_EQ(text.find("x()//"), text.npos);
  EXPECT_EQ(text.find("<img"), text.npos);
  EXPECT_EQ(PackedPage(text).header["threads"][0]["name"], "<script>x()//");
  EXPECT_NE(text.find("default-src 'none'; script-src 'sha256-"), text.npos);
  EXPECT_EQ(text.find("unsafe"), text.npos);
  EXPECT_EQ(text.find('@'), text.find("@media")) << "a mark that was not replaced";
}

/// Two threads that take turns; the second waits longer.
TEST_F(PageReport, LargeTraceIsSummedUpExceptForThreadsThatWaitedLongest) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").id(2, 22, 22, "b");
  std::mt19937_64 random(1);
  uint64_t time = 1;
  for (int n = 0; n < 40000; n++) {
    cpu.at(time).dispatch(1);
    time += 1 + random() % 1000;
    cpu.at(time).epilogue(1, 22).dispatch(2);
    time += 3000 + random() % (1 << 20);
    cpu.at(time).epilogue(2, 11);
  }
  cpu.at(time).stop();
  const PackedPage whole = page();
  const uint64_t all = result.bytes;
  EXPECT_EQ(result.coarse_threads, 0u);
  EXPECT_TRUE(whole.header["why"].is_object());
  EXPECT_TRUE(page(all * 3 / 4).header["why"].is_null()) << "what explains ranges goes first";
  EXPECT_EQ(result.coarse_threads, 0u);
  const PackedPage small = page(all * 3 / 5);
  EXPECT_LE(result.bytes, all * 3 / 5);
  EXPECT_EQ(result.coarse_threads, 1u);
  EXPECT_EQ(small.header["coarse_threads"], 1);
  EXPECT_TRUE(small.header["threads"][1].contains("coarse")) << "the one that waited less";
  EXPECT_EQ(small.summary, whole.summary);

  std::array<uint64_t, 7> sums{}, expected{};
  for (const PackedSlice &slice : small.slices)
    if (slice.thread == 1 && slice.state == 7)
      for (size_t state = 0; state < 7; state++)
        sums[state] += slice.mix[state];
    else if (slice.thread == 1)
      sums[slice.state] += slice.end - slice.start;
  for (const PackedSlice &slice : whole.slices)
    if (slice.thread == 1)
      expected[slice.state] += slice.end - slice.start;
  EXPECT_EQ(sums, expected) << "no time is lost";
  EXPECT_THROW(page(1000), Error);
}

TEST_F(PageReport, AnEmptyTraceIsAPage) {
  trace.cpu(0).at(100).start().at(100).stop();
  const PackedPage packed = page();
  EXPECT_TRUE(packed.slices.empty());
  EXPECT_EQ(packed.header["from"], 0);
}

} // namespace
} // namespace ovnitrace
