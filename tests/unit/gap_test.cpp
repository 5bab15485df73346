// SPDX-License-Identifier: BSD-2-Clause
// Records that a file should have and has not: what is shown where they are missing.
#include "emulator/core/replay.h"
#include "emulator/dump/dump_line.h"
#include "emulator/input/trace_info.h"
#include "emulator/models/registry.h"
#include "emulator/open/open_trace.h"
#include "emulator/summary/report.h"
#include "emulator/summary/summarizer.h"
#include "tests/support/convert_directory.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <random>

namespace ovnitrace {
namespace {

using test::ChunkBuilder;
using test::CollectingSink;
using test::TempDir;
using test::TraceBuilder;

std::string dump_of(EventSource &source) {
  const DumpLine line(source.catalog());
  std::string text;
  char buffer[DumpLine::kMaxBytes];
  for (Event event; source.next(event);)
    text.append(buffer, line.put(buffer, event));
  return text;
}

/// Thread 7 runs on CPU 0 from 100 to 200, is woken there at 300, and runs on CPU 1 from 310 to the
/// end, 500. Thread 8 runs on CPU 1 until 250 and sleeps then.
class Gap : public ::testing::Test {
protected:
  Gap() : trace_(dir_.path()) {
    trace_.cpu(0).at(100).start().id(1, 7, 7, "app").dispatch(1).at(200).sleep(1).next_chunk();
    trace_.cpu(0).at(300).id(1, 7, 7, "app").activate(1).next_chunk().at(500).stop();
    trace_.cpu(1).at(100).start().id(1, 8, 8, "other").dispatch(1).at(250).sleep(1);
    trace_.cpu(1).at(310).id(2, 7, 7, "app").dispatch(2).at(500).stop();
    for (uint16_t cpu : {0, 1})
      count_[cpu] = trace_.cpu(cpu).records().size();
    trace_.json(
        R"({"format": "ovnitrace", "version": 1, "cpus": 2, "written": [{"cpu": 0, "records": )" +
        std::to_string(count_[0]) + R"(}, {"cpu": 1, "records": )" + std::to_string(count_[1]) +
        "}]}");
    trace_.write();
  }
  /// As a tracer that was killed leaves it.
  void forget_written() const {
    const std::string json = R"({"format": "ovnitrace", "version": 1, "cpus": 2})";
    TraceBuilder::write_file(dir_ / "trace.json", json.data(), json.size());
  }
  /// Leaves out chunk 1 of CPU 0, which has the wakeup.
  void drop_middle_chunk() {
    const std::vector<ftrace_record> all = trace_.cpu(0).records();
    std::vector<ftrace_record> left;
    uint32_t chunk = 0;
    for (size_t i = 0; i < all.size(); i++) {
      if (i + 2 < all.size() && all[i].code == FTrace_EVT_cycles_per_msec)
        chunk = all[i + 2].par2;
      if (chunk != 1)
        left.push_back(all[i]);
    }
    ASSERT_LT(left.size(), all.size());
    TraceBuilder::write_file(trace_.file(0), left.data(), left.size() * sizeof(ftrace_record));
  }
  void cut(uint16_t cpu, size_t records) const {
    std::filesystem::resize_file(trace_.file(cpu), records * sizeof(ftrace_record));
  }
  Summary summary() {
    const auto source = open_trace({{dir_.path()}}, sink_);
    return summarize(*source);
  }
  static uint64_t in(const Summary &summary, size_t thread, ThreadState state) {
    return summary.threads[thread].time[size_t(state)];
  }
  std::string dump() { return dump_of(*open_trace({{dir_.path()}}, sink_)); }

