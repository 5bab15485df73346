// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace dump`: names of events, and lines.
#include "emulator/dump/dump_events.h"
#include "emulator/format/code_kind.h"
#include "emulator/format/event_names.h"
#include "emulator/open/open_trace.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <fstream>
#include <regex>
#include <sstream>

namespace ovnitrace {
namespace {

using test::CollectingSink;
using test::TempDir;
using test::TraceBuilder;

TEST(EventNames, CoverEveryCodeOfTheHeader) {
  std::ifstream header("include/ovnitrace/ftrace_codes.h");
  ASSERT_TRUE(header) << "run from the root of the project";
  const std::regex code(R"(FTrace_(EVT|EXT)_(\w+) = (0x[0-9A-F]+),)");
  int codes = 0;
  for (std::string line; std::getline(header, line);) {
    std::smatch match;
    if (!std::regex_search(line, match, code))
      continue;
    codes++;
    const std::string name = match[1] == "EXT" ? "EXT_" + match[2].str() : match[2].str();
    const uint32_t value = uint32_t(std::stoul(match[3], nullptr, 16));
    EXPECT_EQ(event_name(value), name == "mutex_unlock_misprint" ? "mutex_unlock" : name);
    EXPECT_NE(kCodeKinds[value], CodeKind::unknown) << name << ": how is it read?";
  }
  EXPECT_GE(codes, 80);
}

TEST(EventNames, AreUnknownExactlyWhereNoReaderKnowsTheCode) {
  for (uint32_t code = 0; code < 256; code++)
    EXPECT_EQ(event_name(code) == "unknown", kCodeKinds[code] == CodeKind::unknown) << code;
  EXPECT_EQ(event_name(256), "unknown");
}

/// What dump prints of a trace.
std::string lines_of(TraceBuilder &trace, const std::string &path) {
  trace.write();
  CollectingSink sink;
  const auto source = open_trace({{path}}, sink);
  std::string text;
  dump_events(*source, {}, 0, [&](const DumpLine &line, const Event &event) {
    char buffer[DumpLine::kMaxBytes];
    text.append(buffer, line.put(buffer, event));
    return true;
  });
  return text;
}

// A filter has no thread of its own: who has the CPU has called it, whichever it is.
TEST(Dump, NamesWhoSwitchedAFilter) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 42, 40, "app").dispatch(1);
  for (uint16_t filter = FTrace_filter_trace_Events; filter <= FTrace_filter_timer; filter++)
    cpu.at(2000).record(filter, 1);
  cpu.at(3000).sleep(1).stop();
  std::istringstream lines(lines_of(trace, dir.path()));
  size_t filters = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.find("filter_") != std::string::npos) {
      filters++;
      EXPECT_NE(line.find("app"), std::string::npos) << line;
    }
  EXPECT_EQ(filters, size_t(FTrace_filter_timer - FTrace_filter_trace_Events + 1));
}

TEST(Dump, PrintsEveryDetailInStableColumns) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0)
      .at(1000)
      .start()
      .id(1, 4321, 4321, "app")
      .id(2, 4322, 4321, "a worker")
      .snapshot(1, 2, 3, FTRACE_OFFCPU_DISK)
      .at(2500)
      .create(2, 4322)
      .activate_new(2, 4321)
      .activate(1, 4322, FTRACE_WAKER_SOFTIRQ)
      .dispatch(2, 122)
      .at(1000 + 12345678901)
      .epilogue(2, 4321)
      .dispatch(1, FTRACE_PRIO_BIAS - 1)
      .sleep(1, 0, FTRACE_OFFCPU_DISK)
      .migrate(2, 7)
      .record(FTrace_EXT_exec, 2, 4300)
      .record(FTrace_EXT_exit, 2, 1 << 8)
      .record(FTrace_EXT_exit, 1, SIGSEGV | 0x80)
      .end(2, 4322)
      .blackout_start()
      .blackout_end(17)
      .record(FTrace_EVT_user_event_3, 5, 6)
      .record(FTrace_EVT_mutex_unlock_misprint, 1, 99)
      .stop();
  EXPECT_EQ(lines_of(trace, dir.path()), &R"(
     0.000000000    0  trace_start          -
     0.000000000    0  EXT_snapshot         app(4321)                state=paused cpu=3 reason=disk
     0.000001500    0  task_create          a_worker(4322)
     0.000001500    0  task_activate        a_worker(4322)           waker=app(4321) context=task new=1
     0.000001500    0  task_activate        app(4321)                waker=a_worker(4322) context=softirq
     0.000001500    0  task_dispatch        a_worker(4322)           priority=0 nice=0
    12.345678901    0  task_epilogue        a_worker(4322)           next=app(4321) reason=preempted
    12.345678901    0  task_dispatch        app(4321)                priority=deadline
    12.345678901    0  task_sleep           app(4321)                next=idle(0) reason=disk
    12.345678901    0  EXT_migrate          a_worker(4322)           cpu=7
    12.345678901    0  EXT_exec             a_worker(4322)           from=4300
    12.345678901    0  EXT_exit             a_worker(4322)           status=1
    12.345678901    0  EXT_exit             app(4321)                signal=SEGV core=1
    12.345678901    0  task_end             a_worker(4322)
    12.345678901    0  blackout_start       -
    12.345678901    0  blackout_end         -                        lost=17
    12.345678901    0  user_event_3         -                        par1=5 par2=6
    12.345678901    0  mutex_unlock         app(4321)                mutex=0x63
    12.345678901    0  trace_stop           -
)"[1]);
}

