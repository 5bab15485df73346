// SPDX-License-Identifier: BSD-2-Clause
// What the numbers in parameters are called: emulator/format/value_names.
#include "emulator/format/value_names.h"

#include <gtest/gtest.h>

#include <linux/sched.h>
#include <sched.h>

#include <csignal>
#include <set>

namespace ovnitrace {
namespace {

TEST(ValueNames, NameAllValuesOfAKindDifferently) {
  for (ValueNames names :
       {ValueNames(kReasonNames), ValueNames(kWakerContextNames), ValueNames(kStateNames),
        ValueNames(kBlackoutNames), ValueNames(kPolicyNames), ValueNames(kTimerNames),
        ValueNames(kVectorNames), ValueNames(kSoftirqNames), ValueNames(kSignalNames)}) {
    std::set<uint32_t> values;
    std::set<std::string_view> words, labels;
    for (const ValueName &one : names) {
      EXPECT_TRUE(values.insert(one.value).second) << one.name;
      EXPECT_TRUE(words.insert(one.name).second) << one.name;
      EXPECT_TRUE(labels.insert(one.label).second) << one.label;
      EXPECT_EQ(name_of(names, one.value), one.name);
    }
  }
}

TEST(ValueNames, AreTheKernelsOwn) {
  EXPECT_EQ(name_of(kPolicyNames, SCHED_OTHER), "other");
  EXPECT_EQ(name_of(kPolicyNames, SCHED_FIFO), "fifo");
  EXPECT_EQ(name_of(kPolicyNames, SCHED_RR), "rr");
  EXPECT_EQ(name_of(kPolicyNames, SCHED_BATCH), "batch");
  EXPECT_EQ(name_of(kPolicyNames, SCHED_IDLE), "idle");
  EXPECT_EQ(name_of(kPolicyNames, SCHED_DEADLINE), "deadline");
  EXPECT_EQ(name_of(kPolicyNames, 4), "") << "Linux has none";
}

} // namespace
} // namespace ovnitrace
