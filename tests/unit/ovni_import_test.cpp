// SPDX-License-Identifier: BSD-2-Clause
// Reading ovni trace directories: issue "every channel semantic", point 6, and its bad input: "an
// ovni directory with a missing file: reported, and what is readable is converted".
#include "emulator/base/error.h"
#include "emulator/ovni/model_names.h"
#include "emulator/ovni/ovni_source.h"
#include "emulator/ovni/stream_dir.h"
#include "tests/unit/support/cases.h"
#include "tests/unit/support/ovni_streams.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace ovnitrace::test {
namespace {

using Lines = std::vector<std::string>;
using ovni::open_ovni_trace;

TEST(OvniImport, MergesStreamsByTime) {
  TempDir dir;
  write_stream(dir, "node", 10, 10, execute(100, 0) + stream_event("OHe", 400));
  write_stream(dir, "node", 10, 11, execute(200, 1) + stream_event("OHe", 300));
  CollectingSink sink;
  auto source = open_ovni_trace(dir.path(), "", sink);
  EXPECT_EQ(drain(*source), (Lines{"OHx@100/0", "OHx@200/1", "OHe@300/1", "OHe@400/0"}));
  EXPECT_TRUE(sink.reported.empty());
  EXPECT_EQ(source->catalog().begin, 100u);
  EXPECT_EQ(source->catalog().end, 400u);
}

TEST(OvniImport, EqualTimesComeInTheOrderOfTheStreams) {
  TempDir dir;
  write_stream(dir, "node", 10, 11, stream_event("OHp", 5) + stream_event("OHr", 5));
  write_stream(dir, "node", 10, 10, stream_event("OHp", 5));
  CollectingSink sink;
  EXPECT_EQ(drain(*open_ovni_trace(dir.path(), "", sink)),
            (Lines{"OHp@5/0", "OHp@5/1", "OHr@5/1"}));
}

TEST(OvniImport, EachLoomIsAHostAndMayReuseATid) {
  TempDir dir;
  write_stream(dir, "b.1", 10, 10, execute(1, 0));
  write_stream(dir, "a.1", 10, 10, execute(2, 0));
  CollectingSink sink;
  auto source = open_ovni_trace(dir.path(), "", sink);
  const Catalog &catalog = source->catalog();
  ASSERT_EQ(catalog.hosts.size(), 2u);
  EXPECT_EQ(catalog.hosts[0].name, "a.1");
  ASSERT_EQ(catalog.threads.size(), 2u);
  EXPECT_EQ(catalog.threads[1].tid, 10u);
  EXPECT_EQ(catalog.threads[1].host, 1u);
  EXPECT_EQ(catalog.cpus.size(), 4u);
  EXPECT_EQ(drain(*source), (Lines{"OHx@1/1", "OHx@2/0"}));
}

TEST(OvniImport, CpuIndexBecomesThePhysicalNumber) {
  TempDir dir;
  const std::string place = (dir / stream_place("n", 7, 7));
  write_file(
      place + "/stream.json",
      stream_json("n", 7, 7, R"(, "loom_cpus": [{"index":0,"phyid":9},{"index":1,"phyid":4}])"));
  write_file(place + "/stream.obs",
             stream_header() + execute(1, 0) + stream_event("OAs", 2, bytes_of(int32_t(1))) +
                 stream_event("OAs", 3, bytes_of(int32_t(-1))) +
                 stream_event("OAr", 4, bytes_of(int32_t(5)) + bytes_of(int32_t(7))));
  CollectingSink sink;
  auto source = open_ovni_trace(dir.path(), "", sink);
  // CPU index 5 is used but not declared.
  EXPECT_TRUE(reported(sink, "CPU index 5"));
  std::vector<uint32_t> cpus;
  for (const CpuInfo &cpu : source->catalog().cpus)
    cpus.push_back(cpu.index);
  EXPECT_EQ(cpus, (std::vector<uint32_t>{4, 5, 9}));
  std::vector<int32_t> seen;
  uint32_t peer = kNone;
  for (Event event; source->next(event); peer = event.peer) {
    int32_t cpu;
    std::memcpy(&cpu, event.payload, sizeof cpu);
    seen.push_back(cpu);
    if (event.kind == mcv('O', 'A', 'r')) {
      int32_t tid = 0;
      std::memcpy(&tid, event.payload + sizeof cpu, sizeof tid);
      EXPECT_EQ(tid, 7) << "the rest of the payload stays";
    }
  }
  EXPECT_EQ(seen, (std::vector<int32_t>{9, 4, -1, 5}));
  EXPECT_EQ(peer, 0u); // OAr names thread 7
}

TEST(OvniImport, ClockOffsetsOfTheHost) {
  TempDir dir;
  write_stream(dir, "a.1", 10, 10, execute(1000, 0));
  write_stream(dir, "b.1", 20, 20, execute(1000, 0));
  write_file((dir / "clock-offsets.txt"), "rank hostname offset_median offset_mean offset_std\n"
                                          "0 a 0 0 0\n1 b -600.0 -601.5 nan\nbroken\n2 c 1 1 1\n");
  CollectingSink sink;
  auto source = open_ovni_trace(dir.path(), "", sink);
  EXPECT_EQ(drain(*source), (Lines{"OHx@400/1", "OHx@1000/0"}));
  EXPECT_TRUE(reported(sink, "line 4"));
  EXPECT_TRUE(reported(sink, "host c"));
  EXPECT_THROW(open_ovni_trace(dir.path(), (dir / "none"), sink), Error);
}

/// A host's clock gives the births of its threads, too.
TEST(OvniImport, ClockOffsetsShiftBirths) {
  TempDir dir;
  for (const int tid : {20, 21}) {
    write_stream(dir, "b.1", 20, tid, execute(1000, tid - 20));
    std::string json = stream_json("b.1", 20, tid);
    if (tid == 21)
      json.insert(json.size() - 1, R"(, "ovnitrace": {"birth": 900})");
    write_file(dir / stream_place("b.1", 20, tid) + "/stream.json", json);
  }
  write_file((dir / "clock-offsets.txt"), "rank hostname median mean std\n0 b -600.0 -600.0 nan\n");
  CollectingSink sink;
  const auto source = open_ovni_trace(dir.path(), "", sink);
  ASSERT_EQ(source->catalog().threads.size(), 2u);
  EXPECT_EQ(source->catalog().threads[0].birth, 0u) << "not known";
  EXPECT_EQ(source->catalog().threads[1].birth, 300u);
}

TEST(OvniImport, StreamsOfOneThreadWithDifferentBirths) {
  TempDir dir;
  const auto add = [&](const char *loom, int tid, int birth) {
    const std::string place = (dir / stream_place(loom, 10, tid));
    std::string json = stream_json("n", 10, tid);
    json.insert(json.size() - 1, fmt::format(R"(, "ovnitrace": {{"birth": {}}})", birth));
    write_file(place + "/stream.json", json);
    write_file(place + "/stream.obs", stream_header() + execute(1, 0));
  };
  add("n", 11, 1);
  add("n", 12, 2);
  add("copy", 11, 3);
  CollectingSink sink;
  EXPECT_EQ(open_ovni_trace(dir.path(), "", sink)->catalog().threads.size(), 2u);
  EXPECT_TRUE(reported(sink, "same thread"));
}

TEST(OvniImport, JumboEventsAreSkippedWhole) {
  TempDir dir;
  const std::string big(200000, 'x');
  write_stream(dir, "n", 1, 1,
               execute(1, 0) + jumbo_event("VYc", 2, big) + jumbo_event("VYc", 3, "") +
                   stream_event("OHe", 4));
  CollectingSink sink;
  auto source = open_ovni_trace(dir.path(), "", sink);
  EXPECT_EQ(drain(*source), (Lines{"OHx@1/0", "VYc@2/0", "VYc@3/0", "OHe@4/0"}));
  ASSERT_EQ(sink.reported.size(), 1u);
  EXPECT_TRUE(reported(sink, "which no ovni.require of the trace names"));
}

TEST(OvniImport, StreamsLongerThanTheBuffer) {
  TempDir dir;
  std::string events = execute(0, 0);
  for (uint64_t i = 1; i < 30000; ++i)
    events += stream_event(i % 2 ? "OHp" : "OHr", i);
  write_stream(dir, "n", 1, 1, events);
  CollectingSink sink;
  auto source = open_ovni_trace(dir.path(), "", sink);
  const Lines all = drain(*source);
  ASSERT_EQ(all.size(), 30000u);
  EXPECT_EQ(all.back(), "OHp@29999/0");
  EXPECT_TRUE(sink.reported.empty());
}

TEST(OvniImport, TruncatedStreamKeepsItsWholeEvents) {
  TempDir dir;
  const std::string whole = execute(1, 0) + stream_event("OHe", 9);
  for (size_t cut = 1; cut < whole.size(); ++cut) {
    write_stream(dir, "n", 1, 1, whole.substr(0, whole.size() - cut));
    CollectingSink sink;
    auto source = open_ovni_trace(dir.path(), "", sink);
    const size_t kept = cut <= 12 ? 1 : 0;
    EXPECT_EQ(drain(*source).size(), kept) << cut;
    EXPECT_EQ(reported(sink, "ends inside an event"), cut != 12) << cut;
  }
}

TEST(OvniImport, TimeThatGoesBackIsReportedAndHeld) {
  TempDir dir;
  write_stream(dir, "n", 1, 1, execute(50, 0) + stream_event("OHp", 20) + stream_event("OHr", 60));
  CollectingSink sink;
  EXPECT_EQ(drain(*open_ovni_trace(dir.path(), "", sink)),
            (Lines{"OHx@50/0", "OHp@50/0", "OHr@60/0"}));
  ASSERT_EQ(sink.reported.size(), 1u);
  EXPECT_EQ(sink.reported[0].offset, 8u + 28u);
  EXPECT_TRUE(reported(sink, "goes back by 30 ns"));
}

TEST(OvniImport, OneBadStreamLeavesTheOthers) {
  const struct {
    const char *file;
    std::string content;
    const char *reported;
    bool thread_kept;
  } cases[] = {
      {"stream.obs", "avni" + bytes_of(1u) + execute(1, 0), "wrong magic", true},
      {"stream.obs", stream_header(2) + execute(1, 0), "stream version 2", true},
      {"stream.obs", stream_header(1u << 24) + execute(1, 0), "other byte order", true},
      {"stream.obs", "", "no room for the header", true},
      {"stream.obs", stream_header() + std::string(40, '\0'), "is no event", true},
      {"stream.obs", stream_header() + stream_event("OHp", 1ull << 63), "is no event", true},
      {"stream.json", "{", "stream.json: is no JSON: ", true},
      {"stream.json", "[1]", "is no JSON object", true},
      {"stream.json", std::string(1 << 20, '['), "is nested deeper than 64 levels", true},
      {"stream.json", "[" + std::string(1 << 20, ',') + "]", "is no JSON: ", true},
      {"stream.json", R"({"version": 3, "version": 3})", "has the member \"version\" twice", true},
      {"stream.json", stream_json("n", 10, 0), "ovni.tid", true},
      {"stream.json", stream_json("n", 0, 11), "ovni.pid", true},
      {"stream.json", R"({"version": 2, "ovni": {"part": "thread", "tid": 11, "pid": 10,
                        "loom": "n", "finished": 1}})",
       "metadata version", true},
      {"stream.json", stream_json("n", 10, 10), "same thread", false},
      {"stream.json", R"({"version": 3, "ovni": {"part": "gpu"}})", "not \"thread\"", false},
      {"stream.json", stream_json("n", 10, 11, R"(, "loom_cpus": 3)"), "loom_cpus", true},
      {"stream.json", stream_json("n", 10, 11, R"(, "loom_cpus": [{"index": -1}])"), "loom_cpus",
       true},
      {"stream.json", stream_json("n", 10, 11, R"(, "loom_cpus": [{"index": 0, "phyid": 5}])"),
       "contradicts", true},
  };
  for (const auto &c : cases) {
    TempDir dir;
    write_stream(dir, "n", 10, 10, execute(5, 0) + stream_event("OHe", 6));
    write_stream(dir, "n", 10, 11, execute(5, 1) + stream_event("OHe", 6));
    write_file((dir / stream_place("n", 10, 11) + "/" + c.file), c.content);
    CollectingSink sink;
    auto source = open_ovni_trace(dir.path(), "", sink);
    EXPECT_TRUE(reported(sink, c.reported)) << c.reported;
    EXPECT_EQ(source->catalog().threads.size(), c.thread_kept ? 2u : 1u) << c.reported;
    const Lines events = drain(*source);
    EXPECT_NE(std::find(events.begin(), events.end(), "OHe@6/0"), events.end()) << c.reported;
  }
}

