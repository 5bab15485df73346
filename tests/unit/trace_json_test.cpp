// SPDX-License-Identifier: BSD-2-Clause
// What trace.json says of a capture: user/record/trace_json.
#include "user/record/trace_json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace ovnitrace {
namespace {

TEST(TraceJson, EventsAreLostInTheKernelInTheQueueAndOnTheDisk) {
  TraceDescription trace;
  EXPECT_EQ(events_lost(trace), 0u);
  trace.dropped.logged = 1;
  trace.counts.resize(2);
  trace.counts[0].lost = 10;
  trace.counts[1].family_lost = 100;
  trace.not_written.resize(2);
  trace.not_written[1].logged = 1000;
  EXPECT_EQ(events_lost(trace), 1111u);
}

TEST(TraceJson, ThreadsAreInOrderOfProcessAndThenOfThread) {
  ThreadRegistry registry;
  const std::pair<uint32_t, uint32_t> ids[] = {{30, 9}, {10, 20}, {9, 9}, {20, 20}}; // tid, pid
  for (const auto &[tid, pid] : ids) {
    life_record record = {};
    record.kind = LIFE_SNAPSHOT;
    record.tid = tid;
    record.pid = pid;
    registry.learn(record);
  }
  std::string text;
  const CommandLines none;
  const ThreadsSoFar threads = {registry, none};
  write_json({}, &threads, [&](std::string_view piece) { text += piece; });
  std::vector<uint32_t> tids;
  const auto json = nlohmann::json::parse(text);
  for (const auto &thread : json["threads"])
    tids.push_back(thread["tid"]);
  EXPECT_EQ(tids, (std::vector<uint32_t>{9, 30, 10, 20}));
}

/// With --control a traced thread can be in no chunk, and still wake one that is.
TEST(TraceJson, PeersIncludeTracedThreadsIfThereAreRegions) {
  ThreadRegistry registry;
  life_record record = {};
  record.kind = LIFE_SNAPSHOT;
  record.tid = record.pid = 9;
  registry.learn(record);
  const CommandLines none;
  const ThreadsSoFar threads = {registry, none};
  const auto peers = [&](const TraceDescription &trace) {
    std::string text;
    write_json(trace, &threads, [&](std::string_view piece) { text += piece; });
    return nlohmann::json::parse(text)["peers"].size();
  };
  TraceDescription trace;
  EXPECT_EQ(peers(trace), 0u);
  trace.control = {{"", "start:enter_func:f"}};
  EXPECT_EQ(peers(trace), 1u);
}

TEST(TraceJson, HasTheCommandLinesOfTracedProcesses) {
  ThreadRegistry registry;
  life_record alive = {};
  alive.kind = LIFE_SNAPSHOT;
  alive.tid = alive.pid = 9;
  registry.learn(alive);
  TraceDescription trace;
  trace.begin = 100;
  trace.command_lines.add(9, 0, std::string_view("old\0", 4), false);
  trace.command_lines.add(10, 0, std::string_view("stranger\0", 9), false);
  CommandLines executed;
  executed.add(9, 200, std::string_view("make\0-j4\0\033[31m\0", 15), false);
  executed.add(9, 300, std::string_view("cc\0-c", 5), true);
  const ThreadsSoFar threads = {registry, executed};
  std::string text;
  write_json(trace, &threads, [&](std::string_view piece) { text += piece; });
  std::vector<std::string> lines;
  const auto json = nlohmann::json::parse(text);
  for (const auto &line : json["command_lines"])
    lines.push_back(std::to_string(line["since_ns"].get<uint64_t>()) + " " +
                    line["text"].get<std::string>());
  EXPECT_EQ(lines, (std::vector<std::string>{"0 old", "200 make -j4 ?[31m", "300 cc -c…"}));
}

nlohmann::json written(const TraceDescription &trace, const ThreadsSoFar *threads = nullptr) {
  std::string text;
  write_json(trace, threads, [&](std::string_view piece) { text += piece; });
  return nlohmann::json::parse(text);
}

TraceDescription described() {
  TraceDescription trace;
  trace.host = {
      .name = "box", .kernel = "6.1.0", .machine = "x86_64", .cpus = {{0, 0, 1, -1}, {3, 1, 2, 0}}};
  trace.command = {"app", "-x"};
  trace.program_pid = 77;
  trace.user = "nobody";
  trace.stacks_option = "kernel";
  trace.ring_bytes = 4096;
  trace.chunk_bytes = 8192;
  trace.buffer = {BufferKind::kCyc, 65536};
  trace.compress_level = 3;
  trace.begin = 5000;
  trace.offset_to_wall = -12;
  return trace;
}

TEST(TraceJson, SaysAtTheStartWhatIsCaptured) {
  nlohmann::json expected = nlohmann::json::parse(R"({"format": "ovnitrace", "version": 1,
    "host": "box", "kernel": "6.1.0", "machine": "x86_64", "cpus": 4,
    "topology": [{"cpu": 0, "package": 0, "core": 1, "node": -1},
                 {"cpu": 3, "package": 1, "core": 2, "node": 0}],
    "clock": {"id": "CLOCK_MONOTONIC", "to_wall_ns": -12},
    "command": ["app", "-x"], "program_pid": 77, "user": "nobody",
    "options": {"ring_bytes": 4096, "chunk_bytes": 8192, "buffer": "cyc:65536",
                "compress_level": 3, "families": "none", "stacks": "kernel"},
    "begin_ns": 5000,
    "ended": {"how": "still being captured, or the tracer was killed"}})");
  expected["ovnitrace"] = OVNITRACE_VERSION;
  EXPECT_EQ(written(described()), expected);
}

