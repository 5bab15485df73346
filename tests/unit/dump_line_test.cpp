// SPDX-License-Identifier: BSD-2-Clause
// A line of `ovnitrace dump`, of events on the second of two hosts, and of those that no trace has.
#include "emulator/dump/dump_line.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

class DumpLines : public ::testing::Test {
protected:
  DumpLines() {
    catalog.hosts = {{.name = "one"}, {.name = "two"}};
    catalog.hosts[0].peers = {{.tid = 900, .name = "wrong"}};
    catalog.hosts[0].idle_states = {"A", "B", "C"};
    catalog.hosts[0].marks = {{.time_ns = 1, .text = "of one"}};
    catalog.hosts[1].peers = {{.tid = 899, .name = "other"}, {.tid = 900, .name = "re \"dis"}};
    catalog.hosts[1].idle_states = {"POLL", "C 1"};
    catalog.hosts[1].marks = {{.time_ns = 1, .text = "first"}, {.time_ns = 2, .text = "a \"b"}};
    catalog.cpus = {{.index = 3, .host = 0}, {.index = 12, .host = 1}};
    catalog.threads = {{.tid = 11, .pid = 10, .name = "a"},
                       {.tid = 22, .pid = 20, .host = 1, .name = "b c"},
                       {.tid = 33, .pid = 33, .host = 1, .name = ""}};
    catalog.begin = 2'000'000'000;
  }

  std::string text(const Event &event) const {
    char buffer[DumpLine::kMaxBytes];
    return std::string(buffer, DumpLine(catalog).put(buffer, event));
  }
  std::string json(const Event &event) const {
    char buffer[DumpLine::kMaxBytes];
    return std::string(buffer, DumpLine(catalog).put_json(buffer, event));
  }
  static Event event(uint32_t kind, uint64_t time = 2'000'000'000) {
    return {.time = time, .kind = kind, .thread = 1, .cpu = 1};
  }

  Catalog catalog;
};

TEST_F(DumpLines, CountTimeFromTheBeginBothWays) {
  Event none = event(FTrace_EVT_trace_stop, 500'000'000);
  none.thread = kNone;
  none.cpu = kNone;
  EXPECT_EQ(text(none), "    -1.500000000    -  trace_stop           -\n");
  EXPECT_EQ(json(none), "{\"schema\":1,\"time_ns\":-1500000000,\"cpu\":null,"
                        "\"event\":\"trace_stop\",\"details\":{}}\n");
  none.time = 1'999'999'999;
  EXPECT_EQ(text(none), "    -0.000000001    -  trace_stop           -\n");
  none.time = 2'000'000'000;
  none.cpu = 2; // beyond the two that there are
  EXPECT_EQ(text(none), "     0.000000000    -  trace_stop           -\n");
  none.time = 123'458'000'000'010;
  none.cpu = 0;
  EXPECT_EQ(text(none), "123456.000000010    3  trace_stop           -\n");
}

TEST_F(DumpLines, HaveTheThreadInItsColumn) {
  EXPECT_EQ(text(event(FTrace_EVT_task_end)),
            "     0.000000000   12  task_end             b_c(22)\n");
  EXPECT_EQ(json(event(FTrace_EVT_task_end)),
            "{\"schema\":1,\"time_ns\":0,\"cpu\":12,\"event\":\"task_end\",\"tid\":22,\"pid\":20,"
            "\"name\":\"b c\",\"details\":{}}\n");
  Event nameless = event(FTrace_EVT_task_end);
  nameless.thread = 2;
  EXPECT_EQ(text(nameless), "     0.000000000   12  task_end             ?(33)\n");
  EXPECT_NE(json(nameless).find("\"tid\":33,\"pid\":33,\"name\":null,"), std::string::npos);
}

TEST_F(DumpLines, NamePeersOfTheHostOfTheirCpu) {
  Event sleep = event(FTrace_EVT_task_epilogue);
  sleep.par2 = 900 | FTRACE_OFFCPU_PREEMPTED << FTRACE_REASON_SHIFT;
  EXPECT_EQ(text(sleep), "     0.000000000   12  task_epilogue        b_c(22)                  "
                         "next=re_\"dis(900) reason=preempted\n");
  EXPECT_NE(json(sleep).find("\"details\":{\"next\":900,\"next_name\":\"re \\\"dis\","
                             "\"reason\":\"preempted\"}"),
            std::string::npos)
      << json(sleep);
  sleep.cpu = 0;
  EXPECT_NE(text(sleep).find("next=wrong(900)"), std::string::npos);
  sleep.cpu = kNone;
  EXPECT_NE(text(sleep).find("next=900 "), std::string::npos) << "each host has its own threads";
  EXPECT_NE(json(sleep).find("\"next\":900,\"next_name\":null,"), std::string::npos);
  sleep.peer = 0;
  EXPECT_NE(text(sleep).find("next=a(11)"), std::string::npos) << text(sleep);
}

