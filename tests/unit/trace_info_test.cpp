// SPDX-License-Identifier: BSD-2-Clause
// What a reader takes from trace.json, up to the exact limits: emulator/input/trace_info.
#include "emulator/input/trace_info.h"

#include "emulator/base/error.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using Numbers = std::vector<uint64_t>;
using Texts = std::vector<std::string>;

class TraceInfos : public ::testing::Test {
protected:
  /// Reads a trace.json with these members.
  TraceInfo read(const std::string &members) {
    return read_text("{\"version\": 1" + (members.empty() ? "" : ", " + members) + "}");
  }
  TraceInfo read_text(const std::string &text) {
    test::TraceBuilder::write_file(dir_ / "trace.json", text.data(), text.size());
    return read_trace_info(dir_.path(), sink_);
  }
  /// Reads a text and returns what is reported.
  std::string report(const std::string &text) {
    sink_.reported.clear();
    read_text(text);
    return sink_.reported.size() == 1 ? sink_.reported[0].what : "not one report";
  }

  test::TempDir dir_;
  test::CollectingSink sink_;
};

/// A list of `count` elements.
std::string list(size_t count, const std::string &element) {
  std::string text;
  for (size_t n = 0; n < count; n++)
    text += (n ? ", " : "") + element;
  return "[" + text + "]";
}

TEST_F(TraceInfos, HaveTheTextsAndFlagsOfTheCapture) {
  const TraceInfo info = read(R"("format": "ovnitrace", "host": "h", "kernel": "6.1",
    "machine": "arm64", "boot_id": "0b-1c", "command": ["a", 7, "b"], "ovnitrace": "0.3", "ended": {"how": "exited"},
    "filters": ["--cpu 1"], "with_children": false, "user": "me",
    "options": {"families": "sched, power", "buffer": "cyc:4096", "stacks": "user"},
    "control": {"region": "thread"}, "sees_refills": true, "all_threads": true,
    "cpu_holders": true)");
  EXPECT_EQ(info.host, "h");
  EXPECT_EQ(info.kernel, "6.1");
  EXPECT_EQ(info.machine, "arm64");
  EXPECT_EQ(info.boot_id, "0b-1c");
  EXPECT_EQ(info.command, (Texts{"a", "b"})) << "only texts";
  EXPECT_EQ(info.tracer, "0.3");
  EXPECT_EQ(info.ended, "exited");
  EXPECT_EQ(info.filters, Texts{"--cpu 1"});
  EXPECT_FALSE(info.with_children);
  EXPECT_EQ(info.user, "me");
  EXPECT_EQ(info.families, "sched, power");
  EXPECT_EQ(info.buffer, "cyc:4096");
  EXPECT_EQ(info.stacks, "user");
  EXPECT_TRUE(info.region_by_thread);
  EXPECT_TRUE(info.sees_refills);
  EXPECT_TRUE(info.all_threads);
  EXPECT_TRUE(info.cpu_holders);
  EXPECT_TRUE(sink_.reported.empty());
}

TEST_F(TraceInfos, HaveDefaultsForWhatIsMissing) {
  const TraceInfo info = read(R"("options": {"stacks": "none"}, "control": {"region": "global"})");
  EXPECT_TRUE(info.with_children);
  EXPECT_EQ(info.stacks, "");
  EXPECT_FALSE(info.region_by_thread);
  EXPECT_FALSE(info.sees_refills);
  EXPECT_FALSE(info.all_threads);
  EXPECT_FALSE(info.cpu_holders);
  EXPECT_FALSE(info.write_failed);
  EXPECT_FALSE(info.start_lost);
  EXPECT_EQ(info.cpus, 0u);
  EXPECT_EQ(info.program_pid, 0u);
}

TEST_F(TraceInfos, TakeProcessIdsOf32Bits) {
  EXPECT_EQ(read(R"("program_pid": 4294967295)").program_pid, UINT32_MAX);
  EXPECT_EQ(read(R"("program_pid": 4294967296)").program_pid, 0u);
  const auto attached = [&](const std::string &members) { return read(members).attached_pids; };
  EXPECT_EQ(attached(R"("attached_pids": [7, -1, "8", 4294967295, 4294967296])"),
            (std::vector<uint32_t>{7, UINT32_MAX}));
  EXPECT_EQ(attached(R"("attached_pids": [7], "attached_pid": 9)"), std::vector<uint32_t>{7});
  EXPECT_EQ(attached(R"("attached_pid": 4294967295)"), std::vector<uint32_t>{UINT32_MAX});
  EXPECT_EQ(attached(R"("attached_pid": 0)"), std::vector<uint32_t>());
  EXPECT_EQ(attached(R"("attached_pid": 4294967296)"), std::vector<uint32_t>());
}