  TempDir dir_;
  TraceBuilder trace_;
  size_t count_[2];
  CollectingSink sink_;
};

TEST_F(Gap, AWholeTraceHasNone) {
  EXPECT_EQ(dump().find("blackout"), std::string::npos);
  const Summary whole = summary();
  EXPECT_FALSE(whole.lost_more);
  EXPECT_EQ(in(whole, 0, ThreadState::Paused), 100u);
  EXPECT_EQ(in(whole, 0, ThreadState::Warming), 10u);
  EXPECT_EQ(whole.cpus[0].unknown, 0u);
  forget_written(); // each file ends with trace_stop: all is there
  EXPECT_EQ(dump().find("blackout"), std::string::npos);
  EXPECT_EQ(sink_.reported.size(), 0u);
}

TEST_F(Gap, AMissingFileIsABlackoutFromBeginToEnd) {
  for (bool counted : {true, false}) {
    if (!counted)
      forget_written();
    std::filesystem::remove(trace_.file(0));
    const Summary rest = summary();
    EXPECT_TRUE(rest.lost_more);
    EXPECT_TRUE(rest.cpus[0].lost_more);
    EXPECT_FALSE(rest.cpus[1].lost_more);
    EXPECT_EQ(rest.cpus[0].unknown, 400u);
    EXPECT_EQ(rest.cpus[1].unknown, 0u);
    EXPECT_EQ(in(rest, 0, ThreadState::Unknown), 210u); // until it runs on CPU 1
    EXPECT_EQ(in(rest, 0, ThreadState::Running), 190u);
    EXPECT_EQ(in(rest, 1, ThreadState::Paused), 0u) << "it could have been woken on CPU 0";
    EXPECT_EQ(sink_.count("the file is missing"), 1u);
    sink_.reported.clear();
  }
}

TEST_F(Gap, ACpuWithoutEventsHasABlackout) {
  const std::string json =
      R"({"format": "ovnitrace", "version": 1, "cpus": 4, "written": [{"cpu": 0, "records": )" +
      std::to_string(count_[0]) + R"(}, {"cpu": 1, "records": )" + std::to_string(count_[1]) +
      R"(}, {"cpu": 2, "records": 0}]})";
  TraceBuilder::write_file(dir_ / "trace.json", json.data(), json.size());
  EXPECT_FALSE(summary().lost_more);
  EXPECT_EQ(sink_.reported.size(), 0u);
}

TEST_F(Gap, ACpuThatWasNotThereIsNotMissed) {
  const std::string json =
      R"({"format": "ovnitrace", "version": 1, "cpus": 9, "topology": [{"cpu": 0}, {"cpu": 1}, 3, {}]})";
  TraceBuilder::write_file(dir_ / "trace.json", json.data(), json.size());
  EXPECT_FALSE(summary().lost_more);
}

TEST_F(Gap, ACutFileIsABlackoutFromItsLastEventToTheEnd) {
  for (bool counted : {true, false}) {
    if (!counted)
      forget_written();
    cut(0, count_[0] - 6); // the last chunk, and next_chunk of the one before
    const Summary rest = summary();
    EXPECT_TRUE(rest.cpus[0].lost_more);
    EXPECT_EQ(rest.cpus[0].unknown, 200u); // since 300
    EXPECT_EQ(in(rest, 0, ThreadState::Paused), 100u);
    EXPECT_EQ(in(rest, 0, ThreadState::Warming), 0u);
    EXPECT_EQ(in(rest, 0, ThreadState::Unknown), 10u);
    EXPECT_EQ(in(rest, 0, ThreadState::Running), 290u);
    EXPECT_NE(dump().find(
                  "0.000000200    0  blackout_start       -                        what=missing\n"),
              std::string::npos)
        << dump();
  }
}

TEST_F(Gap, ASkippedChunkIsABlackoutBetweenItsNeighbours) {
  drop_middle_chunk();
  const Summary rest = summary();
  EXPECT_TRUE(rest.cpus[0].lost_more);
  EXPECT_EQ(rest.cpus[0].unknown, 300u); // from 200 to 500
  EXPECT_EQ(in(rest, 0, ThreadState::Paused), 0u);
  EXPECT_EQ(in(rest, 0, ThreadState::Unknown), 110u);
  EXPECT_EQ(sink_.count("chunk 2 is in the place of chunk 1"), 1u);
  const std::string text = dump();
  EXPECT_NE(text.find("blackout_start"), std::string::npos);
  EXPECT_NE(text.find("blackout_end         -                        what=missing\n"),
            std::string::npos)
      << text;
}

TEST_F(Gap, AMissingBeginIsABlackoutUntilTheFirstEvent) {
  const std::vector<ftrace_record> all = trace_.cpu(0).records();
  const auto third = std::find_if(all.rbegin(), all.rend(), [](const ftrace_record &record) {
    return record.code == FTrace_EVT_cycles_per_msec;
  });
  const std::vector<ftrace_record> left(third.base() - 1, all.end());
  TraceBuilder::write_file(trace_.file(0), left.data(), left.size() * sizeof(ftrace_record));
  EXPECT_EQ(summary().cpus[0].unknown, 400u);
}

TEST_F(Gap, IsNoEventThatIsCounted) {
  const uint64_t whole = summary().events;
  cut(0, count_[0] - 1); // only trace_stop
  EXPECT_EQ(summary().events, whole - 1);
  ConvertOptions options;
  options.directory = dir_ / "prv";
  EXPECT_EQ(convert_directory(dir_.path(), options, sink_).events, whole - 1);
  const std::string text = test::text_of(dir_ / "prv/cpu.prv");
  EXPECT_NE(text.find(":10:1\n"), std::string::npos) << "a blackout in cpu.prv: " << text;
}

TEST_F(Gap, HowManyAreLostIsReportedAsNotKnown) {
  std::filesystem::remove(trace_.file(0));
  const auto source = open_trace({{dir_.path()}}, sink_);
  const Summary rest = summarize(*source);
  const ReportInput input{dir_.path(), TraceInfo(), source->catalog(), rest};
  const std::string text = text_report(input);
  EXPECT_NE(text.find("lost      not known\n"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(json_report(input));
  EXPECT_TRUE(json["lost"].is_null());
  EXPECT_TRUE(json["cpus"][0]["lost"].is_null());
  EXPECT_EQ(json["cpus"][0]["unknown_ns"], 400);
  EXPECT_EQ(json["cpus"][1]["lost"], 0);
}

/// What a replay found: by thread, since when it is in which state.
class Found final : public StateObserver {
public:
  explicit Found(const std::string &path) {
    CollectingSink sink;
    const auto source = open_trace({{path}}, sink);
    const Catalog &catalog = source->catalog();
    std::vector<Model> models;
    models.push_back(ovni_model());
    Replay replay(catalog, std::move(models), {}, sink, 0);
    replay.system().observe(this);
    for (Event event; source->next(event);) {
      now_ = event.time;
      replay.handle(event);
      replay.skip();
    }
    for (auto &[thread, states] : by_index_)
      by_tid[catalog.threads[thread].tid] = std::move(states);
  }
  void on_change(uint32_t thread, const StateChange &change) override {
    by_index_[thread][now_] = change.to;
  }

  ThreadState at(uint32_t tid, uint64_t time) const {
    const auto states = by_tid.find(tid);
    if (states == by_tid.end())
      return ThreadState::Unknown;
    const auto after = states->second.upper_bound(time);
    return after == states->second.begin() ? ThreadState::Unknown : std::prev(after)->second;
  }

  std::map<uint32_t, std::map<uint64_t, ThreadState>> by_tid;

private:
  uint64_t now_ = 0;
  std::map<uint32_t, std::map<uint64_t, ThreadState>> by_index_;
};

/// A machine of three CPUs and five threads that does anything legal, an event each ns.
class AnySchedule {
public:
  AnySchedule(std::mt19937 &random, TraceBuilder &trace) : random_(random), trace_(trace) {
    for (uint16_t cpu = 0; cpu < kCpus; cpu++)
      trace_.cpu(cpu).at(time_).start();
    for (int n = 0; n < 150; n++) {
      time_++;
      step();
    }
    time_++;
    for (uint16_t cpu = 0; cpu < kCpus; cpu++)
      trace_.cpu(cpu).at(time_).stop();
  }
  uint64_t end() const { return time_; }

  static constexpr uint16_t kCpus = 3;
  static constexpr uint32_t kThreads = 5;
  static constexpr int kOff = -1, kBlocked = -2;

private:
  void step() {
    const uint32_t thread = random_() % kThreads;
    const uint16_t cpu = uint16_t(random_() % kCpus);
    ChunkBuilder &chunk = trace_.cpu(uint16_t(at_[thread] >= 0 ? at_[thread] : cpu)).at(time_);
    if (random_() % 8 == 0)
      chunk.next_chunk();
    chunk.id(uint16_t(thread + 1), 10 + thread, 10 + thread, "t");
    if (at_[thread] >= 0) {
      runs_[at_[thread]] = false;
      at_[thread] = random_() % 2 ? kBlocked : kOff;
      at_[thread] == kBlocked ? chunk.sleep(uint16_t(thread + 1))
                              : chunk.epilogue(uint16_t(thread + 1));
    } else if (at_[thread] == kBlocked) {
      chunk.activate(uint16_t(thread + 1));
      at_[thread] = kOff;
    } else if (!runs_[cpu]) {
      chunk.dispatch(uint16_t(thread + 1));
      runs_[cpu] = true;
      at_[thread] = cpu;
    }
  }

  std::mt19937 &random_;
  TraceBuilder &trace_;
  uint64_t time_ = 1000;
  int at_[kThreads] = {kOff, kOff, kOff, kOff, kOff};
  bool runs_[kCpus] = {};
};

/// Takes something away from a file, as a full disk, a kill or a bad sector does.
void damage(std::mt19937 &random, const std::string &file,
            const std::vector<ftrace_record> &records) {
  std::vector<ftrace_record> left = records;
  const size_t at = random() % left.size();
  switch (random() % 4) {
  case 0:
    std::filesystem::remove(file);
    return;
  case 1:
    left.resize(at);
    break;
  case 2: { // chunks out of the middle
    std::vector<size_t> begins;
    for (size_t i = 0; i < left.size(); i++)
      if (left[i].code == FTrace_EVT_cycles_per_msec)
        begins.push_back(i);
    if (begins.size() < 3)
      return;
    const size_t from = 1 + random() % (begins.size() - 2),
                 to = from + 1 + random() % (begins.size() - from - 1);
    left.erase(left.begin() + long(begins[from]), left.begin() + long(begins[to]));
    break;
  }
  default: // one record that is nonsense
    left[at].code = 0xee;
  }
  TraceBuilder::write_file(file, left.data(), left.size() * sizeof(ftrace_record));
}

// Whatever is missing, and wherever: a state that is shown is the true one, or Unknown.
TEST(Gaps, NoStateIsInvented) {
  std::mt19937 random(11);
  uint64_t known = 0, unknown = 0;
  for (int round = 0; round < 400; round++) {
    TempDir dir;
    TraceBuilder trace(dir.path());
    const AnySchedule schedule(random, trace);
    trace.json(R"({"format": "ovnitrace", "version": 1, "cpus": 3})").write();
    const Found truth(dir.path());
    const uint16_t cpu = uint16_t(random() % AnySchedule::kCpus);
    damage(random, trace.file(cpu), trace.cpu(cpu).records());
    const Found found(dir.path());
    for (uint32_t tid = 10; tid < 10 + AnySchedule::kThreads; tid++)
      for (uint64_t time = 1000; time < schedule.end(); time++) {
        const ThreadState shown = found.at(tid, time);
        (shown == ThreadState::Unknown ? unknown : known)++;
        ASSERT_TRUE(shown == ThreadState::Unknown || shown == truth.at(tid, time))
            << "round " << round << ", " << tid << " at " << time << ": " << name(shown)
            << ", but it was " << name(truth.at(tid, time));
      }
  }
  EXPECT_GT(known, unknown / 4) << "and not all is given up";
}

} // namespace
} // namespace ovnitrace