TEST(OvniImport, MissingFiles) {
  TempDir dir;
  write_stream(dir, "n", 10, 10, execute(5, 0));
  write_stream(dir, "n", 10, 11, execute(6, 1));
  write_stream(dir, "n", 10, 12, execute(7, 1));
  std::filesystem::remove((dir / stream_place("n", 10, 11) + "/stream.json"));
  std::filesystem::remove((dir / stream_place("n", 10, 12) + "/stream.obs"));
  CollectingSink sink;
  auto source = open_ovni_trace(dir.path(), "", sink);
  EXPECT_TRUE(reported(sink, "thread.11/stream.json: is missing"));
  EXPECT_TRUE(reported(sink, "thread.12/stream.obs: is missing"));
  EXPECT_EQ(source->catalog().threads.size(), 3u);
  EXPECT_EQ(source->catalog().threads[1].tid, 11u);
  EXPECT_EQ(drain(*source), (Lines{"OHx@5/0", "OHx@6/1"}));
}

TEST(OvniImport, NothingThatCanBeRead) {
  TempDir dir;
  CollectingSink sink;
  EXPECT_THROW(open_ovni_trace(dir.path(), "", sink), Error);
  EXPECT_THROW(open_ovni_trace((dir / "none"), "", sink), Error);
  write_file((dir / "thread/stream.json"), "{}");
  EXPECT_THROW(open_ovni_trace(dir.path(), "", sink), Error);
}

