// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace dump`: names of events, lines, and the program around them.
#include "emulator/base/unique_fd.h"
#include "emulator/cli/commands.h"
#include "emulator/cli/run.h"
#include "emulator/dump/callers.h"
#include "emulator/dump/dump_line.h"
#include "emulator/format/code_kind.h"
#include "emulator/format/event_names.h"
#include "emulator/open/open_trace.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/shark_builder.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <regex>
#include <set>
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
  const DumpLine line(source->catalog());
  Callers callers(source->catalog());
  std::string text;
  char buffer[DumpLine::kMaxBytes];
  for (Event event; source->next(event);) {
    callers.find(event);
    text.append(buffer, line.put(buffer, event));
  }
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
      .record(FTrace_EXT_exit, 2, 256)
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
    12.345678901    0  EXT_exit             a_worker(4322)           status=256
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

/// Numbers as their bits stand in docs/format.md, written out here by hand.
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

TEST(Dump, WhatAProgramLogsIsOfTheThreadThatRunsThere) {
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
  trace.cpu(0).at(1000).start().id(1, 11, 10, "a \"b\\").id(2, 12, 10, "");
  trace.cpu(0).at(2000).epilogue(1, 12).activate(2, 11, FTRACE_WAKER_SOFTIRQ).sleep(2);
  trace.cpu(0).migrate(1, 3).record(FTrace_EVT_mutex_wait, 1, 0xfffffffc).stop();
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
  ASSERT_EQ(objects.size(), 7u);
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
}

TEST(Dump, FitsTheLargestValues) {
  Catalog catalog;
  catalog.threads.push_back({.tid = UINT32_MAX, .name = std::string(1000, 'x')});
  catalog.cpus.push_back({.index = UINT16_MAX});
  const DumpLine line(catalog);
  char buffer[DumpLine::kMaxBytes];
  for (uint32_t code = 0; code < 512; code++) {
    const Event event{.time = INT64_MAX, .kind = code, .thread = 0, .cpu = 0, .par2 = UINT32_MAX};
    const char *end = line.put(buffer, event);
    EXPECT_LT(end, buffer + sizeof buffer);
    EXPECT_EQ(end[-1], '\n');
    const char *json_end = line.put_json(buffer, event);
    EXPECT_LT(json_end, buffer + sizeof buffer);
    EXPECT_TRUE(nlohmann::json::accept(std::string_view(buffer, size_t(json_end - buffer))));
  }
  const Event stream{.kind = mcv('O', 'H', 'x')};
  EXPECT_EQ(std::string(buffer, line.put(buffer, stream)).find("  OHx "), 21u);
}

/// What a command line gives.
struct Ran {
  int status;
  std::string out, err;
};

Ran run(std::vector<std::string> arguments) {
  const RootApp app("", "ovnitrace");
  app.require_subcommand(1, 1);
  add_info(app);
  add_dump(app);
  arguments.insert(arguments.begin(), "ovnitrace");
  std::vector<char *> argv;
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int status = run_cli(app, int(argv.size()), argv.data());
  std::string out = testing::internal::GetCapturedStdout();
  return {status, std::move(out), testing::internal::GetCapturedStderr()};
}

/// While it lives, standard output is another file.
class StdoutTo {
public:
  explicit StdoutTo(int fd) : saved_(dup(STDOUT_FILENO)) { dup2(fd, STDOUT_FILENO); }
  ~StdoutTo() {
    dup2(saved_, STDOUT_FILENO);
    close(saved_);
  }

private:
  int saved_;
};

TraceBuilder &whole_trace(TraceBuilder &trace) {
  trace.json("{\"version\": 1}").cpu(0).at(5).start().id(1, 7, 7, "a").dispatch(1).stop();
  return trace;
}

TEST(CommandLine, SeveralFilesOfOneTracerAreOneTimeline) {
  TempDir dir;
  test::SharkBuilder first, second;
  first.at(0).rate(1000000).id(1, 7).context_switch(1);
  second.at(5).record(FTrace_EVT_task_end, 1, 7);
  first.write(dir / "0.dat");
  second.write(dir / "1.dat");
  const Ran dumped = run({"dump", dir / "1.dat", dir / "0.dat"});
  EXPECT_EQ(dumped.status, 0) << dumped.err;
  EXPECT_LT(dumped.out.find("context_switch"), dumped.out.find("task_end"));
  const Ran info = run({"info", "--json", dir / "0.dat", dir / "1.dat"});
  const auto json = nlohmann::json::parse(info.out);
  EXPECT_EQ(json["trace"], (dir / "0.dat") + " " + (dir / "1.dat"));
  EXPECT_EQ(json["duration_ns"], 5);
}

