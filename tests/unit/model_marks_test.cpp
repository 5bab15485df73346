// SPDX-License-Identifier: BSD-2-Clause
// User marks of ovni streams, as stream.json declares them and otherwise.
#include "emulator/core/replay.h"
#include "emulator/models/registry.h"
#include "tests/unit/support/collecting_rows.h"
#include "tests/unit/support/collecting_sink.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using test::Timeline;

/// Thread 7 runs on CPU 0. Mark 3 is a stack, marks 5 and 99 are single.
struct ModelMarks : ::testing::Test {
  ModelMarks() : replay(catalog(), builtin_models(), {}, sink, FaultLog::kUnlimited) {
    at(1, "OHx", {0});
  }
  static const Catalog &catalog() {
    static const Catalog catalog = [] {
      Catalog made;
      made.hosts = {{.name = "a"}};
      made.cpus = {{0, 0}};
      made.threads = {{.tid = 7, .pid = 7, .name = "t"}};
      made.files = {"stream.obs"};
      made.marks = {{.type = 3, .stack = true, .title = "Phase", .labels = {{1, "one"}, {9, "x"}}},
                    {.type = 3, .title = "Again", .labels = {}},
                    {.type = 5, .title = "Step", .labels = {}},
                    {.type = 99, .title = "Last", .labels = {}},
                    {.type = 100, .title = "Too large", .labels = {}}};
      return made;
    }();
    return catalog;
  }
  void at(uint64_t time, const char *name, std::vector<int32_t> payload) {
    replay.emit(now_, threads, cpus);
    now_ = time;
    replay.handle({.time = time,
                   .kind = mcv(name[0], name[1], name[2]),
                   .thread = 0,
                   .payload = reinterpret_cast<const uint8_t *>(payload.data()),
                   .payload_size = uint32_t(payload.size() * sizeof(int32_t))});
  }
  void flush() { replay.emit(now_, threads, cpus); }
  std::string last_fault() const { return sink.reported.empty() ? "" : sink.reported.back().what; }
  const ChannelDef *def_of(uint32_t type) {
    for (ChannelId id = 0; id < replay.system().channels().size(); id++)
      if (const ChannelDef &def = replay.system().channels().def(id); def.thread_type == type)
        return &def;
    return nullptr;
  }

  test::CollectingSink sink;
  test::CollectingRows threads, cpus;
  Replay replay;

private:
  uint64_t now_ = 0;
};

TEST_F(ModelMarks, HaveTheTitleAndTheLabelsThatAreDeclared) {
  const ChannelDef *phase = def_of(103);
  ASSERT_NE(phase, nullptr);
  EXPECT_EQ(phase->name, "mark 3");
  EXPECT_EQ(phase->label, "Phase") << "the first declaration";
  EXPECT_EQ(phase->cpu_type, 103u);
  ASSERT_EQ(phase->values.size(), 2u);
  EXPECT_EQ(phase->values[1].value, 9);
  EXPECT_EQ(phase->values[1].label, "x");
  ASSERT_NE(def_of(199), nullptr);
  EXPECT_EQ(def_of(199)->label, "Last");
  EXPECT_EQ(def_of(200)->name, "off-CPU reason") << "type 100 would be beyond those of marks";
}

TEST_F(ModelMarks, HaveANumberIfNobodyDeclaresThem) {
  at(5, "OM=", {1, 0, 42});
  ASSERT_NE(def_of(142), nullptr);
  EXPECT_EQ(def_of(142)->name, "mark 42");
  EXPECT_EQ(def_of(142)->label, "Mark 42");
}

TEST_F(ModelMarks, OfADeclaredKindAreNoFault) {
  at(5, "OM[", {1, 0, 3});
  at(6, "OM[", {9, 0, 3});
  at(7, "OM]", {9, 0, 3});
  at(8, "OM=", {4, 0, 5});
  flush();
  EXPECT_EQ(sink.reported.size(), 0u) << last_fault();
  EXPECT_EQ(threads.timeline(0, 103), (Timeline{{5, 1}, {6, 9}, {7, 1}}));
  EXPECT_EQ(cpus.timeline(0, 103), (Timeline{{5, 1}, {6, 9}, {7, 1}}));
  EXPECT_EQ(threads.timeline(0, 105), (Timeline{{8, 4}}));
}

TEST_F(ModelMarks, OfAnotherKindThanDeclaredAreReportedAndShown) {
  at(5, "OM[", {1, 0, 5});
  EXPECT_EQ(last_fault(), "OM[ of t (7) on mark 5, which is single, no stack");
  at(6, "OM=", {2, 0, 3});
  EXPECT_EQ(last_fault(), "OM= of t (7) on mark 3, which is a stack");
  at(7, "OM=", {3, 0, 42});
  EXPECT_EQ(last_fault(), "OM= of t (7) on mark 42, which no stream.json declares");
  flush();
  EXPECT_EQ(sink.reported.size(), 3u);
  EXPECT_EQ(threads.timeline(0, 105), (Timeline{{5, 1}}));
  EXPECT_EQ(threads.timeline(0, 103), (Timeline{{6, 2}}));
  EXPECT_EQ(threads.timeline(0, 142), (Timeline{{7, 3}}));
}

TEST_F(ModelMarks, WithALongerPayloadAreReportedAndShown) {
  at(5, "OM=", {1, 0, 5, 0});
  EXPECT_EQ(last_fault(), "OM= of t (7) has a payload of 16 bytes, not 12");
  flush();
  EXPECT_EQ(threads.timeline(0, 105), (Timeline{{5, 1}}));
}

TEST_F(ModelMarks, AreSeenWhileTheThreadIsActiveAndOnTheCpuWhileItRuns) {
  at(5, "OM=", {1, 0, 5});
  at(6, "OHc", {});
  at(7, "OHp", {});
  flush();
  EXPECT_EQ(threads.timeline(0, 105), (Timeline{{5, 1}, {7, 0}}));
  EXPECT_EQ(cpus.timeline(0, 105), (Timeline{{5, 1}, {6, 0}}));
}

} // namespace
} // namespace ovnitrace
