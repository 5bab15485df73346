// SPDX-License-Identifier: BSD-2-Clause
// What ovniemu 1.14.0 said of streams, written down: `convert --lint` must say the same. Each
// verdict is the exit status of `ovniemu -l` on a trace with the same bytes.
#include "emulator/convert/convert.h"
#include "emulator/open/open_trace.h"
#include "tests/unit/support/ovni_streams.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace ovnitrace::test {
namespace {

enum Verdict { refused, accepted };

std::string event(const char *mcv, uint64_t time, std::initializer_list<int32_t> payload = {}) {
  std::string bytes;
  for (int32_t value : payload)
    bytes += bytes_of(value);
  return stream_event(mcv, time, bytes);
}

std::string end(uint64_t time) {
  return event("OHe", time);
}

/// A life that nobody refuses.
std::string life(int32_t cpu = 0) {
  return execute(1, cpu) + end(9);
}

/// stream.json with some members replaced, or taken away where they are null.
std::string meta(int pid, int tid, const std::string &changes = "{}") {
  auto json = nlohmann::json::parse(stream_json("n", pid, tid));
  json["ovni"].merge_patch(nlohmann::json::parse(changes));
  return json.dump();
}

struct StreamOf {
  int pid, tid;
  std::string events;
  std::string changes = "{}";
};

struct OvniVerdicts : ::testing::Test {
  /// Whether lint has nothing against the trace.
  Verdict lint(const std::vector<StreamOf> &streams, const char *offsets = nullptr) {
    TempDir dir;
    for (const StreamOf &s : streams) {
      const std::string place = dir / stream_place("n", s.pid, s.tid);
      write_file(place + "/stream.json", meta(s.pid, s.tid, s.changes));
      write_file(place + "/stream.obs", stream_header() + s.events);
    }
    if (offsets)
      write_file(dir / "clock-offsets.txt", offsets);
    sink.reported.clear();
    const auto source = open_trace({{dir.path(), 0}}, sink);
    ConvertOptions options;
    options.directory = dir / "out";
    options.lint = true;
    const ConvertResult result = convert(*source, options, sink);
    return result.faults || !sink.reported.empty() ? refused : accepted;
  }
  std::string first() const {
    return sink.reported.empty() ? "nothing reported" : sink.reported[0].what;
  }
  CollectingSink sink;
};

TEST_F(OvniVerdicts, EveryEventInEveryState) {
  const struct {
    const char *state;
    std::string before; ///< how a thread gets there
    std::string after;  ///< and how it ends well from there
  } states[] = {
      {"Unknown", "", execute(20, 0) + end(21)},
      {"Running", execute(1, 0), end(21)},
      {"Paused", execute(1, 0) + event("OHp", 2), event("OHr", 20) + end(21)},
      {"Dead", life(), ""},
      {"Cooling", execute(1, 0) + event("OHc", 2), end(21)},
      {"Warming", execute(1, 0) + event("OHp", 2) + event("OHw", 3), event("OHr", 20) + end(21)},
  };
  const struct {
    const char *name;
    std::string event;
    int leads_to;         ///< place in states; -1 the same
    const char *verdicts; ///< y or n in each state
  } events[] = {
      {"OHx", execute(10, 1), 1, "ynnynn"},
      {"OHp", event("OHp", 10), 2, "nynnyn"},
      {"OHr", event("OHr", 10), 1, "nnynny"},
      {"OHc", event("OHc", 10), 4, "nynnnn"},
      {"OHw", event("OHw", 10), 5, "nnynnn"},
      {"OHe", event("OHe", 10), 3, "nynnyn"},
      {"OAs to another CPU", event("OAs", 10, {1}), -1, "nynnyy"},
      {"OAs to its own CPU", event("OAs", 10, {0}), -1, "nynnyy"},
      {"OAr to another CPU", event("OAr", 10, {1, 10}), -1, "nyynyy"},
      {"OAr to its own CPU", event("OAr", 10, {0, 10}), -1, "nnnnnn"},
  };
  for (const auto &e : events)
    for (int s = 0; s < 6; s++) {
      const auto &next = states[e.leads_to < 0 ? s : e.leads_to];
      EXPECT_EQ(lint({{10, 10, states[s].before + e.event + next.after}}),
                e.verdicts[s] == 'y' ? accepted : refused)
          << e.name << " in " << states[s].state << ": " << first();
    }
}

TEST_F(OvniVerdicts, OneThreadRunsOnACpuAtATime) {
  const std::string paused = event("OHp", 2), cooled = event("OHc", 2);
  const struct {
    const char *name;
    Verdict verdict;
    std::string one, other;
  } cases[] = {
      {"each on its CPU", accepted, life(0), execute(2, 1) + end(9)},
      {"overlapping", refused, life(0), execute(2, 0) + end(8)},
      {"overlapping after OAs", refused, life(0), execute(2, 1) + event("OAs", 3, {0}) + end(8)},
      {"overlapping after OHr", refused, execute(1, 0) + paused + event("OHr", 4) + end(9),
       execute(3, 0) + end(8)},
      {"one is Cooling", accepted,
       execute(1, 0) + cooled + event("OHp", 7) + event("OHr", 8) + end(9), execute(3, 0) + end(6)},
      {"handover at one instant", refused, execute(1, 0) + end(5), execute(5, 0) + end(8)},
      {"the same, threads changed", refused, execute(5, 0) + end(8), execute(1, 0) + end(5)},
      {"handover 1 ns later", accepted, execute(1, 0) + end(5), execute(6, 0) + end(8)},
      {"on the virtual CPU", accepted, life(-1), execute(2, -1) + end(8)},
  };
  for (const auto &c : cases)
    EXPECT_EQ(lint({{10, 10, c.one}, {10, 11, c.other}}), c.verdict) << c.name << ": " << first();
}

TEST_F(OvniVerdicts, ModelsAndPayloads) {
  const std::string kernel = R"({"require": {"ovni": "1.1.0", "kernel": "1.0.0"}})";
  const std::string out = execute(1, 0) + event("KCO", 2) + event("KCI", 3) + end(9);
  const std::string marks = R"({"mark": {"7": {"title": "t", "chan_type": "single"}}})";
  const auto in_life = [](const std::string &e) { return execute(1, 0) + e + end(9); };
  EXPECT_EQ(lint({{10, 10, out}}), refused);
  EXPECT_EQ(lint({{10, 10, out, kernel}}), accepted) << first();
  EXPECT_EQ(lint({{10, 10, out}, {10, 11, life(1), kernel}}), accepted) << first();
  const struct {
    const char *name;
    Verdict verdict;
    std::string events, changes = "{}";
  } cases[] = {
      {"a model that does not exist", refused, in_life(event("ZZZ", 2))},
      {"OAs of 8 bytes", refused, in_life(event("OAs", 2, {1, 0}))},
      {"OAr of 12 bytes", refused, in_life(event("OAr", 2, {1, 10, 0}))},
      {"OHx of 4 bytes", accepted, event("OHx", 1, {0}) + end(9)},
      {"OHe with a payload", accepted, execute(1, 0) + event("OHe", 9, {0})},
      {"a CPU that cannot be", refused, in_life(event("OAs", 2, {70000}))},
      {"a CPU that is not declared", refused, in_life(event("OAs", 2, {5}))},
      {"CPU -2", refused, in_life(event("OAs", 2, {-2}))},
      {"a mark of 16 bytes", refused, in_life(event("OM=", 2, {1, 0, 7, 0})), marks},
      {"a mark of 12 bytes", accepted, in_life(event("OM=", 2, {1, 0, 7})), marks},
      {"OF[ twice", refused, in_life(event("OF[", 2) + event("OF[", 3) + event("OF]", 4))},
  };
  for (const auto &c : cases)
    EXPECT_EQ(lint({{10, 10, c.events, c.changes}}), c.verdict) << c.name << ": " << first();
}

TEST_F(OvniVerdicts, MetadataOfAStreamIsChecked) {
  const auto mark = [](const std::string &of) { return R"({"mark": {"3": {)" + of + "}}}"; };
  const auto stack = [&](const std::string &title) {
    return mark(R"("chan_type": "stack", "title": ")" + title + '"');
  };
  const struct {
    const char *name;
    Verdict verdict;
    std::string changes;
  } cases[] = {
      {"nothing changed", accepted, "{}"},
      {"chan_type heap", refused, mark(R"("title": "t", "chan_type": "heap")")},
      {"no chan_type", refused, mark(R"("title": "t")")},
      {"title of 600", refused, stack(std::string(600, 't'))},
      {"title of 512", refused, stack(std::string(512, 't'))},
      {"title of 511", accepted, stack(std::string(511, 't'))},
      {"label of 600", refused,
       mark(R"("title": "t", "chan_type": "stack", "labels": {"1": ")" + std::string(600, 'l') +
            "\"}")},
      {"app_id 0", refused, R"({"app_id": 0})"},
      {"no app_id", refused, R"({"app_id": null})"},
      {"gap in the CPU indices", refused,
       R"({"loom_cpus": [{"index": 0, "phyid": 0}, {"index": 2, "phyid": 2}]})"},
      {"rank 2 of 2", refused, R"({"rank": 2, "nranks": 2})"},
      {"rank 1 of 2", accepted, R"({"rank": 1, "nranks": 2})"},
      {"rank without nranks", refused, R"({"rank": 0})"},
      {"no part", refused, R"({"part": null})"},
      {"no lib", refused, R"({"lib": null})"},
      {"lib is a text", refused, R"({"lib": "1.14.0"})"},
      {"no lib.version", refused, R"({"lib": {"version": null}})"},
      {"no lib.commit", refused, R"({"lib": {"commit": null}})"},
      {"a slash in the loom", refused, R"({"loom": "n/m"})"},
      {"no model", accepted, R"({"require": {"ovni": null}})"},
      {"nanos6 of a later major version", refused, R"({"require": {"nanos6": "9.9.9"}})"},
      {"nosv of a later minor version", refused, R"({"require": {"nosv": "2.8.0"}})"},
      {"nosv of a later patch", accepted, R"({"require": {"nosv": "2.7.3"}})"},
      {"a version that is no text", accepted, R"({"require": {"ovni": 1}})"},
      {"a CPU without phyid is CPU 0", accepted,
       R"({"loom_cpus": [{"index": 0}, {"index": 1, "phyid": 1}]})"},
      {"a CPU is a number", refused, R"({"loom_cpus": [3]})"},
      {"rank as text is rank 0", accepted, R"({"rank": "1", "nranks": 1})"},
      {"rank -1", refused, R"({"rank": -1, "nranks": 2})"},
      {"nranks as text", refused, R"({"rank": 0, "nranks": "2"})"},
      {"app_id 1.5 is 1", accepted, R"({"app_id": 1.5})"},
      {"app_id 0.5 is 0", refused, R"({"app_id": 0.5})"},
      {"tid 10.5 is 10", accepted, R"({"tid": 10.5})"},
      {"labels in a list", refused, mark(R"("title": "t", "chan_type": "stack", "labels": [])")},
  };
  for (const auto &c : cases)
    EXPECT_EQ(lint({{10, 10, life(), c.changes}}), c.verdict) << c.name << ": " << first();
}

