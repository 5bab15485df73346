// SPDX-License-Identifier: BSD-2-Clause
// What --control says of chains: the whole messages of what is wrong at each exact limit, and plans
// in words.
#include "tests/unit/support/chain_error.h"
#include "user/control/plan.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace ovnitrace::control {
namespace {

/// The first line of the usage error that the chains make; empty: none.
std::string refusal(const std::vector<std::string> &chains) {
  const std::string text = test::chain_error(chains);
  EXPECT_TRUE(text.empty() || text.starts_with("--control: ")) << text;
  return text.empty() ? "" : text.substr(11, text.find('\n') - 11);
}

using Cases = std::vector<std::pair<std::string, std::string>>;

void expect_refusals(const Cases &cases) {
  for (const auto &[chain, why] : cases)
    EXPECT_EQ(refusal({chain}), why) << chain;
}

TEST(ControlMessages, OfWords) {
  expect_refusals({
      {"begin:int3", "'begin' is not an event: write start, stop, threadid, precond or uniform; "
                     "after the alarms, repeat, name or waitfor"},
      {"start", "the alarm of start is missing, as start:address:foo"},
      {"stop", "the alarm of stop is missing, as stop:address:foo"},
      {"start:int4", "'int4' is no type of alarm: one of icount, address, ssc, itext, "
                     "isa-extension, isa-category, int3, magic, cpuid, pcontrol, enter_func, "
                     "exit_func, interactive, timeout is expected"},
      {"start:int3,", "an alarm is missing: EVENT:TYPE[:VALUE] is expected, as start:address:foo"},
      {"repeat:2", "the chain has no alarms"},
      {"start:int3,repeat,repeat", "the chain has a second repeat"},
      {"start:int3,repeat2,repeat:2", "the chain has a second repeat"},
      {"start:int3,repeatx", "'x' is no number of rounds: a whole number of 1 or more is expected"},
      {"start:int3,repeat:0",
       "'0' is no number of rounds: a whole number of 1 or more is expected"},
      {"start:int3,repeat:", "number of rounds is missing"},
      {"start:int3,name", "name:NAME is expected"},
      {"start:int3,waitfor", "waitfor:NAME is expected"},
      {"start:int3,name:", "the name of name is missing"},
      {"start:int3,waitfor:", "the name of waitfor is missing"},
      {"start:int3,name:a,name:b", "the chain has a second name"},
      {"start:int3,waitfor:a,waitfor:b", "the chain has a second waitfor"},
      {"start:int3,name:a:b", "a comma or the end is expected"},
      {"start:int3,repeat:2,stop:int3", "after repeat, name or waitfor, no alarm can follow"},
      {"start:int3,name:a,stop:int3", "after repeat, name or waitfor, no alarm can follow"},
      {"start:int3,waitfor:a,stop:int3", "after repeat, name or waitfor, no alarm can follow"},
  });
}

TEST(ControlMessages, OfNumbers) {
  expect_refusals({
      {"start:icount", "the value of icount is missing: as icount:1000000"},
      {"start:icount:", "the value of icount is missing; write, for example, icount:1000000"},
      {"start:icount:0", "'0' is no value of icount: a whole number of 1 or more is expected"},
      {"start:icount:1", ""},
      {"start:icount:9223372036854775807", ""},
      {"start:icount:9223372036854775808",
       "'9223372036854775808' is no value of icount: a whole number of 1 or more is expected"},
      {"start:icount:3:count6148914691236517205", ""},
      {"start:icount:3:count6148914691236517206", "this number of instructions is too large"},
      {"start:timeout:31622400", ""},
      {"start:timeout:31622401", "the timeout is longer than a year"},
      {"start:icount:31622401", ""},
  });
}

TEST(ControlMessages, OfUniform) {
  expect_refusals({
      {"uniform", "PERIOD of uniform is missing: uniform:PERIOD:LENGTH:COUNT"},
      {"uniform:8", "LENGTH of uniform is missing: uniform:PERIOD:LENGTH:COUNT"},
      {"uniform:8:5", "COUNT of uniform is missing: uniform:PERIOD:LENGTH:COUNT"},
      {"uniform:8::1", "LENGTH of uniform is missing"},
      {"uniform:0:5:1", "'0' is no PERIOD of uniform: a whole number of 1 or more is expected"},
      {"uniform:8:5:0", "'0' is no COUNT of uniform: a whole number of 1 or more is expected"},
      {"uniform:8:5:1:bcast", "uniform takes no suffix: a comma or the end is expected"},
      {"uniform:8:5:1,uniform:8:5:1", "the chain has a second uniform: at most one is allowed"},
      {"start:int3,uniform:8:5:1", ""},
      {"uniform:4611686018427387903:1:3", ""},
      {"uniform:4611686018427387903:2:3", "this number of instructions is too large"},
      {"uniform:8:5:4294967295", ""},
      {"uniform:8:5:4294967296", "repeat and uniform make more than 2^32 rounds"},
      {"uniform:8:5:5,repeat:858993459", ""},
      {"uniform:8:5:5,repeat:858993460", "repeat and uniform make more than 2^32 rounds"},
      {"start:int3,repeat:4294967295", ""},
      {"start:int3,repeat:4294967296", "repeat and uniform make more than 2^32 rounds"},
  });
}

TEST(ControlMessages, OfValues) {
  const std::string ssc = " is no value of ssc: a hexadecimal number of up to 8 digits is "
                          "expected, as 11223344",
                    itext = " is no value of itext: the hexadecimal bytes of an instruction, up to "
                            "15, is expected, as 0fa2",
                    magic = " is no value of magic: two numbers with a dot between them is "
                            "expected, as 1.2",
                    cpuid = " is no value of cpuid: a number below 65536 is expected, as 0x12";
  expect_refusals({
      {"start:ssc:ffffffff", ""},
      {"start:ssc:0xffffffff", ""},
      {"start:ssc:000000001", "'000000001'" + ssc},
      {"start:ssc:g", "'g'" + ssc},
      {"start:itext:" + std::string(30, 'f'), ""},
      {"start:itext:" + std::string(32, 'f'), "'" + std::string(32, 'f') + "'" + itext},
      {"start:itext:fff", "'fff'" + itext},
      {"start:itext:0x", "'0x'" + itext},
      {"start:itext:0g", "'0g'" + itext},
      {"start:itext:0X0123456789abcdefABCDEF", ""},
      {"start:magic:4294967295.4294967295", ""},
      {"start:magic:4294967296.1", "'4294967296.1'" + magic},
      {"start:magic:1.4294967296", "'1.4294967296'" + magic},
      {"start:magic:1", "'1'" + magic},
      {"start:magic:.1", "'.1'" + magic},
      {"start:cpuid:65535", ""},
      {"start:cpuid:0xFFFF", ""},
      {"start:cpuid:0x10000", "'0x10000'" + cpuid},
      {"start:cpuid:ff", "'ff'" + cpuid},
      {"start:address:0xfg", "'0xfg' is no value of address: a hexadecimal address is expected, as "
                             "foo"},
      {"start:address:a+g", "'a+g' is no value of address: the offset, hexadecimal, behind the + "
                            "of IMAGE+OFFSET is expected, as foo"},
      {"start:address:::foo", "the value of address is missing; write, for example, address:foo"},
      {"start:pcontrol:" + std::string(63, 'x'), ""},
      {"start:pcontrol:" + std::string(64, 'x'), "'" + std::string(64, 'x') +
                                                     "' is no value of pcontrol: a string of less "
                                                     "than 64 bytes is expected, as roi"},
      {"start:enter_func:", "the value of enter_func is missing; write, for example, "
                            "enter_func:foo"},
  });
}

TEST(ControlMessages, OfSuffixes) {
  expect_refusals({
      {"start:int3:cuont3", "'cuont3' is no suffix of an alarm: countN, tidN, bcast or global is "
                            "expected"},
      {"start:int3:bcast:bcast", "'bcast' is given twice"},
      {"start:int3:bcast,bcast", "'bcast' is given twice"},
      {"start:int3:global:global", "'global' is given twice"},
      {"start:int3:count2:count3", "'count3' is given twice"},
      {"start:int3:tid0:tid0", "'tid0' is given twice"},
      {"start:int3:countx",
       "'x' is no number behind count: a whole number of 1 or more is expected"},
      {"start:int3:count", "number behind count is missing"},
      {"start:int3:count1", ""},
      {"start:int3:tid-1", "'-1' is no number behind tid: a whole number of 0 or more is expected"},
      {"start:int3:tid4294967295", ""},
      {"start:int3:tid4294967296", "the tid is too large"},
      {"start:int3:tid1:global", "tid and global exclude each other: tid counts the hits of one "
                                 "thread, global those of all"},
  });
}

TEST(ControlMessages, OfSeveralChains) {
  EXPECT_EQ(refusal({"start:int3,waitfor:b"}), "no chain has the name 'b'");
  EXPECT_EQ(refusal({"start:int3,name:a", "stop:int3,name:a"}), "another chain has this name");
  EXPECT_EQ(refusal({"start:int3,name:a,waitfor:a"}),
            "the chain waits for itself, through the chains that it waits for");
  EXPECT_EQ(
      refusal({"start:int3,name:a,waitfor:b", "start:int3,name:b,waitfor:c", "start:int3,name:c"}),
      "");
  EXPECT_EQ(refusal(std::vector<std::string>(17, "start:int3")), "there are more than 16 chains");
  std::string chain = "start:int3";
  for (int n = 1; n < 65; n++)
    chain += ",stop:int3";
  EXPECT_EQ(refusal({chain}), "all chains together have more than 64 alarms");
}

TEST(ControlMessages, AFaultOfSeveralChainsIsShownInItsOwn) {
  const auto shown = [](const std::vector<std::string> &chains) {
    const std::string text = test::chain_error(chains);
    return text.substr(text.find('\n') + 1);
  };
  EXPECT_EQ(shown({"start:int3,name:a", "stop:int3,name:a"}),
            "  stop:int3,name:a\n                 ^");
  EXPECT_EQ(shown({"stop:int3", "start:int3,waitfor:b"}),
            "  start:int3,waitfor:b\n                     ^");
  EXPECT_EQ(shown({"stop:int3", "start:int3,waitfor:c,name:b", "start:int3,waitfor:b,name:c"}),
            "  start:int3,waitfor:c,name:b\n                     ^");
  std::vector<std::string> most(15, "stop:int3,stop:int3,stop:int3,stop:int3");
  most.push_back("stop:int3,stop:int3,stop:int3,uniform:8:5:1,stop:int3");
  EXPECT_EQ(shown(most), "  " + most.back() + "\n  " + std::string(30, ' ') + "^~~~~~~~~~~~~");
  most.assign(17, "stop:int3");
  EXPECT_EQ(shown(most), "  stop:int3\n  ^~~~~~~~~");
}

TEST(ControlMessages, AChainHasALongestLength) {
  const std::string start = "start:address:";
  EXPECT_EQ(refusal({start + std::string(65536 - start.size(), 'a')}), "");
  EXPECT_EQ(refusal({start + std::string(65537 - start.size(), 'a')}),
            "the chain is longer than 64 KiB");
}

TEST(ControlMessages, OfALongChainWhatIsAroundThePlaceIsShown) {
  const std::string text(500, 'a');
  const auto lines = [&](size_t at, size_t length) {
    try {
      fail_usage(text, {at, length}, "x");
    } catch (const ovnitrace::Error &error) {
      EXPECT_EQ(error.status(), kExitUsage);
      return std::string(error.what());
    }
  };
  const auto shown = [](size_t line, size_t before, size_t marks) {
    return "--control: x\n  " + std::string(line, 'a') + "\n  " + std::string(before, ' ') + "^" +
           std::string(marks - 1, '~');
  };
  EXPECT_EQ(lines(0, 3), shown(300, 0, 3));
  EXPECT_EQ(lines(200, 3), shown(300, 200, 3));
  EXPECT_EQ(lines(200, 101), shown(300, 200, 100)) << "up to what is shown";
  EXPECT_EQ(lines(201, 3), shown(300, 100, 3));
  EXPECT_EQ(lines(450, 100), shown(150, 100, 50));
  EXPECT_EQ(lines(500, 0), shown(100, 100, 1));
}

TEST(ControlMessages, ABcastBehindACommaIsOfTheAlarmBeforeIt) {
  const Chain chain = parse_chain("start:int3,bcast,stop:int3,precond:int3,bcast");
  ASSERT_EQ(chain.alarms.size(), 3u);
  EXPECT_TRUE(chain.alarms[0].bcast);
  EXPECT_FALSE(chain.alarms[1].bcast);
  EXPECT_TRUE(chain.alarms[2].bcast);
  EXPECT_EQ(chain.alarms[0].span.length, 16u);
  EXPECT_EQ(chain.alarms[1].span.at, 17u);
  EXPECT_EQ(refusal({"start:int3,bcasts"}).find("'bcasts' is not an event"), 0u);
}

TEST(ControlMessages, NumbersOfPlaces) {
  const auto number = [](const std::string &place) {
    return parse_chain("start:address:" + place).alarms[0].number;
  };
  EXPECT_EQ(number("app+0x1F"), 0x1fu);
  EXPECT_EQ(number("app+0X10"), 0x10u);
  EXPECT_EQ(number("0XaB"), 0xabu);
  EXPECT_EQ(number("operator+10"), 0u);
  EXPECT_EQ(number("a::operator+10"), 0u);
  EXPECT_EQ(number("+10"), 0u) << "no image";
  EXPECT_EQ(number("foo"), 0u);
  EXPECT_FALSE(parse_chain("start:ssc:0x10").alarms[0].is_address());
  EXPECT_FALSE(parse_chain("start:address:a0x10").alarms[0].is_address());
  EXPECT_TRUE(parse_chain("start:address:0X10").alarms[0].is_address());
  EXPECT_EQ(parse_chain("start:cpuid:10").alarms[0].number, 10u);
  EXPECT_EQ(parse_chain("start:cpuid:0x10").alarms[0].number, 16u);
}

TEST(ControlMessages, BracketsOfANameBelongToIt) {
  const auto value = [](const std::string &text) { return parse_chain(text).alarms.at(0).value; };
  EXPECT_EQ(value("start:enter_func:f[a,b]:count2"), "f[a,b]");
  EXPECT_EQ(value("start:enter_func:f<a,g(b,c),d>,stop:int3"), "f<a,g(b,c),d>");
  EXPECT_EQ(value("start:address:a::b::c:tid1"), "a::b::c");
  EXPECT_EQ(value("start:address:operator>,stop:int3"), "operator>");
  EXPECT_EQ(value("start:address:a)b,stop:int3"), "a)b") << "closes nothing";
  EXPECT_EQ(value("start:pcontrol:a(b,stop:int3"), "a(b") << "brackets mean nothing there";
}

TEST(ControlPlanText, EachAlarmInWords) {
  const auto words = [](const std::string &alarm) {
    return in_words(parse_chain(alarm).alarms[0]);
  };
  const std::string itself = ", counted in each thread by itself: ";
  EXPECT_EQ(words("start:interactive"),
            "when `ovnitrace ctl … start` says so" + itself + "the region starts");
  EXPECT_EQ(words("stop:interactive"),
            "when `ovnitrace ctl … stop` says so" + itself + "the region stops");
  EXPECT_EQ(words("threadid:cpuid:18"),
            "when the cpuid marker 0x12 is executed" + itself + "is marked in the trace");
  EXPECT_EQ(words("precond:magic:7.9"),
            "when the magic instruction 7.9 is executed" + itself + "the next alarm is armed");
  EXPECT_EQ(words("stop:timeout:5:count1:global"),
            "when 5 s have passed since, counted over all threads: the region stops; what follows "
            "is armed for all threads");
  EXPECT_EQ(words("stop:icount:5:count2:tid3"),
            "when 5 instructions have been executed since, 2 times over, in thread 3 only: the "
            "region stops");
  EXPECT_EQ(words("stop:int3:count2"),
            "when an int3 is reached for the 2. time" + itself + "the region stops");
  EXPECT_EQ(words("uniform:8:5:1"),
            "the region starts, and stops after 5 instructions, for all threads");
  EXPECT_EQ(words("uniform:5:5:2"),
            "the region starts, stops after 5 instructions, and starts again 0 instructions after "
            "that: 2 times in all, for all threads");
  EXPECT_EQ(words("uniform:5:6:3"), "the region starts, and stops after 16 instructions, for all "
                                    "threads: 3 samples that overlap");
  EXPECT_EQ(words("uniform:800:500:5"),
            "the region starts, stops after 500 instructions, and starts again 300 instructions "
            "after that: 5 times in all, for all threads");
}

TEST(ControlPlanText, RoundsAndTextsOfChains) {
  const Plan plan = make_plan({"start:int3,repeat,name:a", "start:timeout:1,stop:int3:count2",
                               "uniform:8:5:2,stop:ssc:1f,repeat:1"});
  EXPECT_EQ(in_words(plan, 0),
            "chain 1 a:\n  1. when an int3 is reached, counted in each thread by itself: the "
            "region starts\n  then it starts again, endlessly\n");
  EXPECT_EQ(in_words(plan, 1),
            "chain 2:\n  1. when 1 s have passed since, counted in each thread by itself: the "
            "region starts\n  2. when an int3 is reached for the 2. time, counted in each thread "
            "by itself: the region stops\n");
  EXPECT_EQ(plan.descriptions(), (std::vector<std::pair<std::string, std::string>>{
                                     {"a", "start:int3,repeat,name:a"},
                                     {"", "start:timeout:1,stop:int3:count2"},
                                     {"", "uniform:8:5:2,stop:ssc:1f,repeat:1"}}));
  EXPECT_EQ(text_of(plan, 2), "stop:int3:count2");
  EXPECT_EQ(text_of(plan, 3), "uniform:8:5:2");
  EXPECT_EQ(text_of(plan, 4), "uniform:8:5:2");
  EXPECT_EQ(text_of(plan, 5), "stop:ssc:1f");
  EXPECT_FALSE(can_repeat(plan.chains[0])) << "it does";
  EXPECT_TRUE(can_repeat(plan.chains[1]));
  EXPECT_FALSE(can_repeat(parse_chain("start:int3,uniform:8:5:2")));
  EXPECT_TRUE(plan.has(CONTROL_SSC));
  EXPECT_FALSE(plan.has(CONTROL_MAGIC));
  EXPECT_TRUE(plan.has(Source::probe));
  EXPECT_TRUE(plan.has(Source::stepping));
  EXPECT_TRUE(plan.has(Source::loader));
  EXPECT_FALSE(make_plan({"start:int3,uniform:8:5:2"}).has(Source::probe));
  EXPECT_FALSE(make_plan({"start:ssc:1"}).has(Source::loader));
  EXPECT_FALSE(make_plan({"start:ssc:1"}).has(Source::stepping));
}

TEST(ControlPlanText, TheTablesHaveValuesAndWaiters) {
  const Plan plan = make_plan({"start:cpuid:0x12:global,stop:pcontrol:roi:tid7,name:a",
                               "start:int3:count4,waitfor:a,repeat", "stop:ssc:1f,waitfor:a"});
  const auto &alarms = plan.alarm_table;
  EXPECT_EQ(alarms[0].value, 0x124711u);
  EXPECT_EQ(alarms[0].flags, CONTROL_GLOBAL);
  EXPECT_EQ(alarms[0].tid, 0u);
  EXPECT_EQ(alarms[0].count, 1u);
  EXPECT_STREQ(alarms[1].text, "roi");
  EXPECT_EQ(alarms[1].flags, CONTROL_ONE_TID);
  EXPECT_EQ(alarms[1].tid, 7u);
  EXPECT_EQ(alarms[2].count, 4u);
  EXPECT_EQ(alarms[3].value, 0x1fu);
  EXPECT_EQ(alarms[3].event, CONTROL_STOP);
  EXPECT_EQ(plan.chain_table[0].waiters, 6u);
  EXPECT_EQ(plan.chain_table[1].waiters, 0u);
  EXPECT_FALSE(plan.chain_table[0].waits);
  EXPECT_TRUE(plan.chain_table[2].waits);
  EXPECT_EQ(plan.chain_table[0].repeat, 1u);
  EXPECT_EQ(plan.chain_table[1].repeat, 0u);
  EXPECT_EQ(plan.chain_table[1].alarms, 1u);
  EXPECT_EQ(plan.chain_table[2].first, 3u);
  const Plan equal = make_plan({"uniform:5:5:3"});
  EXPECT_EQ(equal.chain_table[0].loops, 3u);
  EXPECT_EQ(equal.alarm_table[0].count, 0u);
  EXPECT_EQ(equal.alarm_table[1].count, 5u);
  EXPECT_EQ(equal.alarm_table[0].type, CONTROL_ICOUNT);
  EXPECT_EQ(equal.alarm_table[1].flags, CONTROL_BCAST);
}

} // namespace
} // namespace ovnitrace::control