/// Who is not traced has the name that trace.json gives it at that time; without one, its tid.
TEST(Dump, NamesPeersThatAreNotTraced) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(1000).start().id(1, 11, 10, "a").dispatch(1);
  trace.cpu(0).at(1100).epilogue(1, 900).at(1200).dispatch(1);
  trace.cpu(0).at(1300).epilogue(1, 900).at(1400).dispatch(1).at(1500).epilogue(1, 901).stop();
  trace.json(R"({"version": 1, "format": "ovnitrace", "peers": [
    {"tid": 900, "pid": 9, "name": "re dis", "since_ns": 1050},
    {"tid": 900, "pid": 9, "name": "later", "since_ns": 1250}]})");
  const std::string text = lines_of(trace, dir.path());
  EXPECT_NE(text.find("next=re_dis(900)"), std::string::npos) << text;
  EXPECT_NE(text.find("next=later(900)"), std::string::npos) << text;
  EXPECT_NE(text.find("next=901 "), std::string::npos) << text;
}

/// Numbers, with their bits from docs/format.md written out by hand.
TEST(Dump, PrintsAddressesInHexadecimalAndNumbersByTheirNames) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0)
      .at(1000)
      .start()
      .id(1, 11, 10, "a")
      .record(FTrace_EVT_interrupt_start, 17, 11)
      .record(FTrace_EVT_interrupt_start, 0x8003, 11)
      .record(FTrace_EVT_interrupt_end, 0x800a, 11)
      .record(FTrace_EVT_interrupt_start, 0x40ec, 0)
      .record(FTrace_EVT_interrupt_end, 0x40ed, 0)
      .record(FTrace_EVT_signal, 1, 0x0a00000b)
      .record(FTrace_EVT_signal, 1, 0x0a40000b)
      .record(FTrace_EVT_signal, 1, 0x22800000)
      .record(FTrace_EVT_mutex_wait, 1, 0xdeadbee0)
      .record(FTrace_EVT_mutex_lock, 1, 0xdeadbee1)
      .record(FTrace_EVT_mutex_lock, 1, 0xdeadbee3)
      .record(FTrace_EVT_set_priority, 1, 0x27a)
      .record(FTrace_EVT_set_priority, 1, 0x701)
      .record(FTrace_EVT_set_priority, 1, 0x233)
      .record(FTrace_EVT_set_priority, 1, 0x175)
      .record(FTrace_EVT_timer_post, 1, 0x52)
      .record(FTrace_EVT_timer_wakeup_start, 1, 0x79)
      .record(FTrace_EVT_server_exhaust, 1, 0x80000007)
      .record(FTrace_EVT_server_exhaust, 1, 8)
      .record(FTrace_EVT_server_replenish, 1, 0)
      .record(FTrace_EVT_user_event_13, 0, 4)
      .record(FTrace_EVT_data_pointer, 0, 0xfffffff0)
      .record(FTrace_EVT_blackout_start, 3, 0)
      .record(FTrace_EVT_blackout_end, 3, 9)
      .snapshot(1, 1, 0xffff)
      .stop();
  std::vector<std::string> details;
  std::istringstream text(lines_of(trace, dir.path()));
  constexpr size_t kDetails = 69;
  for (std::string line; std::getline(text, line);)
    details.push_back(line.size() > kDetails ? line.substr(kDetails) : "");
  EXPECT_EQ(details, (std::vector<std::string>{"",
                                               "irq=17 interrupted=a(11)",
                                               "softirq=NET_RX interrupted=a(11)",
                                               "softirq=10 interrupted=a(11)",
                                               "vector=timer interrupted=idle(0)",
                                               "vector=237 interrupted=idle(0)",
                                               "signal=USR1 sender=a(11)",
                                               "signal=USR1 to_process=1 sender=a(11)",
                                               "signal=34 taken=1",
                                               "mutex=0xdeadbee0",
                                               "mutex=0xdeadbee0 waited=1",
                                               "mutex=0xdeadbee0 gave_up=1",
                                               "priority=0 nice=0 policy=fifo",
                                               "priority=deadline policy=deadline",
                                               "priority=50 policy=fifo",
                                               "priority=0 nice=-5 policy=other",
                                               "timer=itimer in_us=5",
                                               "timer=9 late_ns=7",
                                               "yielded_ns=7",
                                               "overrun_ns=8",
                                               "",
                                               "section_begin=4",
                                               "pointer=0xfffffff0",
                                               "what=forgotten",
                                               "what=forgotten lost=9",
                                               "state=running",
                                               ""}));
}

