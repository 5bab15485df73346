// SPDX-License-Identifier: BSD-2-Clause
// What is said of the metadata of ovni streams: the whole text of each problem.
#include "emulator/base/error.h"
#include "emulator/ovni/ovni_source.h"
#include "emulator/ovni/stream_meta.h"
#include "tests/unit/support/ovni_streams.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace ovnitrace::test {
namespace {

using Texts = std::vector<std::string>;

/// A stream.json without problems, with some members of "ovni" replaced, or taken away where null.
std::string changed(const std::string &changes, int pid = 10, int tid = 11) {
  auto json = nlohmann::json::parse(stream_json("n", pid, tid));
  json["ovni"].merge_patch(nlohmann::json::parse(changes));
  return json.dump();
}

Texts problems_of(const std::string &text) {
  Texts problems;
  ovni::parse_stream_meta(text, problems);
  return problems;
}

TEST(OvniMetadata, EachProblemIsSaid) {
  const struct {
    std::string changes;
    const char *problem;
  } cases[] = {
      {R"({"part": null})", "ovni.part is missing: read as that of a thread"},
      {R"({"tid": 0})", "ovni.tid is missing or no number from 1 on"},
      {R"({"pid": null})", "ovni.pid is missing or no number from 1 on"},
      {R"({"loom": 7})", "ovni.loom is missing"},
      {R"({"loom": "a/b"})", "ovni.loom has a '/' in it"},
      {R"({"lib": {"version": 1}})", "ovni.lib.version is missing or no text"},
      {R"({"lib": {"commit": null}})", "ovni.lib.commit is missing or no text"},
      {R"({"finished": 0})", "ovni.finished is not 1: the thread did not end its stream"},
      {R"({"rank": -1})", "ovni.rank is no number from 0 on"},
      {R"({"rank": 0})", "ovni.nranks is missing or no number from 1 on"},
      {R"({"rank": 2, "nranks": 2})", "ovni.rank is 2 of 2 ranks"},
      {R"({"app_id": 0})", "ovni.app_id is no number from 1 on"},
      {R"({"require": null})", "ovni.require is missing"},
      {R"({"require": {"ovni": "1.2.0"}})",
       "ovni.require asks for version 1.2.0 of the model ovni, not 1.1.0: read as far as it is "
       "alike"},
      {R"({"require": {"nosv": "3.0.0"}})",
       "ovni.require asks for version 3.0.0 of the model nosv, not 2.7.0: read as far as it is "
       "alike"},
      {R"({"loom_cpus": []})", "ovni.loom_cpus is no list of CPUs"},
      {R"({"loom_cpus": [{"index": 0, "phyid": -1}]})",
       "ovni.loom_cpus has a CPU whose index or phyid is out of range"},
      {R"({"mark": {"100": {"title": "t", "chan_type": "stack"}}})",
       "ovni.mark has a type without a title or not from 0 to 99"},
      {R"({"mark": {"99": {"title": "t", "chan_type": "heap"}}})",
       "ovni.mark.99 has a chan_type that is neither single nor stack"},
      {R"({"mark": {"0": {"title": ")" + std::string(512, 't') + R"(", "chan_type": "stack"}}})",
       "ovni.mark.0 has a title of more than 511 bytes"},
      {R"({"mark": {"3": {"title": "t", "chan_type": "stack", "labels": []}}})",
       "ovni.mark.3 has labels that are no object"},
      {R"({"mark": {"3": {"title": "t", "chan_type": "stack", "labels": {"1": ")" +
           std::string(512, 'l') + R"("}}}})",
       "ovni.mark.3 has a label of more than 511 bytes"},
      {R"({"mark": {"3": {"title": "t", "chan_type": "stack", "labels": {"x": "y"}}}})",
       "ovni.mark.3 has a label without a number or a text"},
  };
  EXPECT_EQ(problems_of(changed("{}")), Texts{});
  for (const auto &c : cases)
    EXPECT_EQ(problems_of(changed(c.changes)), Texts{c.problem}) << c.changes.substr(0, 80);
  EXPECT_EQ(problems_of("[]"), Texts{"is no JSON object"});
  EXPECT_EQ(problems_of(R"({"version": 2, "ovni": {"part": "gpu"}})"),
            Texts{"metadata version is not 3: read as far as it is alike"});
}

