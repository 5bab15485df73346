// SPDX-License-Identifier: BSD-2-Clause
// What an exported ovni trace holds, file by file and event by event.
#include "emulator/base/error.h"
#include "emulator/ovni_export/exporter.h"
#include "tests/unit/support/ovni_streams.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstring>

namespace ovnitrace::test {
namespace {

using ovni::Exporter;
using ovni::StreamStore;
using enum ThreadState;

/// Threads 100 and 101 of process 100 and thread 200 on the host "node", whose CPUs are 3 and 5.
class OvniFiles : public ::testing::Test {
protected:
  OvniFiles() {
    catalog.hosts = {{.name = "node"}};
    catalog.cpus = {{3, 0}, {5, 0}};
    catalog.threads = {{.tid = 100, .pid = 100, .name = "main"},
                       {.tid = 101, .pid = 100, .parent = 100, .birth = 15, .name = "aide"},
                       {.tid = 200, .pid = 200, .name = "other"}};
    catalog.begin = 10;
    catalog.end = 100;
  }
  struct Change {
    uint64_t time;
    uint32_t thread;
    ThreadState state;
    uint32_t cpu;
  };
  void write(const std::vector<Change> &changes) {
    StreamStore store(dir / "out");
    Exporter exporter(catalog, store);
    for (const Change &change : changes)
      exporter.change(change.time, change.thread, change.state, change.cpu);
    exporter.finish();
    store.finish();
    counts = exporter.counts();
  }
  std::string place(int pid, int tid, const std::string &loom = "node") const {
    return dir / ("out/" + stream_place(loom, pid, tid));
  }
  /// Returns "20 OHx 1 -1 0 0, …": each event with its payload as 32-bit numbers.
  std::string events(int pid, int tid) const {
    const std::string bytes = text_of(place(pid, tid) + "/stream.obs");
    EXPECT_EQ(bytes.substr(0, 8), stream_header());
    std::string all;
    for (size_t at = 8; at < bytes.size();) {
      uint64_t time;
      std::memcpy(&time, &bytes[at + 4], sizeof time);
      all += (all.empty() ? "" : ", ") + std::to_string(time) + " " + bytes.substr(at + 1, 3);
      const size_t end = at + 12 + (bytes[at] ? size_t(bytes[at]) + 1 : 0);
      for (at += 12; at < end; at += 4) {
        int32_t number;
        std::memcpy(&number, &bytes[at], sizeof number);
        all += " " + std::to_string(number);
      }
    }
    return all;
  }
  nlohmann::ordered_json json(int pid, int tid) const {
    return nlohmann::ordered_json::parse(text_of(place(pid, tid) + "/stream.json"));
  }