TEST(Dump, UserEventsBelongToTheThreadThatRunsThere) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  auto &cpu = trace.cpu(0);
  cpu.at(1000).start().id(1, 11, 10, "a").id(2, 12, 10, "b");
  cpu.record(FTrace_EVT_ipoint, 1, 0).snapshot(1, 1, 0).record(FTrace_EVT_ipoint, 2, 0);
  cpu.at(2000).sleep(1).dispatch(2).record(FTrace_EVT_user_event_14, 3, 4);
  cpu.record(FTrace_EVT_data_pointer, 1, 5).record(FTrace_filter_user, 1, 0);
  cpu.record(FTrace_EVT_interrupt_hit, 1, 0);
  cpu.at(3000).sleep(2).record(FTrace_EVT_user_event_0, 1, 6).dispatch(2);
  cpu.at(4000).blackout_start().record(FTrace_EVT_ipoint, 7, 0).blackout_end(1).stop();
  trace.cpu(1).at(1000).start().at(2500).record(FTrace_EVT_ipoint, 8, 0).stop();
  const std::string text = lines_of(trace, dir.path());
  for (const char *line : {
           "0  ipoint               -                        par1=1 par2=0\n",
           "0  ipoint               a(11)                    par1=2 par2=0\n",
           "0  user_event_14        b(12)                    par1=3 section_end=4\n",
           "0  data_pointer         b(12)                    par1=1 pointer=0x5\n",
           "0  filter_user          b(12)                    status=1\n",
           "0  interrupt_hit        -                        par1=1 par2=0\n",
           "0  user_event_0         -                        par1=1 par2=6\n",
           "0  ipoint               -                        par1=7 par2=0\n",
           "1  ipoint               -                        par1=8 par2=0\n",
       })
    EXPECT_NE(text.find(line), std::string::npos) << line << "in\n" << text;
}

/// Blanks, brackets and signs of a name are its own: a line has as many columns as any other.
TEST(Dump, ANameShiftsNoColumn) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0)
      .at(0)
      .start()
      .id(1, 11, 11, "Web Content")
      .id(2, 12, 12, "(a=b) c")
      .id(3, 13, 13, "");
  trace.cpu(0).at(5).epilogue(1, 12).epilogue(2, 11).epilogue(3, 99).stop();
  std::istringstream lines(lines_of(trace, dir.path()));
  std::vector<std::vector<std::string>> switches;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<std::string> columns;
    for (std::string word; words >> word;)
      columns.push_back(word);
    if (columns[2] == "task_epilogue")
      switches.push_back(columns);
  }
  ASSERT_EQ(switches.size(), 3u);
  for (const auto &columns : switches)
    EXPECT_EQ(columns.size(), 6u);
  EXPECT_EQ(switches[0][3] + " " + switches[0][4], "Web_Content(11) next=(a=b)_c(12)");
  EXPECT_EQ(switches[1][3] + " " + switches[1][4], "(a=b)_c(12) next=Web_Content(11)");
  EXPECT_EQ(switches[2][3] + " " + switches[2][4], "?(13) next=99"); // nothing knows the name
}