TEST_F(TraceInfos, TakeCpusBelow8192) {
  const TraceInfo info = read(R"("cpus": 8192, "topology": [{"cpu": 3}, {}, 7, {"cpu": 8191},
    {"cpu": 8192}], "written": [{"cpu": 8191, "records": 5}, {"cpu": 8192, "records": 6},
    {"cpu": 2}, {"records": 9}, 7], "not_written": [{"cpu": 8191, "records": 5, "events": 4},
    {"cpu": 8192, "records": 6}, {"records": 9}, {"cpu": 1}])");
  EXPECT_EQ(info.cpus, 8192u);
  EXPECT_EQ(info.topology, (std::vector<uint16_t>{3, 8191}));
  EXPECT_EQ(info.written, (std::map<uint16_t, uint64_t>{{8191, 5}}));
  ASSERT_EQ(info.unwritten.size(), 2u);
  EXPECT_EQ(info.unwritten.at(8191).records, 5u);
  EXPECT_EQ(info.unwritten.at(8191).events, 4u);
  EXPECT_EQ(info.unwritten.at(1).records, 0u);
  EXPECT_EQ(report(R"({"version": 1, "cpus": 8193})"),
            "it has 8193 CPUs, which is impossible; the chunks are read without it");
  EXPECT_EQ(read(R"("cpus": 8193)").cpus, 0u);
}

TEST_F(TraceInfos, TakeTimesBelow2To62) {
  const TraceInfo info = read(R"("begin_ns": 4611686018427387903, "end_ns": 4611686018427387904,
    "clock": {"to_wall_ns": -3})");
  EXPECT_EQ(info.began_ns, (1ull << 62) - 1);
  EXPECT_EQ(info.end_ns, 0u);
  EXPECT_EQ(info.to_wall_ns, -3);
  EXPECT_EQ(read(R"("end_ns": 9)").end_ns, 9u);
  EXPECT_EQ(read(R"("clock": {"to_wall_ns": 1.5})").to_wall_ns, 0);
}

// A recorder that keeps the last events has forgotten the start on purpose.
TEST_F(TraceInfos, TheStartIsLostIfAWriteFailedAndNothingWasForgotten) {
  const std::string failed = R"("ended": {"write_error": "disk full"})";
  EXPECT_TRUE(read(failed).write_failed);
  EXPECT_TRUE(read(failed).start_lost);
  EXPECT_FALSE(read(failed + R"(, "forgotten": 1)").start_lost);
  EXPECT_FALSE(read(R"("ended": {"how": "exited"}, "forgotten": 0)").start_lost);
}

TEST_F(TraceInfos, HaveCommandLinesByProcessAndTime) {
  const TraceInfo info = read(R"("command_lines": [{"pid": 9, "since_ns": 20, "text": "late"},
    {"pid": 9, "text": "early"}, {"pid": 4294967295, "text": "last"}, {"pid": 2, "text": "first"},
    {"pid": 0, "text": "none"}, {"pid": 4294967296, "text": "none"}])");
  Texts lines;
  for (const CommandLine &line : info.command_lines)
    lines.push_back(fmt::format("{} {} {}", line.pid, line.since_ns, line.text));
  EXPECT_EQ(lines, (Texts{"2 0 first", "9 0 early", "9 20 late", "4294967295 0 last"}));
}

TEST_F(TraceInfos, HavePeersWithTheirCgroups) {
  const TraceInfo info = read(R"("peers": [{"tid": 4294967295, "pid": 4294967295, "name": "a",
    "cgroup": 65536}, {"tid": 1, "pid": 4294967296}, {"tid": 2, "cgroup": 1}, {"tid": 3},
    {"tid": 4, "cgroup": 65537}])");
  std::vector<uint32_t> cgroups;
  for (const PeerName &peer : info.peers)
    cgroups.push_back(peer.cgroup);
  EXPECT_EQ(cgroups, (std::vector<uint32_t>{0, kNone, kNone, 65535})); // 2, 3, 4 and the last
}

