// SPDX-License-Identifier: BSD-2-Clause
// What --filter takes.
#include "user/bpf/family_set.h"

#include "emulator/base/error.h"

#include "families.skel.h"

#include <bpf/libbpf.h>
#include <gtest/gtest.h>

#include <ovnitrace/ftrace_codes.h>

#include <memory>

namespace ovnitrace {
namespace {

bool has(std::string_view list, uint32_t code) {
  return parse_families(list).has(code & FTrace_family_mask);
}

TEST(FamilySet, TheDefaultIsTheSchedulerAndWhatProgramsLog) {
  for (uint32_t code : {FTrace_EVT_task_dispatch, FTrace_EVT_ipoint, FTrace_EVT_user_event_14,
                        FTrace_EVT_data_pointer})
    EXPECT_TRUE(default_families().has(code & FTrace_family_mask)) << code;
  for (uint32_t family : {0, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14, 15})
    EXPECT_FALSE(default_families().has(family)) << family;
}

TEST(FamilySet, UserEventsNeedNoTracepoint) {
  EXPECT_EQ((families_of_tracepoints() & default_families()).bits(), 0u);
  EXPECT_EQ(families_of_programs(), parse_families("user"));
}

TEST(FamilySet, AListReplacesTheDefault) {
  EXPECT_TRUE(has("irq", FTrace_EVT_interrupt_start));
  EXPECT_FALSE(has("irq", FTrace_EVT_task_dispatch));
  EXPECT_EQ(parse_families("sched,user"), default_families());
}

TEST(FamilySet, SignsChangeTheDefault) {
  EXPECT_TRUE(has("+irq", FTrace_EVT_task_dispatch));
  EXPECT_TRUE(has("+irq,+signal", FTrace_EVT_signal));
  EXPECT_TRUE(has("+irq,signal", FTrace_EVT_signal));
  EXPECT_FALSE(has("-sched,+irq", FTrace_EVT_task_dispatch));
  EXPECT_FALSE(has("all,-irq", FTrace_EVT_interrupt_start));
  EXPECT_TRUE(has("all,-irq", FTrace_EVT_signal));
  EXPECT_EQ(parse_families("none").bits(), 0u);
  EXPECT_EQ(parse_families("-irq"), default_families()) << "it is not among them";
}

TEST(FamilySet, AnEventIsCapturedByItsOwnFamilyUnlessTheKernelShowsItElsewhere) {
  EXPECT_EQ(capturing_family(FTrace_EVT_task_dispatch), 2u);
  EXPECT_EQ(capturing_family(FTrace_EVT_task_deadline_miss), 8u);
  EXPECT_EQ(capturing_family(0xee), 14u) << "a code that nobody knows";
}

TEST(FamilySet, EachBpfProgramHasAFamilyAndEachFamilyAProgram) {
  const std::unique_ptr<families_bpf, decltype(&families_bpf__destroy)> object(
      families_bpf__open(), families_bpf__destroy);
  ASSERT_TRUE(object);
  FamilySet seen;
  bpf_program *program = nullptr;
  while ((program = bpf_object__next_program(object->obj, program))) {
    if (program == object->progs.on_user_probe)
      continue;
    const std::string_view name = bpf_program__name(program);
    const FamilySet families = families_of_program(name);
    EXPECT_NE(families.bits(), 0) << name;
    EXPECT_EQ(families & families_of_tracepoints(), families) << name;
    seen = seen | families;
  }
  EXPECT_EQ(seen, families_of_tracepoints()) << "a family without a program";
}

TEST(FamilySet, ABpfProgramWithoutAFamilyIsRefused) {
  EXPECT_EQ(families_of_program("prio_mutex_on_sys_exit"), parse_families("prio,mutex"));
  for (const char *program :
       {"", "on", "on_sys_exit", "irq", "irq_", "irqs_on_exit", "irq_sys_exit"})
    EXPECT_THROW(families_of_program(program), Error) << program;
}

TEST(FamilySet, TakesTheNumbersOfTheManual) {
  EXPECT_EQ(parse_families("3"), parse_families("irq"));
  EXPECT_EQ(parse_families("5"), parse_families("prio"));
  EXPECT_EQ(parse_families("6"), parse_families("mutex"));
  EXPECT_EQ(parse_families("7"), parse_families("signal"));
  EXPECT_EQ(parse_families("8"), parse_families("server"));
  EXPECT_EQ(parse_families("11"), parse_families("timer"));
  EXPECT_EQ(parse_families("2"), parse_families("sched"));
  for (const char *number : {"1", "9", "10"})
    EXPECT_EQ(parse_families(number), parse_families("user")) << number;
}

TEST(FamilySet, RefusesUnknownFamilies) {
  for (const char *list : {"", "irqs", "mutexes", "irq,", ",irq", "+", "-", "4", "16",
                           "99999999999", "0x3", "irq signal"})
    try {
      parse_families(list);
      ADD_FAILURE() << list;
    } catch (const Error &error) {
      EXPECT_EQ(error.status(), kExitUsage) << list;
    }
}

TEST(FamilySet, IsPrintedWithTheNamesThatItTakes) {
  EXPECT_EQ(to_string(default_families()), "sched, user");
  EXPECT_EQ(to_string(FamilySet()), "none");
  EXPECT_EQ(to_string(parse_families("all")), family_names());
}

TEST(FamilySet, AnErrorNamesTheFamiliesThatThereAre) {
  try {
    parse_families("sched,irqs");
    FAIL();
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(),
                 "--filter: there is no family 'irqs'; families are sched, irq, prio, "
                 "mutex, signal, server, user, timer, power, and all and none");
  }
  try {
    families_of_program("on_exit");
    FAIL();
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "the BPF program on_exit has no family in its name: this ovnitrace "
                               "is not built right");
  }
}

TEST(FamilySet, AFamilyOfSeveralNumbersHasOneName) {
  for (const uint32_t number : {1u, 9u, 10u})
    EXPECT_TRUE(parse_families("user").has(number)) << number;
  EXPECT_EQ(to_string(parse_families("user,irq")), "irq, user");
  EXPECT_EQ(to_string(FamilySet(1u << 9)), "user");
}

TEST(FamilySet, TakesOtherNamesOfFamilies) {
  const std::pair<const char *, const char *> names[] = {
      {"task", "sched"},   {"interrupt", "irq"},  {"priority", "prio"},
      {"futex", "mutex"},  {"signals", "signal"}, {"deadline", "server"},
      {"timers", "timer"}, {"ipoint", "user"},    {"data", "user"}};
  for (const auto &[other, name] : names)
    EXPECT_EQ(parse_families(other), parse_families(name)) << other;
}

} // namespace
} // namespace ovnitrace
