// SPDX-License-Identifier: BSD-2-Clause
// The types of alarms by their names, and the lists of names in messages.
#include "emulator/format/alarm_types.h"

#include <gtest/gtest.h>

#include <string_view>

namespace ovnitrace::control {
namespace {

TEST(AlarmTypes, AreFoundByTheirNameAndByTheirOtherName) {
  const std::pair<std::string_view, control_type> names[] = {
      {"icount", CONTROL_ICOUNT},
      {"address", CONTROL_ADDRESS},
      {"addres", CONTROL_ADDRESS},
      {"isa-extension", CONTROL_ISA_EXTENSION},
      {"isa_extension", CONTROL_ISA_EXTENSION},
      {"isa_category", CONTROL_ISA_CATEGORY},
      {"timeout", CONTROL_TIMEOUT},
  };
  for (const auto &[name, type] : names) {
    ASSERT_NE(find_type(name), nullptr) << name;
    EXPECT_EQ(find_type(name)->type, type) << name;
  }
  for (const std::string_view name : {"", "icoun", "icounts", "Timeout"})
    EXPECT_EQ(find_type(name), nullptr) << name;
}

TEST(AlarmTypes, AreFoundByTheirNumberUnlessItIsNoAlarm) {
  EXPECT_EQ(type_of(CONTROL_ICOUNT)->name, "icount");
  EXPECT_EQ(type_of(CONTROL_INT3)->name, "int3");
  EXPECT_EQ(type_of(CONTROL_TIMEOUT)->name, "timeout");
  for (const control_type none : {CONTROL_NO_ALARM, CONTROL_PROGRAM, CONTROL_END})
    EXPECT_EQ(type_of(none), nullptr) << int(none);
}

TEST(AlarmTypes, ListsAreInTheOrderOfTheHelp) {
  EXPECT_EQ(event_names(), "start, stop, threadid, precond");
  EXPECT_EQ(type_names(),
            "icount, address, ssc, itext, isa-extension, isa-category, int3, magic, cpuid, "
            "pcontrol, enter_func, exit_func, interactive, timeout");
  EXPECT_EQ(portable_type_names(), "address, pcontrol, enter_func, exit_func, interactive, timeout")
      << "on arm64";
}

} // namespace
} // namespace ovnitrace::control