TEST(OvniMetadata, WhatIsAtItsLimitIsNoProblem) {
  for (const std::string &changes :
       {std::string(R"({"rank": 1, "nranks": 2})"), std::string(R"({"tid": 1, "pid": 1})"),
        std::string(R"({"require": {"ovni": "1.0.7", "nosv": "2.7.9"}})"),
        std::string(R"({"mark": {"0": {"title": ")") + std::string(511, 't') +
            R"(", "chan_type": "single", "labels": {"-5": ")" + std::string(511, 'l') + R"("}}}})"})
    EXPECT_EQ(problems_of(changed(changes)), Texts{}) << changes.substr(0, 80);
}

/// Threads 11 and on of process 10, each with its changes of stream.json.
struct OvniStreams : ::testing::Test {
  void add(int tid, const std::string &events, const std::string &changes = "{}", int pid = 10,
           const std::string &loom = "n") {
    const std::string place = dir / stream_place(loom, pid, tid);
    auto json = nlohmann::json::parse(changed(changes, pid, tid));
    json["ovni"]["loom"] = loom;
    write_file(place + "/stream.json", json.dump());
    write_file(place + "/stream.obs", stream_header() + events);
  }
  /// Returns "file: what" of each report, without the directory.
  Texts reports() {
    CollectingSink sink;
    try {
      ovni::open_ovni_trace(dir.path(), "", sink);
    } catch (const Error &error) {
      return {without_dir(error.what())};
    }
    Texts texts;
    for (const Diagnostic &found : sink.reported)
      texts.push_back(without_dir(found.file + ": " + found.what));
    return texts;
  }
  std::string without_dir(std::string text) const {
    for (const std::string &part : {dir.path(), std::string("loom.n/proc.10/thread.")})
      for (size_t at; (at = text.find(part)) != text.npos;)
        text.erase(at, part.size());
    return text;
  }
  TempDir dir;
};

TEST_F(OvniStreams, WithoutAStreamThereIsNoTrace) {
  EXPECT_EQ(reports(), Texts{": holds no ovni stream (no loom.*/proc.*/thread.*/stream.json below "
                             "it)"});
  write_file(dir / "x/stream.json", "{}");
  EXPECT_EQ(reports(), Texts{": none of its streams says to which thread it belongs"});
}

TEST_F(OvniStreams, ThatAreOfNoThreadAreLeftOut) {
  add(11, execute(1, 0));
  add(12, execute(1, 1), R"({"part": "gpu"})");
  add(13, execute(1, 1), R"({"tid": 11})");
  EXPECT_EQ(reports(),
            (Texts{"12/stream.json: ovni.part is not \"thread\": the stream is left out",
                   "13/stream.json: is of the same thread as 11/stream.json: left out"}));
}

TEST_F(OvniStreams, WithAFileAreShownAsFarAsItGoes) {
  for (const int tid : {11, 12, 13})
    add(tid, execute(1, 0));
  std::filesystem::remove(dir / stream_place("n", 10, 12) + "/stream.json");
  std::filesystem::remove(dir / stream_place("n", 10, 13) + "/stream.obs");
  write_file(dir / stream_place("n", 10, 11) + "/stream.obs", "avni" + bytes_of(1u));
  EXPECT_EQ(reports(),
            (Texts{"12/stream.json: is missing: the thread is taken from the name of its directory",
                   "13/stream.obs: is missing: the thread has no events",
                   "11/stream.obs: wrong magic: this is no ovni stream: the thread has no "
                   "events"}));
  write_file(dir / stream_place("n", 10, 11) + "/stream.obs", stream_header(1u << 24));
  EXPECT_EQ(reports().back(), "11/stream.obs: stream version 16777216, only version 1 can be read "
                              "(a host of the other byte order wrote it): the thread has no "
                              "events");
}