TEST(TraceJson, SaysMoreWhereThereIsMore) {
  TraceDescription trace = described();
  trace.host.boot_id = "0b-1c";
  trace.attached_pids = {9, 8};
  trace.with_children = false;
  trace.all_threads = trace.cpu_holders = trace.sees_refills = true;
  trace.idle_states = {"POLL", "C1"};
  trace.cgroups = {"/a", "/b/c"};
  trace.devices = {{2049, "sda1"}};
  trace.control = {{"a", "start:x"}, {"", "stop:y"}};
  trace.region_by_thread = true;
  trace.buffer = {BufferKind::kStop, 7};
  trace.how = "stopping";
  nlohmann::json found = written(trace);
  EXPECT_EQ(found["boot_id"], "0b-1c");
  EXPECT_EQ(found["attached_pids"], nlohmann::json::parse("[9, 8]"));
  EXPECT_EQ(found["with_children"], false);
  EXPECT_EQ(found["all_threads"], true);
  EXPECT_EQ(found["cpu_holders"], true);
  EXPECT_EQ(found["sees_refills"], true);
  EXPECT_EQ(found["idle_states"], nlohmann::json::parse(R"(["POLL", "C1"])"));
  EXPECT_EQ(found["cgroups"], nlohmann::json::parse(R"(["/a", "/b/c"])"));
  EXPECT_EQ(found["devices"], nlohmann::json::parse(R"([{"device": 2049, "name": "sda1"}])"));
  EXPECT_EQ(found["control"], nlohmann::json::parse(R"({"region": "thread", "chains": [
    {"name": "a", "text": "start:x"}, {"name": "", "text": "stop:y"}]})"));
  EXPECT_EQ(found["options"]["buffer"], "stop:7");
  EXPECT_EQ(found["ended"], nlohmann::json::parse(R"({"how": "stopping"})"));
  trace.region_by_thread = false;
  trace.buffer = {};
  found = written(trace);
  EXPECT_EQ(found["control"]["region"], "global");
  EXPECT_EQ(found["options"]["buffer"], "jtn");
}

TEST(TraceJson, HasStacksIfSomeWereTaken) {
  TraceDescription trace = described();
  EXPECT_FALSE(written(trace).contains("stacks"));
  NamedStacks stacks;
  stacks.captured.files = {{"/bin/app", 1}};
  stacks.captured.frames = {{CapturedFrame::file, 0, 16}};
  stacks.captured.places = {0};
  stacks.captured.stacks = {{.first = 0, .kernel = 0, .user = 1}};
  stacks.frames.resize(1);
  stacks.build_ids.resize(1);
  stacks.cut = {false};
  trace.stacks = std::make_shared<NamedStacks>(stacks);
  const nlohmann::json found = written(trace);
  EXPECT_EQ(found["stacks"], nlohmann::json::parse(R"([{"user": [0]}])"));
  EXPECT_EQ(found["stack_frames"].size(), 1u);
  EXPECT_EQ(found["stack_files"], nlohmann::json::parse(R"([{"path": "/bin/app"}])"));
}

