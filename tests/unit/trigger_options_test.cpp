// SPDX-License-Identifier: BSD-2-Clause
// The events and rules of --trigger, and how often one saves.
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/record_arguments.h"
#include "user/cli/checked_options.h"
#include "user/cli/trigger.h"

#include <ovnitrace/ftrace_codes.h>

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using test::app, test::error_of, test::kChain;

TEST(Trigger, SavesTenTimes) {
  RecordArguments arguments = app();
  arguments.buffer = "last:1M";
  arguments.triggers = {"task_end"};
  RecordOptions options = checked(arguments);
  EXPECT_EQ(options.trigger_events, std::vector<uint16_t>{FTrace_EVT_task_end});
  EXPECT_EQ(options.trigger_saves, 10u);
  EXPECT_FALSE(options.save_on_region_stop);
  arguments.options.trigger_saves = 3;
  EXPECT_EQ(checked(arguments).trigger_saves, 3u);
  RecordArguments rotated = app();
  rotated.rotate = "10s";
  rotated.triggers = {"latency:5ms"};
  EXPECT_EQ(checked(rotated).trigger_saves, 1000u) << "marks, which cost less";
  arguments.triggers = {"region_stop"};
  arguments.options.control = {kChain};
  options = checked(arguments);
  EXPECT_TRUE(options.save_on_region_stop);
  EXPECT_TRUE(options.trigger_events.empty());
  arguments.triggers = {"latency:5ms"};
  options = checked(arguments);
  ASSERT_EQ(options.rules.size(), 1u);
  EXPECT_EQ(options.rules[0].text, "latency:5ms");
  EXPECT_EQ(options.rules[0].rule.kind, TRIGGER_LATENCY);
  EXPECT_TRUE(options.trigger_events.empty());
  EXPECT_EQ(options.trigger_saves, 3u);
}

TEST(Trigger, CanBeSeveralOfEachKind) {
  RecordArguments arguments = app();
  arguments.buffer = "last:1M";
  arguments.options.control = {kChain};
  arguments.triggers = {"exit:a*", "task_end", "region_stop", "blocked:1s", "task_create"};
  const RecordOptions options = checked(arguments);
  ASSERT_EQ(options.rules.size(), 2u);
  EXPECT_EQ(options.rules[0].rule.kind, TRIGGER_EXIT);
  EXPECT_EQ(options.rules[1].text, "blocked:1s");
  EXPECT_EQ(options.trigger_events,
            (std::vector<uint16_t>{FTrace_EVT_task_end, FTrace_EVT_task_create}));
  EXPECT_TRUE(options.save_on_region_stop);
  arguments.triggers.assign(8, "exit:a*");
  EXPECT_EQ(error_of(arguments), "");
  arguments.triggers.push_back("exit:a*");
  EXPECT_EQ(error_of(arguments), "--trigger: at most 8 triggers can have a time or a name");
}

/// The error for a name; empty if the name is right.
std::string trigger_error(const std::string &name, FamilySet families = default_families()) {
  return test::usage_error_from([&] { trigger_code(name, families); });
}

TEST(Trigger, IsAnEventOfAFamilyThatIsCaptured) {
  EXPECT_EQ(trigger_code("task_end", default_families()), FTrace_EVT_task_end);
  EXPECT_EQ(trigger_error("task_end", {}),
            "--trigger task_end: its family is not captured: add --filter +sched");
  EXPECT_EQ(
      trigger_error("nothing").find("--trigger nothing: there is no such trigger. There are:\n"
                                    "  latency:TIME[:GLOB], blocked:TIME[:GLOB], "
                                    "preempted:TIME[:GLOB], "
                                    "idle-while-waiting:TIME[:GLOB], exit:GLOB\n"
                                    "  region_stop (with --control)\n"),
      0u);
}

TEST(Trigger, TheListHasTheOptionThatAFamilyNeeds) {
  const std::string all = trigger_error("nothing", families_that_can_be()),
                    few = trigger_error("nothing", {});
  EXPECT_EQ(all.find("with --filter"), std::string::npos) << all;
  EXPECT_NE(few.find(" (with --filter +sched)\n"), std::string::npos) << few;
  EXPECT_NE(few.find("task_dispatch, "), std::string::npos) << few;
}

TEST(Trigger, NeitherTheTracersOwnRecordsNorThoseOfSharkAreOffered) {
  const std::string names = "," + trigger_names() + ",";
  EXPECT_EQ(names.find(",region_stop,latency:,blocked:,preempted:,idle-while-waiting:,exit:,"), 0u);
  for (const char *name : {"trace_start", "trace_stop", "blackout_start", "blackout_end", "ipoint",
                           "data_pointer", "task_begin_cycle", "task_end_cycle", "task_schedule",
                           "task_timer", "task_disable", "task_wcet_violation"})
    EXPECT_EQ(names.find("," + std::string(name) + ","), std::string::npos) << name;
  EXPECT_EQ(names.find(",EXT_"), std::string::npos);
  EXPECT_EQ(names.find(",filter_"), std::string::npos);
  for (const char *name : {"task_end", "task_dispatch", "user_event_1"})
    EXPECT_NE(names.find("," + std::string(name) + ","), std::string::npos) << name;
}

} // namespace
} // namespace ovnitrace