TEST_F(OvniStreams, OfAProcessMustAgree) {
  add(11, execute(1, 0), R"({"mark": {"3": {"title": "t", "chan_type": "stack"}}})");
  add(12, execute(1, 1),
      R"({"app_id": 2, "mark": {"3": {"title": "u", "chan_type": "stack"}},
          "loom_cpus": [{"index": 1, "phyid": 0}]})");
  EXPECT_EQ(
      reports(),
      (Texts{"12/stream.json: ovni.app_id differs from that of another thread of the process",
             "12/stream.json: ovni.loom_cpus gives CPU 0 the index 1, which another thread "
             "contradicts: left out",
             "12/stream.json: ovni.mark.3 differs from that of another thread, in its title, its "
             "kind or a label"}));
}

TEST_F(OvniStreams, OfALoomHaveRanksOrNone) {
  add(11, execute(1, 0), R"({"rank": 0, "nranks": 2})");
  add(21, execute(1, 1), R"({"app_id": null})", 20);
  EXPECT_EQ(reports(),
            (Texts{"loom.n/proc.20/thread.21/stream.json: no stream of the process has an "
                   "ovni.app_id",
                   "loom.n/proc.20/thread.21/stream.json: the process has no ovni.rank, but others "
                   "of its loom have one"}));
}

TEST_F(OvniStreams, RequireTheModelsOfTheirEvents) {
  add(11, execute(1, 0) + stream_event("VTx", 2) + stream_event("ZZZ", 3));
  EXPECT_EQ(reports(), (Texts{"11/stream.obs: has events of the model nosv, which no "
                              "ovni.require of the trace names",
                              "11/stream.obs: has events of the model Z, which ovni does not "
                              "have"}));
}

TEST_F(OvniStreams, DeclareTheirCpus) {
  add(11, execute(1, 3));
  EXPECT_EQ(reports(), (Texts{"11/stream.obs: uses CPU index 3, which no ovni.loom_cpus declares: "
                              "shown as CPU 3",
                              "n: the indices of its CPUs have gaps"}));
}

TEST_F(OvniStreams, OfALoomWithoutACpuAreReported) {
  add(11, execute(1, -1), R"({"loom_cpus": null})");
  EXPECT_EQ(reports(), Texts{"n: no stream of this loom declares a CPU"});
}

TEST_F(OvniStreams, StartWithinAnHour) {
  constexpr uint64_t kHour = 3'600'000'000'000;
  add(11, execute(5, 0));
  add(12, execute(5 + kHour, 1));
  EXPECT_EQ(reports(), Texts{});
  add(12, execute(6 + kHour, 1));
  EXPECT_EQ(reports(),
            Texts{": streams start more than an hour apart: if their hosts' clocks differ, measure "
                  "the offsets with ovnisync, and put its clock-offsets.txt into the trace"});
}

TEST_F(OvniStreams, MayStartBeforeTheClockOfTheTrace) {
  add(11, execute(5, 0));
  write_file(dir / "clock-offsets.txt", "rank host median mean stdev\n0 n -6 0 0\n1 m 0 0 0\n");
  EXPECT_EQ(reports(), (Texts{"/clock-offsets.txt: no loom is of the host m",
                              "11/stream.obs: its clock offset puts its first event before time 0: "
                              "shown at 0"}));
}

TEST_F(OvniStreams, NeedTheClockOffsetsThatTheUserNames) {
  add(11, execute(5, 0));
  CollectingSink sink;
  try {
    ovni::open_ovni_trace(dir.path(), dir / "none", sink);
    ADD_FAILURE() << "not refused";
  } catch (const Error &error) {
    EXPECT_EQ(
        std::string(error.what()).find((dir / "none") + ": the clock offsets cannot be read: it "),
        0u)
        << error.what();
  }
}

} // namespace
} // namespace ovnitrace::test
