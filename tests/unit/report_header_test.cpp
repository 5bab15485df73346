// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace report`: what the page has beside its slices: threads, states, waits, the critical
// path.
#include "emulator/critical/path.h"
#include "tests/unit/support/report_rig.h"

namespace ovnitrace {
namespace {

using nlohmann::json;
using test::kRead;
using test::PackedPage;
using test::TempDir;
using test::Texts;
using test::TraceBuilder;

class ReportHeader : public test::ReportRig {};

TEST_F(ReportHeader, HasTheLatenciesOfAllThreads) {
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
  for (uint64_t n = 1; n <= 9; n++) {
    const uint16_t who = n % 2 ? 2 : 1;
    cpu.at(1000 * n + 10).sleep(uint16_t(3 - who), 0).at(1000 * n + 500 - n).activate(who, 0);
    cpu.at(1000 * n + 500).dispatch(who);
  }
  cpu.at(20000).stop();
  EXPECT_EQ(page().header["latency"], json::parse(R"({"count": 9, "p50": 5, "p99": 9, "max": 9})"));
}

TEST_F(ReportHeader, HasTheStatesInWordsAndColours) {
  trace.cpu(0).at(100).start().id(1, 11, 11, "a").dispatch(1).at(200).stop();
  const json header = page().header;
  Texts states;
  for (const json &state : header["states"])
    states.push_back(fmt::format("{} {} {} {} {}", state["name"].get<std::string>(),
                                 state["color"].get<std::string>(),
                                 state["pattern"].get<std::string>(), state["waits"].get<bool>(),
                                 state["stacked"].get<bool>()));
  EXPECT_EQ(states,
            (Texts{"unknown #000000 dots false false", "running #00af7d none false true",
                   "paused #424a60 none true false", "dead #1e1e22 none false false",
                   "cooling #cd4b00 hatched true true", "warming #aac8ff vertical true true",
                   "throttled #ebcd00 horizontal true true"}));
  EXPECT_EQ(header["state_order"], json::parse("[1, 4, 5, 6, 2, 3, 0]"));
  EXPECT_EQ(header["states"][4]["label"], "Cooling");
  EXPECT_EQ(header["states"][4]["term"], "preempted");
  EXPECT_EQ(header["states"][4]["meaning"], "preempted, waits for a CPU");
  EXPECT_EQ(header["alarm"], "#ff00ff");
  EXPECT_EQ(header["series"][0], "#56b4e9");
  EXPECT_EQ(header["series"].size(), 12u);
  EXPECT_EQ(header["chains"], json::parse("[[]]")) << "by host";
  EXPECT_EQ(header["cpu_count"], header["cpus"].size());
  EXPECT_EQ(header["grain"], 0);
  EXPECT_EQ(header["coarse_threads"], 0);
  EXPECT_EQ(header["slices"], 1);
  EXPECT_EQ(header["reason_names"].at(std::to_string(FTRACE_OFFCPU_PREEMPTED)), "preempted");
  EXPECT_FALSE(header.contains("critical_path")) << "nobody asked for it";
}

TEST_F(ReportHeader, HasTheThreadsAndTheirCommandLines) {
  trace.json(R"({"version": 1, "command_lines": [{"pid": 11, "since_ns": 0, "text": "a -x"}],
                 "threads": []})");
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").id(2, 12, 11, "b");
  cpu.dispatch(1).at(150).sleep(1, 12).dispatch(2).at(200).stop();
  const json threads = page().header["threads"];
  ASSERT_EQ(threads.size(), 2u);
  EXPECT_EQ(threads[0],
            json::parse(R"({"tid": 11, "pid": 11, "node": 0, "main": 0, "name": "a", "birth": 0,
                                        "slices": 2, "start": 0, "command_line": "a -x"})"));
  EXPECT_EQ(threads[1]["tid"], 12);
  EXPECT_FALSE(threads[1].contains("command_line")) << "the process's is the main thread's";
}

TEST_F(ReportHeader, AThreadBelongsToTheLastProcessOfItsPid) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 300, 300, "old").id(2, 301, 300, "a", 110);
  cpu.id(3, 300, 300, "new", 500).id(4, 302, 300, "b", 510).dispatch(1).at(200).epilogue(1, 301);
  cpu.dispatch(2).at(300).end(2, 300).dispatch(1).at(400).end(1).at(500).dispatch(3);
  cpu.at(600).epilogue(3, 302).dispatch(4).at(700).stop();
  const PackedPage packed = page();
  std::map<std::string, std::string> process;
  std::map<uint64_t, std::string> names;
  for (uint64_t t = 0; const json &thread : packed.header["threads"])
    names[t++] = thread["name"];
  for (const json &thread : packed.header["threads"])
    process[thread["name"]] = names[thread["main"]];
  EXPECT_EQ(process, (std::map<std::string, std::string>{
                         {"a", "old"}, {"b", "new"}, {"new", "new"}, {"old", "old"}}));
  std::map<std::string, std::string> by;
  for (const json &pair : packed.header["preemptions"])
    by[names[pair["thread"]]] = names[pair["by"]];
  EXPECT_EQ(by, (std::map<std::string, std::string>{{"new", "b"}, {"old", "a"}}));
}

