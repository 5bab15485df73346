// SPDX-License-Identifier: BSD-2-Clause
// Streams of ovni at their limits, and the order of the rows that they become.
#include "emulator/ovni/ovni_source.h"
#include "emulator/ovni/stream_meta.h"
#include "emulator/ovni/stream_scan.h"
#include "emulator/ovni/stream_walk.h"
#include "tests/unit/support/ovni_streams.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <optional>

namespace ovnitrace::test {
namespace {

using Texts = std::vector<std::string>;
using ovni::StreamEvent;
using ovni::StreamFile;

class OvniLimits : public ::testing::Test {
protected:
  /// Writes a stream whose stream.json has these members of "ovni".
  void add(const std::string &loom, int pid, int tid, const std::string &changes = "{}",
           const std::string &own = "", const std::string &events = execute(1, -1)) {
    const std::string place = dir / stream_place(loom, pid, tid);
    auto json = nlohmann::json::parse(stream_json(loom, pid, tid));
    json["ovni"].merge_patch(nlohmann::json::parse(changes));
    if (!own.empty())
      json["ovnitrace"] = nlohmann::json::parse(own);
    write_file(place + "/stream.json", json.dump());
    write_file(place + "/stream.obs", stream_header() + events);
  }
  /// Returns "pid/tid" of each row.
  std::string rows() {
    const auto source = ovni::open_ovni_trace(dir.path(), "", sink);
    std::string text;
    for (const ThreadInfo &thread : source->catalog().threads)
      text += std::to_string(thread.pid) + "/" + std::to_string(thread.tid) + " ";
    return text;
  }
  /// Returns "offset: what" of each report.
  Texts reports() {
    rows();
    Texts texts;
    for (const Diagnostic &found : sink.reported)
      texts.push_back(std::to_string(found.offset) + ": " + found.what);
    return texts;
  }
  std::string file() { return dir / "stream.obs"; }
  /// Returns how the first event of a stream of these bytes is read.
  StreamFile::Status first(const std::string &bytes, StreamEvent &event) {
    write_file(file(), stream_header() + bytes);
    stream.emplace(file(), 0);
    EXPECT_EQ(stream->start(), "");
    return stream->read(event);
  }