TEST(Dump, JsonHasOneObjectALineWithTheNamesAsTheyAre) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.json(R"({"version": 1, "marks": [{"time_ns": 2000, "text": "a \"b\" \\ c"}]})");
  trace.cpu(0).at(1000).start().id(1, 11, 10, "a \"b\\").id(2, 12, 10, "");
  trace.cpu(0).at(2000).epilogue(1, 12).activate(2, 11, FTRACE_WAKER_SOFTIRQ).sleep(2);
  trace.cpu(0).migrate(1, 3).record(FTrace_EVT_mutex_wait, 1, 0xfffffffc);
  trace.cpu(0).record(FTrace_EXT_mark, 1).stop();
  trace.write();
  CollectingSink sink;
  const auto source = open_trace({{dir.path()}}, sink);
  const DumpLine line(source->catalog());
  std::vector<nlohmann::json> objects;
  char buffer[DumpLine::kMaxBytes];
  for (Event event; source->next(event);) {
    const std::string text(buffer, line.put_json(buffer, event));
    EXPECT_EQ(text.find('\n'), text.size() - 1);
    objects.push_back(nlohmann::json::parse(text));
  }
  using Json = nlohmann::json;
  ASSERT_EQ(objects.size(), 8u);
  EXPECT_EQ(objects[0],
            Json::parse(R"({"schema":1,"time_ns":0,"cpu":0,"event":"trace_start","details":{}})"));
  EXPECT_EQ(
      objects[1],
      Json::parse(R"({"schema":1,"time_ns":1000,"cpu":0,"event":"task_epilogue","tid":11,"pid":10,
              "name":"a \"b\\","details":{"next":12,"next_name":null,"reason":"preempted"}})"));
  EXPECT_EQ(objects[2]["name"], Json());
  EXPECT_EQ(objects[2]["details"],
            Json::parse(R"({"waker":11,"waker_name":"a \"b\\","context":"softirq"})"));
  EXPECT_EQ(objects[3]["details"]["next_name"], "idle");
  EXPECT_EQ(objects[4]["cpu"], 0); // where it was logged
  EXPECT_EQ(objects[4]["details"]["cpu"], 3);
  EXPECT_EQ(objects[5]["details"]["mutex"], 0xfffffffc);
  EXPECT_EQ(objects[6]["details"]["mark"], R"(a "b" \ c)");
}

TEST(Dump, FitsTheLargestValues) {
  Catalog catalog;
  catalog.hosts.push_back({"h"});
  catalog.threads.push_back({.tid = UINT32_MAX, .name = std::string(1000, 'x')});
  catalog.cpus.push_back({.index = UINT16_MAX});
  const DumpLine line(catalog);
  char buffer[DumpLine::kMaxBytes];
  for (uint32_t code = 0; code < 512; code++) {
    for (const uint32_t thread : {0u, kNone}) { // kNone: parameter 1 is printed, too
      const Event event{.time = INT64_MAX,
                        .kind = code,
                        .thread = thread,
                        .cpu = 0,
                        .par2 = UINT32_MAX,
                        .par1 = UINT16_MAX};
      const char *end = line.put(buffer, event);
      EXPECT_LT(end, buffer + sizeof buffer);
      EXPECT_EQ(end[-1], '\n');
      const char *json_end = line.put_json(buffer, event);
      EXPECT_LT(json_end, buffer + sizeof buffer);
      EXPECT_TRUE(nlohmann::json::accept(std::string_view(buffer, size_t(json_end - buffer))));
    }
  }
  const Event stream{.kind = mcv('O', 'H', 'x')};
  EXPECT_EQ(std::string(buffer, line.put(buffer, stream)).find("  OHx "), 21u);
}

} // namespace
} // namespace ovnitrace