TEST(OvniImport, MarksAndNames) {
  TempDir dir;
  const std::string place = (dir / stream_place("n", 1, 1));
  std::string json = stream_json(
      "n", 1, 1,
      R"(, "mark": {"3": {"title": "phase", "chan_type": "stack", "labels": {"2": "two", "1": "one"}},
          "100": {"title": "out of range"}})");
  json.insert(json.size() - 1, R"(, "ovnitrace": {"name": "worker", "birth": 77})");
  write_file(place + "/stream.json", json);
  write_file(place + "/stream.obs", stream_header() + execute(1, 0));
  CollectingSink sink;
  auto source = open_ovni_trace(dir.path(), "", sink);
  const Catalog &catalog = source->catalog();
  ASSERT_EQ(catalog.marks.size(), 1u);
  EXPECT_EQ(catalog.marks[0].type, 3u);
  EXPECT_TRUE(catalog.marks[0].stack);
  EXPECT_EQ(catalog.marks[0].labels,
            (std::vector<std::pair<int64_t, std::string>>{{1, "one"}, {2, "two"}}));
  EXPECT_TRUE(reported(sink, "0 to 99"));
  EXPECT_EQ(catalog.threads[0].name, "worker");
  EXPECT_EQ(catalog.threads[0].birth, 77u);
}