TEST(TraceJson, CountsEventsAtTheEnd) {
  TraceDescription trace = described();
  trace.finished = true;
  trace.end = 9000;
  trace.how = "exited";
  trace.exit_status = 3;
  trace.counts = {{.events = 10, .lost = 1, .family_events = 20, .family_lost = 2},
                  {},
                  {},
                  {.events = 300, .lost = 30, .family_events = 400, .family_lost = 40}};
  trace.events = 600;
  trace.forgotten = 50;
  trace.life_lost = 4;
  trace.skipped_runs = 5;
  trace.user_refused = 6;
  trace.tracer_cpu = 7;
  trace.records = 800;
  trace.written = {11, 0, 0, 12};
  trace.not_written = {{}, {}, {}, {.records = 9, .counted = 8, .logged = 7, .lost = 6}};
  nlohmann::json found = written(trace);
  nlohmann::json expected = written(described());
  expected.update(nlohmann::json::parse(R"({"ended": {"how": "exited", "exit_status": 3},
    "end_ns": 9000, "events": 600, "forgotten": 50, "logged_by_kernel": 730, "lost": 73,
    "life_events_lost": 4, "skipped_runs": 5, "user_events_refused": 6, "tracer_cpu_ns": 7,
    "records": 800, "records_dropped": 0,
    "per_cpu": [{"cpu": 0, "transitions": 10, "lost": 1, "family_events": 20, "family_lost": 2},
                {"cpu": 3, "transitions": 300, "lost": 30, "family_events": 400, "family_lost": 40}],
    "written": [{"cpu": 0, "records": 11}, {"cpu": 3, "records": 12}],
    "not_written": [{"cpu": 3, "records": 9, "events": 6}]})"));
  EXPECT_EQ(found, expected);

  trace.write_error = "disk full";
  EXPECT_EQ(written(trace)["ended"]["how"], "exited; the trace is not whole");
  trace.records_dropped = 21;
  found = written(trace);
  EXPECT_EQ(found["ended"]["how"], "exited; the trace is not whole: 21 records were not written");
  EXPECT_EQ(found["ended"]["write_error"], "disk full");
  EXPECT_EQ(found["records_dropped"], 21);
  trace.finished = false;
  EXPECT_EQ(written(trace)["ended"],
            nlohmann::json::parse(R"({"how": "exited", "write_error": "disk full"})"));
}

TEST(TraceJson, ThreadsHaveTheKernelsAccountAndProcessesTheMainThreadsName) {
  ThreadRegistry registry;
  const auto learn = [&](uint16_t kind, uint32_t tid, uint32_t pid, const char *name, uint32_t arg,
                         uint64_t time, life_account account = {}) {
    life_record record = {};
    record.kind = kind;
    record.tid = tid;
    record.pid = pid;
    record.arg = arg;
    record.time = time;
    record.account = account;
    std::strncpy(record.comm, name, sizeof record.comm);
    registry.learn(record);
  };
  learn(LIFE_SNAPSHOT, 8, 9, "worker", 0, 0);
  learn(LIFE_SNAPSHOT, 9, 9, "main", 0, 0);
  learn(LIFE_NEW, 20, 20, "new", 9, 6000);
  learn(LIFE_EXEC, 20, 20, "sixteen letters!", 20, 6500);
  learn(LIFE_DEAD, 20, 20, "sixteen letters!", 0, 7000,
        {.run_ns = 1, .wait_ns = 2, .slices = 3, .voluntary = 4, .involuntary = 5});
  learn(LIFE_NAME, 50, 51, "peer", 0, 6500);
  const CommandLines none;
  const ThreadsSoFar threads = {registry, none};
  TraceDescription trace = described();
  nlohmann::json found = written(trace, &threads);
  EXPECT_EQ(found["processes"], nlohmann::json::parse(R"([{"pid": 9, "name": "main"},
                                                 {"pid": 20, "name": "sixteen letters!"}])"));
  EXPECT_EQ(found["threads"], nlohmann::json::parse(R"([
    {"tid": 8, "pid": 9, "name": "worker"}, {"tid": 9, "pid": 9, "name": "main"},
    {"tid": 20, "pid": 20, "name": "sixteen letters!", "parent": 9, "birth_ns": 6000,
     "kernel_account": {"run_ns": 1, "wait_ns": 2, "slices": 3, "voluntary_switches": 4,
                        "involuntary_switches": 5}}])"));
  EXPECT_EQ(found["peers"], nlohmann::json::parse(R"([
    {"tid": 50, "pid": 51, "name": "peer", "since_ns": 6500}])"));
  EXPECT_FALSE(found.contains("peers_left_out"));
  EXPECT_FALSE(found.contains("command_lines_left_out"));
  trace.command_lines_lost = 4;
  EXPECT_EQ(written(trace, &threads)["command_lines_left_out"], 4);
}

TEST(TraceJson, HasMarksAndFilters) {
  TraceDescription trace = described();
  EXPECT_FALSE(written(trace).contains("marks"));
  EXPECT_FALSE(written(trace).contains("filters"));
  trace.marks = {{7000, "first"}, {6000, "second"}};
  trace.filters = {"--comm a", "--cpu 0"};
  const nlohmann::json found = written(trace);
  EXPECT_EQ(found["marks"], nlohmann::json::parse(R"([{"time_ns": 7000, "text": "first"},
                                                      {"time_ns": 6000, "text": "second"}])"));
  EXPECT_EQ(found["filters"], nlohmann::json::parse(R"(["--comm a", "--cpu 0"])"));
}

