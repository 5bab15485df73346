// SPDX-License-Identifier: BSD-2-Clause
// The language of --control: what it accepts, what it refuses and where its caret points.
#include "emulator/base/error.h"
#include "user/cli/no_region.h"
#include "user/control/instruction_groups.h"
#include "user/control/plan.h"

#include "tests/unit/support/chain_error.h"
#include "tests/unit/support/project_file.h"

#include <gtest/gtest.h>

namespace ovnitrace::control {
namespace {

using test::chain_error;

/// What the caret underlines.
std::string underlined(const std::string &chain) {
  const std::string text = chain_error({chain});
  const size_t third = text.rfind('\n'), second = text.rfind('\n', third - 1);
  if (text.empty() || second == text.npos)
    return "no caret";
  const std::string line = text.substr(second + 1, third - second - 1),
                    marks = text.substr(third + 1);
  const size_t at = marks.find('^');
  return at < line.size() ? line.substr(at, marks.size() - at) : "the end";
}

TEST(ControlGrammar, EveryExampleOfTheManual) {
  const std::vector<std::vector<std::string>> kExamples = {
      {"start:icount:100"},
      {"stop:address:foo:count3"},
      {"start:icount:100,repeat:3"},
      {"start:icount:100,repeat"},
      {"start:icount:100,stop:address:foo:count3,repeat:2"},
      {"precond:address:bar,start:address:foo,stop:icount:100000"},
      {"start:icount:100:tid3"},
      {"start:interactive:bcast,stop:interactive:bcast"},
      {"start:address:foo,stop:addres:bar"},
      {"start:icount:1000000,stop:icount:100000"},
      {"precond:ssc:11223344,start:address:foo,stop:addres:bar"},
      {"start:address:foo,bcast,stop:addres:bar,bcast"},
      {"start:address:foo:tid0,stop:addres:bar:tid0"},
      {"precond:icount:200,uniform:800:500:5"},
      {"precond:ssc:11223344,uniform:800:500:5"},
      {"precond:address:foo,precond:address:bar,repeat:2,name:c1", "start:address:boo,waitfor:c1"},
      {"start:enter_func:foo,stop:exit_func:foo"},
      {"start:enter_func:foo,stop:exit_func:bar"},
  };
  for (const auto &chains : kExamples)
    EXPECT_EQ(chain_error(chains), "") << chains[0];
}

TEST(ControlGrammar, EveryTypeWithItsExample) {
  for (const AlarmType &type : kAlarmTypes) {
    const std::string value = type.example.empty() ? "" : ":" + std::string(type.example);
    for (std::string_view name : {type.name, type.alias}) {
      if (name.empty())
        continue;
      const Chain chain = parse_chain("start:" + std::string(name) + value + ":count2:tid1:bcast");
      ASSERT_EQ(chain.alarms.size(), 1u) << name;
      EXPECT_EQ(chain.alarms[0].type, &type);
      EXPECT_EQ(chain.alarms[0].count, 2u);
      EXPECT_EQ(chain.alarms[0].tid, 1u);
      EXPECT_TRUE(chain.alarms[0].bcast);
      EXPECT_EQ(chain.alarms[0].value, type.example);
    }
  }
}

TEST(ControlGrammar, TheManualHasEveryTypeAndItsCost) {
  const std::string manual = test::project_file("docs/control.md");
  for (const AlarmType &type : kAlarmTypes) {
    EXPECT_NE(manual.find("`" + std::string(type.name)), manual.npos) << type.name;
    if (type.cost != kNoCost) {
      EXPECT_NE(manual.find("| " + std::string(type.cost) + " |"), manual.npos) << type.name;
    }
  }
}

TEST(ControlGrammar, EventsAndTokens) {
  const Chain chain =
      parse_chain("precond:int3,threadid:cpuid:0x12,stop:timeout:5:count7:global,waitfor:b,"
                  "repeat:9,name:a");
  ASSERT_EQ(chain.alarms.size(), 3u);
  EXPECT_EQ(chain.alarms[0].event, CONTROL_PRECOND);
  EXPECT_EQ(chain.alarms[1].event, CONTROL_THREADID);
  EXPECT_EQ(chain.alarms[1].number, 0x12u);
  EXPECT_EQ(chain.alarms[2].event, CONTROL_STOP);
  EXPECT_TRUE(chain.alarms[2].global);
  EXPECT_FALSE(chain.alarms[2].bcast);
  EXPECT_EQ(chain.repeat, 9u);
  EXPECT_EQ(chain.name, "a");
  EXPECT_EQ(chain.waitfor, "b");
  EXPECT_EQ(parse_chain("start:int3,repeat").repeat, 0u);
  EXPECT_EQ(parse_chain("start:int3").repeat, 1u);
}

TEST(ControlGrammar, NamesOfFunctionsMayHoldColonsAndCommas) {
  Chain chain = parse_chain("start:address:a::f(int, b<c,d>):count2,stop:address:libx.so+0x12");
  ASSERT_EQ(chain.alarms.size(), 2u);
  EXPECT_EQ(chain.alarms[0].value, "a::f(int, b<c,d>)");
  EXPECT_EQ(chain.alarms[0].count, 2u);
  EXPECT_EQ(chain.alarms[1].value, "libx.so+0x12");
  EXPECT_EQ(chain.alarms[1].number, 0x12u);
  EXPECT_EQ(parse_chain("start:address:/opt/lib+1.so+1f").alarms[0].number, 0x1fu);
  EXPECT_EQ(parse_chain("start:address:a::operator+").alarms[0].value, "a::operator+");
  EXPECT_EQ(parse_chain("start:address:0x401000").alarms[0].number, 0x401000u);
}

TEST(ControlGrammar, TheCaretIsUnderWhatIsWrong) {
  EXPECT_EQ(underlined("begin:address:foo"), "begin");
  EXPECT_EQ(underlined("start:adress:foo"), "adress");
  EXPECT_EQ(underlined("start:address:foo:cuont3"), "cuont3");
  EXPECT_EQ(underlined("start:address:foo:countx"), "x");
  EXPECT_EQ(underlined("start:address:foo:count0"), "0");
  EXPECT_EQ(underlined("start:int3:count1x,stop:int3"), "1x");
  EXPECT_EQ(underlined("start:address:foo:tid-1"), "-1");
  EXPECT_EQ(underlined("start:icount:ten,stop:int3"), "ten");
  EXPECT_EQ(underlined("start:icount:0"), "0");
  EXPECT_EQ(underlined("start:icount"), "the end");
  EXPECT_EQ(underlined("start:icount:"), "the end");
  EXPECT_EQ(underlined("start"), "the end");
  EXPECT_EQ(underlined("start:ssc:xyz"), "xyz");
  EXPECT_EQ(underlined("start:ssc:112233445"), "112233445");
  EXPECT_EQ(underlined("start:itext:0fa"), "0fa");
  EXPECT_EQ(underlined("start:magic:1"), "1");
  EXPECT_EQ(underlined("start:magic:1.x"), "1.x");
  EXPECT_EQ(underlined("start:cpuid:65536"), "65536");
  EXPECT_EQ(underlined("start:address:0xfg"), "0xfg");
  EXPECT_EQ(underlined("start:address:lib.so+g"), "lib.so+g");
  EXPECT_EQ(underlined("start:timeout:99999999999"), "99999999999");
  EXPECT_EQ(underlined("start:int3,,stop:int3"), ",");
  EXPECT_EQ(underlined(""), "the end");
  EXPECT_EQ(underlined("start:int3,"), "the end");
  EXPECT_EQ(underlined("start:int3,repeat:0"), "0");
  EXPECT_EQ(underlined("start:int3,repeat:2,stop:int3"), "stop");
  EXPECT_EQ(underlined("start:int3,repeat,repeat"), "repeat");
  EXPECT_EQ(underlined("start:int3,name:"), "the end");
  EXPECT_EQ(underlined("start:int3,name:a,name:b"), "b");
  EXPECT_EQ(underlined("repeat:2"), "repeat:2");
  EXPECT_EQ(underlined("start:int3:bcast:bcast"), "bcast");
  EXPECT_EQ(underlined("uniform:800:500"), "the end");
  EXPECT_EQ(underlined("start:int3,repeat0"), "0");
  EXPECT_EQ(underlined("start:int3,repeatx"), "x");
  EXPECT_EQ(underlined("start:int3,repeat2:3"), ":");
  EXPECT_EQ(underlined("uniform:5:5:1:bcast"), ":");
  EXPECT_EQ(underlined("start:int3,name:a:b"), ":");
}

TEST(ControlGrammar, ConflictingPartsAreRefused) {
  EXPECT_EQ(underlined("start:int3:count2:tid1:global,stop:int3"), "start:int3:count2:tid1:global");
  EXPECT_NE(chain_error({"start:int3:tid1:count2:global"}).find("tid and global"),
            std::string::npos);
  EXPECT_EQ(underlined("uniform:8:5:1,uniform:9:5:1"), "uniform:9:5:1");
  EXPECT_EQ(underlined("start:icount:9223372036854775807:count3"),
            "start:icount:9223372036854775807:count3");
  EXPECT_NE(chain_error({"uniform:8:5:65536,repeat:65536"}), "");
  EXPECT_EQ(chain_error({"uniform:8:5:65535,repeat:65535"}), "");
}

TEST(ControlGrammar, GlobalNeedsNoCount) {
  for (const char *alarm : {"address:foo", "timeout:1", "int3", "icount:100", "interactive"}) {
    EXPECT_EQ(chain_error({"start:" + std::string(alarm) + ":global"}), "") << alarm;
    EXPECT_EQ(make_plan({"start:" + std::string(alarm) + ":global"}).alarm_table[0].flags,
              CONTROL_GLOBAL);
  }
}

TEST(ControlGrammar, RepeatTakesItsNumberWithAndWithoutAColon) {
  EXPECT_EQ(parse_chain("start:int3,repeat2").repeat, 2u);
  EXPECT_EQ(parse_chain("start:int3,repeat:2").repeat, 2u);
  EXPECT_EQ(parse_chain("start:int3,repeat12,name:a").repeat, 12u);
}

TEST(ControlGroups, HaveTheNamesOfXed) {
  for (const char *name : {"3DNOW", "3dnow", "AMD3DNOW", "PTWRITE", "AVX2"})
    EXPECT_EQ(why_no_group(CONTROL_ISA_EXTENSION, name), "") << name;
  for (const char *name : {"3DNOW", "PTWRITE", "VIA_PADLOCK", "X87_ALU", "x87-alu"})
    EXPECT_EQ(why_no_group(CONTROL_ISA_CATEGORY, name), "") << name;
  EXPECT_NE(why_no_group(CONTROL_ISA_EXTENSION, "VIA_PADLOCK"), "") << "a category only";
  // The decoder may be too old for it: its version is said.
  EXPECT_NE(why_no_group(CONTROL_ISA_CATEGORY, "AVX2000").find("Zydis "), std::string::npos);
}

TEST(ControlPlan, SamplesThatOverlapAreOneRegion) {
  const Plan plan = make_plan({"uniform:500:800:3"});
  ASSERT_EQ(plan.alarm_table.size(), 2u);
  EXPECT_EQ(plan.chain_table[0].loops, 1u);
  EXPECT_EQ(plan.alarm_table[0].event, CONTROL_START);
  EXPECT_EQ(plan.alarm_table[1].event, CONTROL_STOP);
  EXPECT_EQ(plan.alarm_table[1].count, 2 * 500u + 800u);
  EXPECT_NE(in_words(plan, 0).find("after 1800 instructions"), std::string::npos);
  EXPECT_EQ(underlined("uniform:9223372036854775806:9223372036854775807:3"),
            "uniform:9223372036854775806:9223372036854775807:3");
}

TEST(ControlPlan, AnAddressIsKnownAndAnOffsetIsNot) {
  const Plan plan = make_plan({"start:address:0x401000,stop:address:app+10"});
  EXPECT_EQ(plan.alarm_table[0].value, 0x401000u);
  EXPECT_EQ(plan.alarm_table[1].value, 0u);
}

TEST(ControlPlan, ChainsThatWait) {
  EXPECT_EQ(chain_error({"start:int3,waitfor:b", "stop:int3,name:b"}), "") << "the order is free";
  EXPECT_EQ(underlined("start:int3,waitfor:b"), "b");
  EXPECT_NE(chain_error({"start:int3,name:a,waitfor:a"}).find("waits for itself"),
            std::string::npos);
  EXPECT_NE(chain_error({"start:int3,name:a,waitfor:b", "start:int3,name:b,waitfor:a"})
                .find("waits for itself"),
            std::string::npos);
  EXPECT_NE(chain_error({"start:int3,name:a", "stop:int3,name:a"}), "");
}

TEST(ControlPlan, LimitsAreExact) {
  std::vector<std::string> chains(CONTROL_CHAINS, "start:int3");
  EXPECT_EQ(chain_error(chains), "");
  chains.push_back("start:int3");
  EXPECT_NE(chain_error(chains), "");
  std::string chain = "start:int3";
  for (size_t n = 1; n < CONTROL_ALARMS; n++)
    chain += ",stop:int3";
  EXPECT_EQ(chain_error({chain}), "");
  EXPECT_NE(chain_error({chain + ",stop:int3"}), "");
}

TEST(ControlPlan, FillsTheTablesOfTheBpfPrograms) {
  const Plan plan = make_plan({"precond:icount:200:count3,uniform:800:500:5,repeat:2,name:c",
                               "start:magic:7.9,stop:timeout:5:bcast,waitfor:c"});
  ASSERT_EQ(plan.chain_table.size(), 2u);
  const control_chain &first = plan.chain_table[0], &second = plan.chain_table[1];
  EXPECT_EQ(first.first, 0u);
  EXPECT_EQ(first.alarms, 3u);
  EXPECT_EQ(first.repeat, 2u);
  EXPECT_EQ(first.loop, 1u);
  EXPECT_EQ(first.loops, 5u);
  EXPECT_EQ(first.waiters, 2u);
  EXPECT_EQ(second.first, 3u);
  EXPECT_EQ(second.loops, 1u);
  EXPECT_TRUE(second.waits);
  EXPECT_EQ(plan.alarm_table[0].count, 600u);
  EXPECT_EQ(plan.alarm_table[1].count, 300u);
  EXPECT_EQ(plan.alarm_table[1].flags, CONTROL_BCAST | CONTROL_IMMEDIATE);
  EXPECT_EQ(plan.alarm_table[1].event, CONTROL_START);
  EXPECT_EQ(plan.alarm_table[2].count, 500u);
  EXPECT_EQ(plan.alarm_table[2].event, CONTROL_STOP);
  EXPECT_EQ(plan.alarm_table[3].value, 9ull << 32 | 7);
  EXPECT_EQ(plan.alarm_table[4].value, 5'000'000'000u);
  EXPECT_EQ(plan.chain_of, (std::vector<uint32_t>{0, 0, 0, 1, 1}));
  EXPECT_TRUE(plan.has_start());
  EXPECT_FALSE(make_plan({"stop:int3"}).has_start());
}

TEST(ControlPlan, AStringOfPcontrolIsKeptWhole) {
  const std::string longest(63, 'x');
  const Plan plan = make_plan({"start:pcontrol:" + longest});
  EXPECT_EQ(std::string(plan.alarm_table[0].text), longest);
  EXPECT_NE(chain_error({"start:pcontrol:x" + longest}).find("a string of less than 64 bytes"),
            std::string::npos);
}

TEST(ControlPlan, IsExplainedInWords) {
  const Plan plan = make_plan({"precond:ssc:11223344,start:address:foo:count3:tid0,"
                               "stop:icount:100:bcast,repeat:2,name:c1,waitfor:c0",
                               "stop:interactive,name:c0"});
  EXPECT_EQ(in_words(plan, 0),
            "chain 1 c1:\n"
            "  once the chain c0 has finished\n"
            "  1. when the ssc marker 0x11223344 is executed, counted in each thread by itself: "
            "the next alarm is armed\n"
            "  2. when the instruction at foo is executed for the 3. time, in thread 0 only: the "
            "region starts\n"
            "  3. when 100 instructions have been executed since, counted in each thread by "
            "itself: the region stops; what follows is armed for all threads\n"
            "  2 times in all\n");
}

TEST(NoRegion, NamesTheAlarmsThatShouldHaveStartedOne) {
  EXPECT_EQ(no_region_text({"start:enter_func:f,stop:exit_func:f,repeat"}, {"./app", "x"}),
            "no region started, so nothing was recorded. Never fired: start:enter_func:f. "
            "`ovnitrace control --check 'start:enter_func:f,stop:exit_func:f,repeat' -- ./app` "
            "shows where the probes are set");
  const std::string chain = "precond:ssc:1,precond:ssc:2,start:address:g:count3";
  EXPECT_EQ(no_region_text({chain, "start:timeout:60"}, {}),
            "no region started, so nothing was recorded. Never fired: start:address:g:count3 "
            "(after precond:ssc:1, precond:ssc:2); start:timeout:60. `ovnitrace control --check '" +
                chain + "' 'start:timeout:60'` shows where the probes are set");
}

} // namespace
} // namespace ovnitrace::control