TEST(OvniImport, RowsAreOrderedByRankWhereEveryLoomHasRanks) {
  TempDir dir;
  const auto add = [&](const char *loom, int pid, int rank) {
    const std::string place = (dir / stream_place(loom, pid, pid));
    write_file(place + "/stream.json",
               stream_json(loom, pid, pid, R"(, "nranks": 2, "rank": )" + std::to_string(rank)));
    write_file(place + "/stream.obs", stream_header() + execute(1, -1));
  };
  add("a", 1, 2);
  add("b", 9, 0);
  add("b", 3, 1);
  CollectingSink sink;
  auto source = open_ovni_trace(dir.path(), "", sink);
  std::vector<uint32_t> pids;
  for (const ThreadInfo &thread : source->catalog().threads)
    pids.push_back(thread.pid);
  EXPECT_EQ(pids, (std::vector<uint32_t>{9, 3, 1}));
}

// Any one byte of a stream may be wrong: no crash, no endless loop, the times never go back.
TEST(OvniImport, EveryByteWrong) {
  TempDir dir;
  const std::string good = stream_header() + execute(1, 0) + jumbo_event("VYc", 2, "label") +
                           stream_event("OAr", 3, bytes_of(1) + bytes_of(1)) +
                           stream_event("OHe", 4);
  write_stream(dir, "n", 1, 1, "");
  const std::string file = (dir / stream_place("n", 1, 1) + "/stream.obs");
  for (size_t at = 0; at < good.size(); ++at)
    for (const int bits : {0x01, 0x10, 0x80, 0xff}) {
      std::string bad = good;
      bad[at] = char(bad[at] ^ bits);
      write_file(file, bad);
      CollectingSink sink;
      auto source = open_ovni_trace(dir.path(), "", sink);
      uint64_t last = 0;
      size_t count = 0;
      for (Event event; source->next(event); last = event.time, ++count)
        ASSERT_GE(event.time, last) << at;
      // What comes before the wrong byte is always there.
      EXPECT_GE(count, at < 8 ? 0u : at < 36 ? 0u : at < 57 ? 1u : at < 77 ? 2u : 3u) << at;
    }
}