TEST_F(OvniVerdicts, MetadataOfTwoStreamsMustAgree) {
  const auto label = [](const std::string &text) {
    return R"({"mark": {"3": {"title": "t", "chan_type": "stack", "labels": {"1": ")" + text +
           "\"}}}}";
  };
  const auto two = [&](const std::string &one, const std::string &other, int pid = 10) {
    return lint({{10, 10, life(), one}, {pid, 11, execute(2, 1) + end(9), other}});
  };
  EXPECT_EQ(two(label("one"), label("uno")), refused);
  EXPECT_EQ(two(label("one"), label("one")), accepted) << first();
  EXPECT_EQ(two("{}", R"({"app_id": 2})"), refused);
  EXPECT_EQ(two("{}", R"({"app_id": 2})", 11), accepted) << first();
  const std::string rank = R"({"rank": 0, "nranks": 2})";
  EXPECT_EQ(two(rank, "{}", 11), refused) << "a process without a rank";
  EXPECT_EQ(two(rank, "{}"), accepted) << "one stream says that of the process: " << first();
}

TEST_F(OvniVerdicts, ClockOffsets) {
  const std::string header = "rank hostname offset_median offset_mean offset_std\n";
  EXPECT_EQ(lint({{10, 10, life()}}, ""), refused);
  EXPECT_EQ(lint({{10, 10, life()}}, header.c_str()), refused);
  const std::pair<const char *, Verdict> lines[] = {
      {"0 n 0 0 0", accepted}, {"0 n 0 nan nan", accepted}, {"0 n 0 x 0", refused},
      {"0 n 0 0 x", refused},  {"0 n 0 1.5x 0", refused},   {"0 n -1 0 0", accepted},
      {"0 n -2 0 0", refused},
  };
  for (const auto &[line, verdict] : lines)
    EXPECT_EQ(lint({{10, 10, life()}}, (header + line + "\n").c_str()), verdict)
        << line << ": " << first();
}

/// ovni 1.0.0 shows it; the channel is there from the start, and not from the first OF[ on.
TEST_F(OvniVerdicts, AVirtualCpuWithTwoRunningThreadsShowsTooManyOfEveryTrackedType) {
  TempDir dir;
  write_stream(dir, "n", 10, 10, execute(1, -1) + end(9));
  write_stream(dir, "n", 10, 11, execute(3, -1) + end(7));
  const auto source = open_trace({{dir.path(), 0}}, sink);
  ConvertOptions options;
  options.directory = dir / "out";
  convert(*source, options, sink);
  const std::string prv = text_of(dir / "out/cpu.prv");
  EXPECT_NE(prv.find(":5:777:7:777\n"), std::string::npos) << prv;
}

} // namespace
} // namespace ovnitrace::test