TEST_F(DumpLines, NameIdleStatesOfTheHostOfTheirCpu) {
  Event idle = event(FTrace_EXT_idle_start);
  idle.thread = kNone;
  idle.par2 = 1;
  EXPECT_EQ(text(idle), "     0.000000000   12  EXT_idle_start       -                        "
                        "state=1 name=C_1\n");
  EXPECT_NE(json(idle).find("\"details\":{\"state\":1,\"name\":\"C 1\"}"), std::string::npos)
      << json(idle);
  idle.par2 = 2;
  EXPECT_EQ(text(idle), "     0.000000000   12  EXT_idle_start       -                        "
                        "state=2\n");
  idle.cpu = 0;
  EXPECT_NE(text(idle).find("state=2 name=C\n"), std::string::npos);
  idle.cpu = 2;
  EXPECT_NE(text(idle).find("state=2\n"), std::string::npos);
}

TEST_F(DumpLines, NameMarksOfTheHostOfTheirCpu) {
  Event mark = event(FTrace_EXT_mark);
  mark.par1 = 2;
  EXPECT_NE(text(mark).find("mark=a_\"b\n"), std::string::npos) << text(mark);
  EXPECT_NE(json(mark).find("\"details\":{\"mark\":\"a \\\"b\"}"), std::string::npos) << json(mark);
  mark.par1 = 1;
  mark.cpu = 0;
  EXPECT_NE(text(mark).find("mark=of_one\n"), std::string::npos) << text(mark);
  mark.cpu = 2;
  EXPECT_NE(text(mark).find("mark=of_one\n"), std::string::npos) << "the first host's";
}

TEST_F(DumpLines, SayPrioritiesAsUsersGiveThem) {
  const auto details = [&](uint32_t kernels) {
    Event dispatch = event(FTrace_EVT_task_dispatch);
    dispatch.par2 = kernels + FTRACE_PRIO_BIAS;
    const std::string line = text(dispatch), object = json(dispatch);
    const size_t from = object.find("details") + 9;
    return line.substr(69, line.size() - 70) + " " + object.substr(from, object.size() - from - 2);
  };
  EXPECT_EQ(details(-1u), "priority=deadline {\"priority\":-1,\"class\":\"deadline\"}");
  EXPECT_EQ(details(0), "priority=99 {\"priority\":0,\"rt_priority\":99}");
  EXPECT_EQ(details(99), "priority=0 {\"priority\":99,\"rt_priority\":0}");
  EXPECT_EQ(details(100), "priority=0 nice=-20 {\"priority\":100,\"nice\":-20}");
  EXPECT_EQ(details(139), "priority=0 nice=19 {\"priority\":139,\"nice\":19}");
}

TEST_F(DumpLines, ANameHasSixtyFourBytesAtMostAndIsOneWord) {
  catalog.threads[1].name = "a b\n" + std::string(70, 'x');
  const std::string line = text(event(FTrace_EVT_task_end)),
                    object = json(event(FTrace_EVT_task_end));
  EXPECT_NE(line.find(" a_b"), std::string::npos) << line;
  EXPECT_NE(line.find(std::string(60, 'x') + "(22)\n"), std::string::npos) << line;
  EXPECT_EQ(line.find(std::string(61, 'x')), std::string::npos) << line;
  EXPECT_NE(object.find("\"name\":\"a b"), std::string::npos) << object;
  EXPECT_NE(object.find(std::string(60, 'x') + "\",\"details\""), std::string::npos) << object;
}

TEST_F(DumpLines, ABackslashInANameIsEscapedInJsonOnly) {
  catalog.threads[1].name = "a\\\"b";
  EXPECT_NE(text(event(FTrace_EVT_task_end)).find(" a\\\"b(22)\n"), std::string::npos);
  EXPECT_NE(json(event(FTrace_EVT_task_end)).find("\"name\":\"a\\\\\\\"b\""), std::string::npos)
      << json(event(FTrace_EVT_task_end));
}

TEST_F(DumpLines, AStrangersEventIsNoQuote) {
  Event strange = event(mcv('"', '\\', 'x'));
  EXPECT_NE(json(strange).find("\"event\":\"??x\","), std::string::npos) << json(strange);
  EXPECT_NE(text(strange).find("  \"\\x  "), std::string::npos) << text(strange);
}

TEST_F(DumpLines, ASignalWithoutASenderIsOfTheKernel) {
  Event signal = event(FTrace_EVT_signal);
  EXPECT_NE(text(signal).find("=kernel(0)"), std::string::npos) << text(signal);
  EXPECT_NE(json(signal).find("_name\":\"kernel\""), std::string::npos) << json(signal);
}

} // namespace
} // namespace ovnitrace