TEST(OvniImport, EveryByteOfTheMetadataWrong) {
  TempDir dir;
  write_stream(dir, "n", 10, 10, execute(5, 0) + stream_event("OHe", 6));
  write_stream(dir, "n", 10, 11, execute(5, 1) + stream_event("OHe", 6));
  const std::string file = dir / (stream_place("n", 10, 11) + "/stream.json");
  const std::string good = text_of(file);
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = char(bad[at] ^ 0x15);
    write_file(file, bad);
    CollectingSink sink;
    const Lines events = drain(*open_ovni_trace(dir.path(), "", sink));
    EXPECT_GE(std::count(events.begin(), events.end(), "OHe@6/0"), 1) << at;
  }
}

TEST(OvniImport, RandomBytes) {
  TempDir dir;
  std::mt19937 random(1);
  for (unsigned round = 0; round < test::cases(200); ++round) {
    std::string noise;
    for (size_t i = random() % 400; i > 0; --i)
      noise += char(random() % 4 ? random() : "OHxprcweVU[]"[random() % 12]);
    write_stream(dir, "n", 1, 1, execute(3, 0) + noise);
    write_file(dir / "clock-offsets.txt", noise);
    CollectingSink sink;
    const auto source = open_ovni_trace(dir.path(), "", sink);
    uint64_t last = 0;
    for (Event event; source->next(event); last = event.time)
      ASSERT_GE(event.time, last);
    EXPECT_GE(last, source->catalog().begin);
    EXPECT_LE(last, source->catalog().end);
  }
}

TEST(OvniImport, IsNotTakenForOtherDirectories) {
  TempDir dir;
  EXPECT_FALSE(ovni::is_stream_dir(dir.path()));
  write_file((dir / "trace.json"), "{}");
  write_file((dir / "cpu0000.ftr"), "");
  write_file((dir / "loom.txt"), "");
  EXPECT_FALSE(ovni::is_stream_dir(dir.path()));
  EXPECT_FALSE(ovni::is_stream_dir((dir / "trace.json")));
  write_stream(dir, "n", 1, 1, "");
  EXPECT_TRUE(ovni::is_stream_dir(dir.path()));
  EXPECT_TRUE(ovni::is_stream_dir((dir / "loom.n")));
  EXPECT_TRUE(ovni::is_stream_dir((dir / stream_place("n", 1, 1))));
}

TEST(OvniImport, EventsAreCountedUnderTheNameOfTheirModel) {
  EXPECT_EQ(ovni::events_of_model('V', 2), "2 events of model V (nosv) are");
  EXPECT_EQ(ovni::events_of_model('z', 1), "1 event of model z is");
}

} // namespace
} // namespace ovnitrace::test