TEST(CommandLine, EndsWithTheRightStatus) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  whole_trace(trace).write();
  for (const char *command : {"dump", "info"}) {
    const Ran good = run({command, dir.path()});
    EXPECT_EQ(good.status, 0);
    EXPECT_NE(good.out.find(command == std::string("dump") ? "a(7)" : "a (7)"), std::string::npos);
    EXPECT_EQ(good.err, "");
    const Ran help = run({command, "--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_NE(help.out.find("Examples:"), std::string::npos);
    const Ran missing = run({command, dir / "none"});
    EXPECT_EQ(missing.status, 1);
    EXPECT_EQ(missing.err.find("ovnitrace: cannot open the trace"), 0u) << missing.err;
    const Ran unknown = run({command, dir.path(), "--colour"});
    EXPECT_EQ(unknown.status, 2);
    EXPECT_NE(unknown.err.find("--colour"), std::string::npos);
    EXPECT_EQ(run({command}).status, 2);
  }
  EXPECT_EQ(run({}).status, 2);
}

/// The third columns of what is printed.
std::string events_of(std::vector<std::string> arguments) {
  const Ran ran = run(std::move(arguments));
  EXPECT_EQ(ran.status, 0) << ran.err;
  std::istringstream lines(ran.out);
  std::string all;
  for (std::string line; std::getline(lines, line);) {
    std::string time, cpu, event;
    std::istringstream(line) >> time >> cpu >> event;
    all += event + ' ';
  }
  return all;
}

TEST(CommandLine, DumpTakesTheCutOfConvert) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  auto &cpu =
      trace.json("{\"version\": 1}").cpu(0).at(500).id(1, 11, 10, "one").id(2, 22, 20, "two");
  cpu.snapshot(1, 1, 0).at(1000).start().at(1100).epilogue(1, 22).dispatch(2);
  cpu.at(1200).sleep(2, 11).dispatch(1).at(1300).migrate(2, 0).end(1).at(1400).stop();
  trace.write();
  const std::string &path = dir.path();
  EXPECT_EQ(events_of({"dump", path}),
            "EXT_snapshot trace_start task_epilogue task_dispatch task_sleep task_dispatch "
            "EXT_migrate task_end trace_stop ");
  EXPECT_EQ(events_of({"dump", "--from", "100ns", "--to", "200ns", path}),
            "task_epilogue task_dispatch task_sleep task_dispatch ");
  EXPECT_EQ(events_of({"dump", "--from=101ns", "--to=199ns", path}), "");
  EXPECT_EQ(events_of({"dump", "--to", "0ns", path}), "EXT_snapshot trace_start ");
  const char *const one =
      "EXT_snapshot trace_start task_epilogue task_dispatch task_end trace_stop ";
  EXPECT_EQ(events_of({"dump", "--pid", "10", path}), one);
  EXPECT_EQ(events_of({"dump", "--tid", "11,33", path}), one);
  EXPECT_EQ(events_of({"dump", "--comm", "o*", path}), one);
}

TEST(CommandLine, ACutThatCannotBeIsRefusedByItsOption) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  whole_trace(trace).write();
  for (const char *command : {"dump", "info"}) {
    const Ran no_time = run({command, "--from", "3 parsecs", dir.path()});
    EXPECT_EQ(no_time.status, 2);
    EXPECT_NE(no_time.err.find("--from: '3 parsecs' is no time"), std::string::npos) << no_time.err;
    EXPECT_EQ(run({command, "--from", "2s", "--to", "1s", dir.path()}).status, 2);
    EXPECT_EQ(run({command, "--from", "2s", dir.path()}).status, 2); // it lasts 0 s
    const Ran nobody = run({command, "--tid", "8", dir.path()});
    EXPECT_EQ(nobody.status, 1);
    EXPECT_NE(nobody.err.find("no thread of the trace is in the cut"), std::string::npos);
  }
}

TEST(CommandLine, PrintsAllThatIsLeftOfADamagedTrace) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  const auto &records = whole_trace(trace).cpu(0).records();
  trace.write();
  TraceBuilder::write_file(trace.file(0), records.data(), (records.size() - 1) * 16 + 5);
  const Ran cut = run({"dump", dir.path()});
  EXPECT_EQ(cut.status, 1);
  EXPECT_EQ(std::count(cut.out.begin(), cut.out.end(), '\n'), 3);
  EXPECT_NE(cut.out.find("blackout_start"), std::string::npos) << "last, as trace_stop is missing";
  EXPECT_NE(cut.err.find("the file was cut"), std::string::npos) << cut.err;
}

TEST(CommandLine, ReportsAFullDiskButNotAReaderThatWentAway) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  whole_trace(trace).write();
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  close(pipe_ends[0]); // as `| head` leaves it
  const UniqueFd gone(pipe_ends[1]), full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  for (const char *command : {"dump", "info"}) {
    const RootApp app("", "ovnitrace");
    add_info(app);
    add_dump(app);
    std::string path = dir.path(), name = command, program = "ovnitrace";
    char *argv[] = {program.data(), name.data(), path.data()};
    {
      StdoutTo to(gone.get());
      EXPECT_EQ(run_cli(app, 3, argv), 0);
    }
    testing::internal::CaptureStderr();
    {
      StdoutTo to(full.get());
      EXPECT_EQ(run_cli(app, 3, argv), 1);
    }
    EXPECT_NE(testing::internal::GetCapturedStderr().find("No space left"), std::string::npos);
  }
}

} // namespace
} // namespace ovnitrace