TEST_F(TraceInfos, HaveUpTo255ChainsByNameOrText) {
  EXPECT_EQ(read(R"("control": {"chains": [{"name": "a", "text": "x"}, {"name": "", "text": "y"},
                                           {"text": "z"}, 7]})")
                .chains,
            (Texts{"a", "y", "z", ""}));
  const auto count = [&](size_t given) {
    return read("\"control\": {\"chains\": " + list(given, "{}") + "}").chains.size();
  };
  EXPECT_EQ(count(255), 255u);
  EXPECT_EQ(count(256), 255u);
}

TEST_F(TraceInfos, HaveUpTo10IdleStatesOf16PlainCharacters) {
  EXPECT_EQ(read(R"("idle_states": ["POLL", 7, "1234567890123456x", "a\"b\\c d~\u007f\u001f"])")
                .idle_states,
            (Texts{"POLL", "", "1234567890123456", "a?b?c d~??"}));
  EXPECT_EQ(read("\"idle_states\": " + list(11, "\"a\"")).idle_states.size(), 10u);
}

TEST_F(TraceInfos, HaveUpTo64DevicesOf32PlainCharacters) {
  const TraceInfo info = read(R"("devices": [{"device": 0, "name": "none"}, {"device": 5},
    {"device": 4294967296, "name": "none"}, {"device": 4294967295, "name": ")" +
                              std::string(33, 'd') + R"("}, {"device": 1, "name": "\n"}])");
  ASSERT_EQ(info.devices.size(), 2u);
  EXPECT_EQ(info.devices[0].number, UINT32_MAX);
  EXPECT_EQ(info.devices[0].name, std::string(32, 'd'));
  EXPECT_EQ(info.devices[1].number, 1u);
  EXPECT_EQ(info.devices[1].name, "?");
  EXPECT_EQ(read("\"devices\": " + list(65, R"({"device": 1, "name": "a"})")).devices.size(), 64u);
}

TEST_F(TraceInfos, HaveUpTo65536CgroupsOf4096Bytes) {
  const TraceInfo info =
      read(R"("cgroups": ["/a", 7, "/b\u001b", ")" + std::string(4097, 'x') + "\"]");
  EXPECT_EQ(info.cgroups, (Texts{"/a", "", "/b?", std::string(4096, 'x')}));
  EXPECT_EQ(read("\"cgroups\": " + list(65537, "\"\"")).cgroups.size(), 65536u);
}

TEST_F(TraceInfos, HaveMarksOfUpTo100Bytes) {
  const std::string longest(100, 'm');
  const TraceInfo info = read("\"marks\": [{\"time_ns\": 5, \"text\": \"" + longest +
                              "\"}, {\"text\": \"" + longest + "m\"}, {\"time_ns\": 7}]");
  ASSERT_EQ(info.marks.size(), 3u);
  EXPECT_EQ(info.marks[0].text, longest);
  EXPECT_EQ(info.marks[0].time_ns, 5u);
  EXPECT_EQ(info.marks[1].text, "mark 2");
  EXPECT_EQ(info.marks[2].text, "mark 3");
  EXPECT_EQ(info.marks[2].time_ns, 7u);
}

TEST_F(TraceInfos, AreLeftOutWithAReason) {
  const std::string without = "; the chunks are read without it";
  EXPECT_EQ(report("[]"), "it is no JSON object" + without);
  EXPECT_EQ(report("{}"), "it has no version" + without);
  EXPECT_EQ(report(R"({"version": 1, "format": "other"})"),
            "its format is not \"ovnitrace\"" + without);
  EXPECT_EQ(report("{").substr(0, 15), "it is no JSON: ");
  EXPECT_TRUE(sink_.reported[0].harmless);
  EXPECT_EQ(sink_.reported[0].file, dir_ / "trace.json");
  try {
    read_text(R"({"version": 2})");
    ADD_FAILURE() << "it was read";
  } catch (const Error &error) {
    EXPECT_EQ(std::string(error.what()),
              "cannot read the trace " + dir_.path() +
                  ": it is of version 2, this ovnitrace knows 1: use a newer ovnitrace");
  }
}

TEST_F(TraceInfos, CountStacks) {
  const StackCounts counts = read(R"("stacks_taken": {"all": 1, "distinct": 2, "with_program": 3,
    "cut": 4, "gapped": 5, "lost": 6})")
                                 .stack_counts;
  EXPECT_EQ((Numbers{counts.all, counts.distinct, counts.with_program, counts.cut, counts.gapped,
                     counts.lost}),
            (Numbers{1, 2, 3, 4, 5, 6}));
}