TEST(TraceJson, APeerHasItsCgroup) {
  ThreadRegistry registry;
  life_record record = {};
  record.kind = LIFE_NAME;
  record.tid = record.pid = 50;
  record.time = 6500;
  record.cgroup = 3;
  std::strncpy(record.comm, "peer", sizeof record.comm);
  registry.learn(record);
  const CommandLines none;
  const ThreadsSoFar threads = {registry, none};
  EXPECT_EQ(written(described(), &threads)["peers"], nlohmann::json::parse(R"([
    {"tid": 50, "pid": 50, "name": "peer", "since_ns": 6500, "cgroup": 3}])"));
}

TEST(TraceJson, SaysHowManyPeersAreLeftOut) {
  ThreadRegistry registry;
  life_record record = {};
  record.kind = LIFE_NAME;
  for (record.tid = 1; !registry.peers_left_out(); record.tid++)
    registry.learn(record);
  registry.learn(record);
  const CommandLines none;
  const ThreadsSoFar threads = {registry, none};
  EXPECT_EQ(written(described(), &threads)["peers_left_out"], 2);
}

// What a process that was born in the capture ran before is the command line of its parent.
TEST(TraceJson, CommandLinesAreInOrderOfProcessAndTime) {
  ThreadRegistry registry;
  life_record record = {};
  for (const auto &[pid, birth] : {std::pair(9u, 0u), {10u, 99u}, {11u, 100u}}) {
    record.kind = birth ? LIFE_NEW : LIFE_SNAPSHOT;
    record.tid = record.pid = pid;
    record.time = birth;
    registry.learn(record);
  }
  TraceDescription trace;
  trace.begin = 100;
  for (const uint32_t pid : {11, 10, 9})
    trace.command_lines.add(pid, 0, "old", false);
  CommandLines executed;
  executed.add(11, 300, "third", false);
  executed.add(9, 200, "first", false);
  executed.add(11, 250, "second", false);
  const ThreadsSoFar threads = {registry, executed};
  std::vector<std::string> lines;
  const nlohmann::json json = written(trace, &threads);
  for (const auto &line : json["command_lines"])
    lines.push_back(std::to_string(line["pid"].get<uint32_t>()) + " " +
                    line["text"].get<std::string>());
  EXPECT_EQ(lines,
            (std::vector<std::string>{"9 old", "9 first", "10 old", "11 second", "11 third"}));
}

TEST(TraceJson, WithoutCpusAndThreadsTheListsAreEmpty) {
  const ThreadRegistry registry;
  const CommandLines none;
  const ThreadsSoFar threads = {registry, none};
  const nlohmann::json found = written({}, &threads);
  EXPECT_EQ(found["cpus"], 0);
  for (const char *list : {"topology", "processes", "threads", "peers", "command_lines"})
    EXPECT_EQ(found[list], nlohmann::json::array()) << list;
  EXPECT_FALSE(found.contains("program_pid"));
  EXPECT_FALSE(written({}).contains("threads"));
}

TEST(TraceJson, WithoutItsMainThreadAProcessHasNoName) {
  ThreadRegistry registry;
  for (const auto &[tid, pid, name] :
       {std::tuple(31u, 30u, "b"), {33u, 30u, "c"}, {40u, 40u, "d"}, {20u, 19u, "a"}}) {
    life_record record = {};
    record.kind = LIFE_NEW;
    record.tid = tid;
    record.pid = pid;
    record.time = 1000 + tid;
    std::strncpy(record.comm, name, sizeof record.comm);
    registry.learn(record);
  }
  const CommandLines none;
  const ThreadsSoFar threads = {registry, none};
  TraceDescription trace;
  trace.control = {{"", "start:int3"}};
  const nlohmann::json found = written(trace, &threads);
  EXPECT_EQ(found["processes"], nlohmann::json::parse(R"([{"pid": 19, "name": ""},
                    {"pid": 30, "name": ""}, {"pid": 40, "name": "d"}])"));
  EXPECT_EQ(found["peers"], nlohmann::json::parse(R"([
    {"tid": 20, "pid": 19, "name": "a", "since_ns": 1020},
    {"tid": 31, "pid": 30, "name": "b", "since_ns": 1031},
    {"tid": 33, "pid": 30, "name": "c", "since_ns": 1033},
    {"tid": 40, "pid": 40, "name": "d", "since_ns": 1040}])"));
}

} // namespace
} // namespace ovnitrace