TEST_F(ReportHeader, PlacesThatHaveNoNumberAreCounted) {
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "a").dispatch(1);
  constexpr uint32_t kStacks = 1503;
  json frames = json::array(), stacks = json::array();
  for (uint32_t stack = 1; stack <= kStacks; stack++) {
    frames.push_back({{"function", fmt::format("f{}", stack)}});
    stacks.push_back({{"user", {stack - 1}}});
    block_in(kRead, cpu, 1000 + 20 * stack, 1010 + 20 * stack, stack);
  }
  cpu.at(90000).stop();
  trace
      .json(json({{"format", "ovnitrace"},
                  {"version", 1},
                  {"begin_ns", 1000},
                  {"machine", "x86_64"},
                  {"options", {{"stacks", "user"}}},
                  {"stack_files", json::array()},
                  {"stack_frames", frames},
                  {"stacks", stacks}})
                .dump())
      .write();
  const Stacks read(open_trace({{dir.path()}}, sink)->catalog(), sink);
  const std::string file = out / "page.html";
  write_report(dir.path(), {}, [this] { return open_trace({{dir.path()}}, sink); },
               {.place = file, .stacks = &read});
  const PackedPage packed(test::text_of(file));
  EXPECT_EQ(packed.header["places_left_out"], kStacks - 1500);
  EXPECT_EQ(packed.header["places"].size(), 1501u) << "the last one is of the call alone";
}

TEST_F(ReportHeader, TheWaitsHaveTheirHolders) {
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
  cpu.at(1100).epilogue(1, 22).dispatch(2).at(1400).epilogue(2, 11).dispatch(1);
  cpu.at(1450).epilogue(1, 22).dispatch(2).at(1480).sleep(2, 11).dispatch(1).at(1500).stop();
  const json waits = page().header["waits"];
  const json a = {{"name", "a (11)"}, {"thread", 0}, {"known", true}};
  const json b = {{"name", "b (22)"}, {"thread", 1}, {"known", true}};
  json sum_a = a, sum_b = b;
  sum_a.update({{"waiter", 1}, {"ns", 50}});
  sum_b.update({{"waiter", 0}, {"ns", 330}});
  EXPECT_EQ(waits["sums"], json::array({sum_b, sum_a})) << waits;
  EXPECT_EQ(waits["left_out"], 0);
}

TEST_F(ReportHeader, TheCriticalPathIsAPartUnlessItIsLarge) {
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
  for (uint64_t n = 0; n < 20'000; n++)
    cpu.at(1100 + 200 * n)
        .epilogue(1, 22)
        .dispatch(2)
        .at(1200 + 200 * n)
        .epilogue(2, 11)
        .dispatch(1);
  cpu.at(4'001'500).end(1, 11).stop();
  trace.write();
  const auto open = [this] { return open_trace({{dir.path()}}, sink); };
  const std::string file = out / "page.html";
  uint64_t bytes = 0; // of the path: an eighth of the page is allowed
  const std::function<uint64_t()> sizes[] = {
      [] { return kDefaultPageBytes; }, [] { return uint64_t(400'000); }, [&] { return 8 * bytes; },
      [&] { return 8 * bytes - 1; }};
  for (size_t n = 0; n < std::size(sizes); n++) {
    const uint64_t most = sizes[n]();
    CriticalPath path = critical_path(*open(), {}, {}, {.tid = 11, .section = {}});
    WriteReportOptions options{file, most, {}};
    options.paths = {&path, 1};
    result = write_report(dir.path(), {}, open, options);
    const PackedPage packed(test::text_of(file));
    const bool left_out = n % 2;
    bytes = std::max<uint64_t>(bytes, packed.parts.at("critical_path").size());
    EXPECT_EQ(result.path_left_out, left_out);
    EXPECT_EQ(packed.header.contains("critical_path"), !left_out);
    EXPECT_EQ(packed.parts.at("critical_path").empty(), left_out);
    if (left_out)
      continue;
    const json &header = packed.header["critical_path"];
    ASSERT_EQ(header["paths"].size(), 1u);
    EXPECT_EQ(header["paths"][0]["thread"], 0);
    EXPECT_EQ(header["paths"][0]["from"], 0);
    EXPECT_EQ(header["causes"].size(), size_t(kCauses));
    EXPECT_EQ(packed.parts.at("critical_path").substr(0, 3), std::string({100, 0, 0}))
        << "it runs for 100 ns";
  }
}

// Their indices are those of all hosts; a time is from the earliest start.
TEST_F(ReportHeader, TwoHostsAreOnePage) {
  TempDir other;
  TraceBuilder second(other.path());
  trace.cpu(0).at(1000).start().id(1, 11, 11, "a").dispatch(1).at(1400).sleep(1, 0).at(2000).stop();
  second.cpu(3).at(1100).start().id(1, 11, 11, "b").dispatch(1).at(1500).sleep(1, 77);
  second.cpu(3).at(2000).stop();
  trace.write();
  second.write();
  const std::string file = out / "page.html";
  write_report(dir.path(), {},
               [&] {
                 return open_trace({{dir.path()}, {other.path()}}, sink);
               },
               {file, kDefaultPageBytes, {}});
  const PackedPage packed(test::text_of(file));
  EXPECT_EQ(texts(packed, 0),
            (Texts{"0-400 running cpu=1 why=0 peer=0", "400-1000 paused cpu=1 why=5 peer=3"}));
  EXPECT_EQ(texts(packed, 1),
            (Texts{"0-100 unknown cpu=0 why=0 peer=0", "100-500 running cpu=2 why=0 peer=0",
                   "500-1000 paused cpu=2 why=5 peer=4"}));
  EXPECT_EQ(packed.header["cpus"],
            json::parse(R"([{"index": 0, "node": 0}, {"index": 3, "node": 1}])"));
  EXPECT_EQ(packed.header["threads"][1]["node"], 1);
}

} // namespace
} // namespace ovnitrace