TEST(StackCounts, AreASentence) {
  EXPECT_EQ((StackCounts{.all = 1}.text()), "1 stack, 0 distinct");
  EXPECT_EQ((StackCounts{.all = 2000, .distinct = 1000, .with_program = 3}.text()),
            "2,000 stacks, 1,000 distinct; those of the program are complete");
  EXPECT_EQ((StackCounts{
                .all = 20, .distinct = 5, .with_program = 10, .cut = 2, .gapped = 1, .lost = 4000}
                 .text()),
            "20 stacks, 5 distinct; of the program's, 70.0 % are complete, 20.0 % end too early "
            "and 10.0 % may lack frames between others (docs/stacks.md#incomplete-stacks says "
            "why); 4,000 more found no room");
  EXPECT_EQ(
      (StackCounts{.with_program = 10, .gapped = 1}.text().find("90.0 % are complete, 0.0 %")),
      std::string("0 stacks, 0 distinct; of the program's, ").size());
}

TEST(BufferOption, IsAsTheCommandLineHasIt) {
  const auto option = [](const std::string &buffer) {
    TraceInfo info;
    info.buffer = buffer;
    return buffer_option(info);
  };
  EXPECT_EQ(option(""), "");
  EXPECT_EQ(option("jtn"), "disk");
  EXPECT_EQ(option("cyc:67108864"), "last:64M");
  EXPECT_EQ(option("cyc:1024"), "last:1K");
  EXPECT_EQ(option("cyc:1025"), "last:1025");
  EXPECT_EQ(option("stop:2147483648"), "stop:2G");
  EXPECT_EQ(option("stop:1099511627776"), "stop:1024G");
  EXPECT_EQ(option("stop:0"), "stop:0");
}

TEST(TraceInfo, APeerThatHasItsNameAgainHasOneEntry) {
  test::TempDir dir;
  test::TraceBuilder trace(dir.path());
  trace.json(R"({"version": 1, "peers": [
    {"tid": 8, "pid": 9, "name": "a", "since_ns": 100},
    {"tid": 9, "pid": 9, "name": "a", "since_ns": 100},
    {"tid": 9, "pid": 9, "name": "b", "since_ns": 200},
    {"tid": 9, "pid": 9, "name": "a", "since_ns": 300},
    {"tid": 9, "pid": 10, "name": "a", "since_ns": 400},
    {"tid": 9, "pid": 9, "name": "a", "since_ns": 500, "cgroup": 1}]})");
  trace.write();
  test::CollectingSink sink;
  const std::vector<PeerName> peers = read_trace_info(dir.path(), sink).peers;
  ASSERT_EQ(peers.size(), 6u);
  EXPECT_EQ(find_peer(peers, 9, 100), &peers[1]);
  EXPECT_EQ(find_peer(peers, 9, 200), &peers[2]);
  EXPECT_EQ(find_peer(peers, 9, 300), &peers[1]);
  EXPECT_EQ(find_peer(peers, 9, 400), &peers[4]) << "another process";
  EXPECT_EQ(find_peer(peers, 9, 500), &peers[5]) << "in another cgroup";
}

TEST(Families, AreFoundByTheirWholeName) {
  TraceInfo info;
  EXPECT_FALSE(has_family(info, "power"));
  info.families = "sched, power,user";
  for (const char *family : {"sched", "power", "user"})
    EXPECT_TRUE(has_family(info, family)) << family;
  EXPECT_FALSE(has_family(info, "pow"));
  EXPECT_FALSE(has_family(info, " power"));
}

TEST(CpuCount, CountsTheCpusOfAMachineOnce) {
  Catalog catalog;
  catalog.hosts = {{.name = "a"}, {.name = "a"}};
  catalog.cpus = {{0, 0}, {2, 0}, {0, 1}, {3, 1}};
  EXPECT_EQ(cpu_count(catalog), 4u) << "the traces do not say of which machine they are";
  catalog.hosts[0].boot_id = "x";
  EXPECT_EQ(cpu_count(catalog), 4u);
  catalog.hosts[1].boot_id = "y";
  EXPECT_EQ(cpu_count(catalog), 4u) << "clones have one name";
  catalog.hosts[1].boot_id = "x";
  EXPECT_EQ(cpu_count(catalog), 3u);
}

} // namespace
} // namespace ovnitrace