  TempDir dir;
  CollectingSink sink;
  std::optional<StreamFile> stream;
};

TEST_F(OvniLimits, AMainThreadIsTheFirstRowOfItsProcessAndOthersFollowByBirth) {
  add("n", 20, 11, "{}", R"({"birth": 5})");
  add("n", 20, 12, "{}", R"({"birth": 3})");
  add("n", 20, 13, "{}", R"({"birth": 5})");
  add("n", 20, 20, "{}", R"({"birth": 9})");
  add("n", 3, 50);
  EXPECT_EQ(rows(), "3/50 20/20 20/12 20/11 20/13 ");
}

TEST_F(OvniLimits, LoomsAreOrderedByTheirLowestRank) {
  add("a", 1, 1, R"({"rank": 1, "nranks": 4})");
  add("b", 2, 2, R"({"rank": 3, "nranks": 4})");
  add("b", 9, 9, R"({"rank": 0, "nranks": 4})");
  add("b", 9, 10);
  EXPECT_EQ(rows(), "9/9 9/10 2/2 1/1 ") << "one stream says the rank of its process";
  add("c", 4, 4);
  EXPECT_EQ(rows(), "1/1 9/9 9/10 2/2 4/4 ") << "a loom has no rank: looms are ordered by name";
}

TEST_F(OvniLimits, RanksOfAProcessMustAgree) {
  add("n", 10, 11, R"({"rank": 1, "nranks": 4})");
  add("n", 10, 12, R"({"rank": 2, "nranks": 4})");
  add("n", 10, 13, R"({"rank": 1, "nranks": 5})");
  EXPECT_EQ(reports(),
            (Texts{"0: ovni.rank differs from that of another thread of the process",
                   "0: ovni.nranks differs from that of another thread of the process"}));
}

TEST_F(OvniLimits, OurOwnMembersAreReadAsFarAsTheyAreLegal) {
  const auto read = [](const std::string &own) {
    auto json = nlohmann::json::parse(stream_json("n", 1, 1));
    json["ovnitrace"] = nlohmann::json::parse(own);
    Texts problems;
    return ovni::parse_stream_meta(json.dump(), problems).value();
  };
  const ovni::StreamMeta good = read(R"({"name": "a\u0007b", "parent": 7, "birth": 3e3})");
  EXPECT_EQ(good.name, "a?b");
  EXPECT_EQ(good.parent, 7u);
  EXPECT_EQ(good.birth, 3000u) << "libovni writes numbers through a double";
  EXPECT_EQ(read(R"({"name": ")" + std::string(65, 'x') + "\"}").name, std::string(64, 'x'));
  EXPECT_EQ(read(R"({"name": 5})").name, "");
  EXPECT_EQ(read(R"({"parent": 2147483647})").parent, 2147483647u);
  for (const char *parent : {"2147483648", "-1", "1.5", "\"7\"", "null"})
    EXPECT_EQ(read(std::string(R"({"parent": )") + parent + "}").parent, 0u) << parent;
  EXPECT_EQ(read(R"({"birth": 9223372036854775807})").birth, uint64_t(INT64_MAX));
  for (const char *birth : {"9223372036854775808", "-1", "9.1e15", "0.5"})
    EXPECT_EQ(read(std::string(R"({"birth": )") + birth + "}").birth, 0u) << birth;
}

TEST_F(OvniLimits, ACpuHasAnIndexBelow65536) {
  const auto problems = [](const std::string &index, const std::string &phyid) {
    auto json = nlohmann::json::parse(stream_json("n", 1, 1));
    json["ovni"]["loom_cpus"] =
        nlohmann::json::parse("[{\"index\": " + index + ", \"phyid\": " + phyid + "}]");
    Texts found;
    const auto meta = ovni::parse_stream_meta(json.dump(), found);
    EXPECT_EQ(meta->cpus.size() + found.size(), 1u);
    return found.size();
  };
  EXPECT_EQ(problems("65535", "0"), 0u);
  EXPECT_EQ(problems("65536", "0"), 1u);
  EXPECT_EQ(problems("-1", "0"), 1u);
  EXPECT_EQ(problems("0", "2147483647"), 0u);
  EXPECT_EQ(problems("0", "2147483648"), 1u);
}

TEST_F(OvniLimits, ACpuThatNobodyDeclaresIsShownUpToIndex1023) {
  add("n", 1, 1, "{}", "", execute(1, 1023) + stream_event("OAs", 2, bytes_of(int32_t(1024))));
  const Texts found = reports();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0],
            "0: uses CPU index 1023, which no ovni.loom_cpus declares: shown as CPU 1023");
  EXPECT_EQ(found[1], "0: the indices of its CPUs have gaps");
}

TEST_F(OvniLimits, ReportsHaveThePlaceOfTheFirstEventOfAModel) {
  add("n", 1, 1, "{}", "",
      execute(1, -1) + stream_event("VTx", 2) + stream_event("ZZZ", 3) + stream_event("VTe", 4));
  EXPECT_EQ(reports(),
            (Texts{"36: has events of the model nosv, which no ovni.require of the trace names",
                   "48: has events of the model Z, which ovni does not have"}));
}

TEST_F(OvniLimits, AThreadThatNothingNamesIsLeftOut) {
  add("n", 10, 11);
  write_file(dir / "x/stream.json", stream_json("n", 10, 0));
  EXPECT_EQ(reports(),
            (Texts{"0: ovni.tid is missing or no number from 1 on",
                   "0: the thread, its process or its loom is not known: the stream is left out"}));
}

TEST_F(OvniLimits, ATraceLastsFromTheFirstEventsToTheLatestTimeOfAny) {
  add("n", 1, 1, "{}", "", execute(50, -1) + stream_event("OHp", 900) + stream_event("OHr", 70));
  add("n", 1, 2, "{}", "", execute(60, -1) + stream_event("OHp", 20));
  add("n", 1, 3, "{}", "", ""); // no event
  const auto source = ovni::open_ovni_trace(dir.path(), "", sink);
  EXPECT_EQ(source->catalog().begin, 50u);
  EXPECT_EQ(source->catalog().end, 900u);
}

TEST_F(OvniLimits, ManyStreamsAreMergedByTime) {
  for (int tid = 1; tid <= 13; tid++) {
    std::string events;
    for (uint64_t n = 0; n < 20; n++)
      events += stream_event("OHp", 100 + 13 * n + uint64_t(tid * 5 % 13));
    add("n", 1, tid, "{}", "", events);
  }
  const auto source = ovni::open_ovni_trace(dir.path(), "", sink);
  uint64_t expected = 100;
  for (Event event; source->next(event); expected++) {
    ASSERT_EQ(event.time, expected);
    ASSERT_EQ(source->catalog().threads[event.thread].tid * 5 % 13, (expected - 100) % 13);
  }
  EXPECT_EQ(expected, 100u + 13 * 20);
}