  TempDir dir;
  Catalog catalog;
  Exporter::Counts counts;
};

TEST_F(OvniFiles, EachChangeIsAnEventWithTheCpuAsItsLoomCountsIt) {
  write({{20, 0, Running, 1},
         {30, 0, Paused, 1},
         {40, 0, Paused, 0},
         {50, 0, Warming, 0},
         {60, 0, Running, 0},
         {70, 0, Cooling, 1},
         {80, 0, Dead, kNone}});
  EXPECT_EQ(events(100, 100), "10 OU[, 10 OU], 20 OHx 1 -1 0 0, 30 OHp, 40 OAr 0 100, 50 OHw, "
                              "60 OHr, 70 OHc, 70 OAs 1, 80 OHe, 100 OU[, 100 OU]");
  EXPECT_EQ(counts.events, 12u);
  EXPECT_EQ(counts.gaps, 0u);
  EXPECT_EQ(counts.conflicts, 0u);
}

TEST_F(OvniFiles, AThreadHasItsCreatorAndEndsWithTheCapture) {
  write({{20, 1, Running, 0}});
  EXPECT_EQ(events(100, 101), "10 OU[, 10 OU], 20 OHx 0 100 0 0, 100 OHe");
}

TEST_F(OvniFiles, ATimeThatIsNotKnownIsAFlushWithoutTheThread) {
  write({{20, 0, Warming, 0}, {30, 0, Unknown, kNone}, {40, 0, Running, 0}});
  EXPECT_EQ(events(100, 100), "10 OU[, 10 OU], 20 OHx -1 -1 0 0, 20 OHp, 20 OHw, 20 OAs 0, "
                              "30 OAs -1, 30 OHr, 30 OHe, 30 OF[, 40 OF], 40 OHx 0 -1 0 0, "
                              "100 OHe");
  EXPECT_EQ(counts.gaps, 1u);
}

TEST_F(OvniFiles, StreamJsonSaysWhatOvniRequires) {
  write({{20, 1, Running, 0}, {20, 2, Running, 1}});
  nlohmann::ordered_json first = json(100, 101);
  const std::string commit = first["ovni"]["lib"]["commit"];
  EXPECT_EQ(commit.find("ovnitrace-"), 0u) << commit;
  EXPECT_GT(commit.size(), 10u);
  first["ovni"]["lib"].erase("commit");
  EXPECT_EQ(first.dump(),
            R"({"version":3,"ovni":{"lib":{"version":"1.14.0"},"part":"thread","tid":101,)"
            R"("pid":100,"loom":"node","app_id":1,"require":{"ovni":"1.1.0"},"finished":1,)"
            R"("loom_cpus":[{"index":0,"phyid":3},{"index":1,"phyid":5}]},)"
            R"("ovnitrace":{"name":"aide","parent":100,"birth":15}})");
  EXPECT_EQ(json(200, 200)["ovni"]["app_id"], 2);
  EXPECT_FALSE(json(200, 200)["ovni"].contains("loom_cpus")) << "one stream of a loom has them";
  const std::string text = text_of(place(100, 101) + "/stream.json");
  EXPECT_EQ(text.substr(0, 17), "{\n\t\"version\": 3,\n");
  EXPECT_EQ(text.substr(text.size() - 5), "\t}\n}\n") << text;
}

TEST_F(OvniFiles, ThreadsOfOneProcessHaveOneApp) {
  write({{20, 2, Running, 0}, {20, 0, Running, 1}, {30, 1, Paused, 1}});
  EXPECT_EQ(json(200, 200)["ovni"]["app_id"], 1);
  EXPECT_EQ(json(100, 100)["ovni"]["app_id"], 2);
  EXPECT_EQ(json(100, 101)["ovni"]["app_id"], 2);
}

TEST_F(OvniFiles, ThreadsThatAreFoundAtTheStartCountByRow) {
  write({{10, 2, Paused, 0}, {10, 0, Running, 1}});
  EXPECT_EQ(json(100, 100)["ovni"]["app_id"], 1);
  EXPECT_EQ(json(200, 200)["ovni"]["app_id"], 2);
}

TEST_F(OvniFiles, AThreadEndsWithTheLastChangeOfAnyIfThatIsAfterTheEnd) {
  write({{20, 0, Running, 0}, {120, 2, Running, 1}});
  EXPECT_EQ(events(100, 100), "10 OU[, 10 OU], 20 OHx 0 -1 0 0, 120 OHe");
  EXPECT_EQ(events(200, 200), "10 OU[, 10 OU], 120 OHx 1 -1 0 0, 120 OHe");
}

TEST_F(OvniFiles, ACpuThatNobodyHadIsTakenAtOnceAlsoAtTime0) {
  catalog.begin = 0;
  write({{0, 0, Running, 0}, {30, 0, Paused, 0}, {30, 2, Running, 0}, {40, 2, Paused, 0}});
  EXPECT_EQ(events(100, 100), "0 OU[, 0 OU], 0 OHx 0 -1 0 0, 30 OHp, 100 OHw, 100 OAs -1, "
                              "100 OHr, 100 OHe");
  EXPECT_EQ(events(200, 200), "0 OU[, 0 OU], 31 OHx 0 -1 0 0, 40 OHp, 100 OHw, 100 OAs -1, "
                              "100 OHr, 100 OHe");
}

TEST_F(OvniFiles, LoomsHaveNamesThatAreFileNamesAndDiffer) {
  catalog.hosts = {{.name = "a"},
                   {.name = "a"},
                   {.name = "a"},
                   {.name = ""},
                   {.name = "x\x1f\x7f y/"},
                   {.name = std::string(201, 'z')}};
  catalog.cpus = {{0, 0}};
  catalog.threads.clear();
  std::vector<Change> changes;
  for (uint32_t host = 0; host < 6; host++) {
    catalog.threads.push_back({.tid = 7, .pid = 7, .host = host, .name = "t"});
    changes.push_back({20, host, Paused, kNone});
  }
  write(changes);
  for (const std::string &loom :
       {std::string("a"), std::string("a.1"), std::string("a.2"), std::string("host"),
        std::string("x__ y_"), std::string(200, 'z')})
    EXPECT_TRUE(std::filesystem::exists(place(7, 7, loom) + "/stream.json")) << loom;
}

TEST_F(OvniFiles, AThreadWithoutALegalNumberIsCountedAndLeftOut) {
  catalog.threads[0].pid = uint32_t(INT32_MAX) + 1;
  catalog.threads[1].tid = 0;
  catalog.threads[2].pid = INT32_MAX;
  write({{20, 0, Running, 0}, {20, 1, Running, 1}, {30, 1, Paused, 1}, {40, 2, Running, 1}});
  EXPECT_EQ(counts.unnamed, 2u);
  EXPECT_EQ(counts.renamed, 0u);
  EXPECT_TRUE(std::filesystem::exists(place(INT32_MAX, 200) + "/stream.json"));
}

TEST_F(OvniFiles, ATidHas512Names) {
  catalog.threads.assign(513, {.tid = 100, .pid = 100, .name = "t"});
  std::vector<Change> changes;
  for (uint32_t thread = 0; thread < 513; thread++)
    changes.push_back({20, thread, Paused, kNone});
  write(changes);
  EXPECT_EQ(counts.renamed, 511u);
  EXPECT_EQ(counts.unnamed, 1u);
  EXPECT_TRUE(std::filesystem::exists(place(100, 100 + 511 * (1 << 22)) + "/stream.json"));
}

TEST_F(OvniFiles, TheErrorNamesTheHostWithTooManyCpus) {
  catalog.hosts.push_back({.name = "big"});
  for (uint32_t n = 0; n < 8193; n++)
    catalog.cpus.push_back({n, 1});
  StreamStore store(dir / "out");
  try {
    Exporter exporter(catalog, store);
    ADD_FAILURE() << "not refused";
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "cannot export big: its trace names 8193 CPUs, Linux has at most "
                               "8192");
  }
}

TEST_F(OvniFiles, TheErrorNamesTheFileThatCannotBeWritten) {
  StreamStore store(dir / "out");
  store.add({"n", 1, 1, 1, "", 0, 0, {}});
  try {
    store.add({"n", 1, 1, 1, "", 0, 0, {}}); // the same place
    store.finish();
    ADD_FAILURE() << "not refused";
  } catch (const Error &error) {
    EXPECT_EQ(error.what(), "ovni trace " + (dir / "out") +
                                ": cannot open loom.n/proc.1/thread.1/stream.obs: File exists");
  }
}

} // namespace
} // namespace ovnitrace::test