TEST_F(OvniLimits, AnEventHasThreeLettersAndATimeBelow2To63) {
  StreamEvent event;
  EXPECT_EQ(first(stream_event("!A~", (1ull << 63) - 1), event), StreamFile::Status::event);
  EXPECT_EQ(event.mcv, mcv('!', 'A', '~'));
  EXPECT_EQ(event.time, (1ull << 63) - 1);
  EXPECT_EQ(event.payload, nullptr);
  EXPECT_EQ(first(stream_event("OHp", 1ull << 63), event), StreamFile::Status::damaged);
  for (const char *letters : {" HA", "O A", "OH ", "\x7fHA",
                              "O\x7f"
                              "A",
                              "OH\x7f"})
    EXPECT_EQ(first(stream_event(letters, 5), event), StreamFile::Status::damaged) << letters;
}

TEST_F(OvniLimits, OfAJumboPayloadTheFirst1024BytesAreKept) {
  StreamEvent event;
  for (const size_t size : {0u, 1019u, 1020u, 1021u, 9000u}) {
    const std::string data(size, 'x');
    EXPECT_EQ(first(jumbo_event("VYc", 5, data) + stream_event("OHe", 6), event),
              StreamFile::Status::event);
    EXPECT_EQ(event.payload_size, std::min<size_t>(size + 4, 1024)) << size;
    EXPECT_EQ(std::memcmp(event.payload + 4, data.data(), event.payload_size - 4), 0);
    EXPECT_EQ(stream->read(event), StreamFile::Status::event) << size;
    EXPECT_EQ(event.time, 6u);
    EXPECT_EQ(event.offset, 8u + 12 + 4 + size);
    EXPECT_EQ(stream->read(event), StreamFile::Status::end);
  }
  EXPECT_EQ(first(jumbo_event("VYc", 5, "data").substr(0, 19), event),
            StreamFile::Status::truncated);
}

TEST_F(OvniLimits, AnEventHasAPayloadOfUpTo16Bytes) {
  StreamEvent event;
  for (const size_t size : {2u, 15u, 16u}) {
    EXPECT_EQ(first(stream_event("OHp", 5, std::string(size, 'y')), event),
              StreamFile::Status::event);
    EXPECT_EQ(event.payload_size, size);
    EXPECT_EQ(event.payload[size - 1], 'y');
    EXPECT_EQ(stream->read(event), StreamFile::Status::end);
  }
}

TEST_F(OvniLimits, APathNamesTheOwnerOfAStream) {
  const auto identity = [](const std::string &path) {
    const ovni::PlaceIdentity found = ovni::identity_of(path);
    return found.loom + " " + std::to_string(found.pid) + " " + std::to_string(found.tid);
  };
  EXPECT_EQ(identity("/x/loom.a.1/proc.7/thread.8"), "a.1 7 8");
  EXPECT_EQ(identity("/loom.a/proc.7/thread.8/proc.9"), "a 9 0") << "a later process";
  EXPECT_EQ(identity("/loom.a/proc.7/thread.8/loom.b"), "b 0 0");
  EXPECT_EQ(identity("/proc.7/thread.8"), " 7 8");
  EXPECT_EQ(identity("/loom./proc.x/thread.-8"), " 0 0");
  EXPECT_EQ(identity("/loom.a/proc.2147483648/thread.2147483647"), "a 0 2147483647");
}

TEST_F(OvniLimits, StreamsAreFoundUpTo16DirectoriesBelow) {
  std::string below;
  for (int depth = 1; depth <= 17; depth++) {
    below += "/d";
    write_file(dir.path() + below + "/stream.obs", "");
  }
  Texts unreadable;
  const auto found = ovni::find_streams(dir.path(), unreadable);
  ASSERT_EQ(found.size(), 16u);
  EXPECT_EQ(found[0].shown, "d");
  EXPECT_TRUE(found[0].has_events);
  EXPECT_FALSE(found[0].has_meta);
  EXPECT_EQ(found[15].path, dir.path() + below.substr(2));
  EXPECT_EQ(unreadable, Texts{});
}

} // namespace
} // namespace ovnitrace::test
