// SPDX-License-Identifier: BSD-2-Clause
// What the numbers in parameters are called: emulator/format/value_names.
#include "emulator/format/value_names.h"

#include <gtest/gtest.h>

#include <linux/sched.h>
#include <sched.h>

#include <csignal>
#include <cstring>
#include <iterator>
#include <set>
#include <string>

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

TEST(ValueNames, OfSignalsAreThoseOfTheCLibrary) {
  for (const ValueName &signal : kSignalNames) {
    const std::string name = signal.value == SIGIO ? "IO" : sigabbrev_np(int(signal.value));
    EXPECT_EQ(signal.name, name);
    EXPECT_EQ(signal.label, "SIG" + name);
  }
  EXPECT_EQ(std::size(kSignalNames), 31u);
}

/// Users read these in Paraver and in reports.
TEST(ValueNames, LabelsSayWhatTheValuesMean) {
  const auto label = [](ValueNames names, std::string_view name) {
    for (const ValueName &one : names)
      if (one.name == name)
        return std::string(one.label);
    return std::string();
  };
  EXPECT_EQ(label(kReasonNames, "sleep"), "Sleeping");
  EXPECT_EQ(label(kReasonNames, "disk"), "Uninterruptible sleep");
  EXPECT_EQ(label(kReasonNames, "stopped"), "Stopped by a signal");
  EXPECT_EQ(label(kReasonNames, "traced"), "Stopped by a debugger");
  EXPECT_EQ(label(kReasonNames, "parked"), "Parked");
  EXPECT_EQ(label(kReasonNames, "throttled"), "Throttled: no CPU quota is left");
  EXPECT_EQ(label(kReasonNames, "refilled"), "Was throttled: it has quota or budget again");
  EXPECT_EQ(label(kReasonNames, "exhausted"), "Until its next period: its budget was used up");
  EXPECT_EQ(label(kReasonNames, "next_period"), "Until its next period: it has yielded");
  EXPECT_EQ(label(kReasonNames, "frozen"), "Frozen (cgroup freezer)");
  EXPECT_EQ(label(kReasonNames, "waited"), "Waited for a CPU before the trace; why is not known");
  EXPECT_EQ(label(kReasonNames, "preempted"), "Preempted");
  EXPECT_EQ(label(kReasonNames, "yielded"), "Yielded");
  EXPECT_EQ(label(kWakerContextNames, "softirq"), "Soft interrupt");
  EXPECT_EQ(label(kWakerContextNames, "hardirq"), "Hard interrupt");
  EXPECT_EQ(label(kRegionTypeNames, "begin"), "No alarm: it starts by itself");
  EXPECT_EQ(label(kRegionTypeNames, "program"), "The program");
  EXPECT_EQ(label(kRegionTypeNames, "exec"), "Another program");
  EXPECT_EQ(label(kPolicyNames, "rr"), "Round robin");
  EXPECT_EQ(label(kPolicyNames, "ext"), "Extensible");
  EXPECT_EQ(label(kRegionEventNames, "threadid"), "Thread id");
  EXPECT_EQ(label(kRegionEventNames, "precond"), "Precondition");
  EXPECT_EQ(label(kBlackoutNames, "cpu"), "On this CPU");
  EXPECT_EQ(label(kBlackoutNames, "machine"), "Somewhere on the machine");
  EXPECT_EQ(label(kBlackoutNames, "families"), "Only events of other families");
  EXPECT_EQ(label(kBlackoutNames, "forgotten"), "Older than what a flight recorder keeps");
  EXPECT_EQ(label(kBlackoutNames, "missing"), "In no file");
  EXPECT_EQ(label(kBlackoutNames, "paused"), "The user had paused the capture");
  EXPECT_EQ(label(kVectorNames, "call"), "Function call from CPUs");
  EXPECT_EQ(label(kVectorNames, "call_single"), "Function call from a CPU");
  EXPECT_EQ(label(kVectorNames, "timer"), "Timer of the CPU");
  EXPECT_EQ(label(kTimerNames, "sleep"), "Sleep or timeout");
  EXPECT_EQ(label(kTimerNames, "timerfd"), "Timer of a descriptor");
  EXPECT_EQ(label(kTimerNames, "itimer"), "Interval timer");
  EXPECT_EQ(label(kTimerNames, "posix"), "POSIX timer");
  EXPECT_EQ(label(kSoftirqNames, "HI"), "Soft: high tasklets");
  EXPECT_EQ(label(kSoftirqNames, "NET_RX"), "Soft: network receive");
  EXPECT_EQ(label(kSoftirqNames, "SCHED"), "Soft: scheduler");
  EXPECT_EQ(label(kSoftirqNames, "NET_TX"), "Soft: network send");
  EXPECT_EQ(label(kSoftirqNames, "BLOCK"), "Soft: block");
  EXPECT_EQ(label(kSoftirqNames, "IRQ_POLL"), "Soft: IRQ poll");
  EXPECT_EQ(label(kSoftirqNames, "TASKLET"), "Soft: tasklets");
  EXPECT_EQ(label(kSoftirqNames, "HRTIMER"), "Soft: hrtimer");
}

/// Programs read these words in the output of `ovnitrace dump`.
TEST(ValueNames, StayAsTheyAre) {
  const auto words = [](ValueNames names) {
    std::string text;
    for (const ValueName &one : names)
      text += (text.empty() ? "" : " ") + std::string(one.name);
    return text;
  };
  EXPECT_EQ(words(kReasonNames), "yielded preempted sleep disk stopped traced dead parked idle "
                                 "throttled refilled exhausted next_period frozen waited");
  EXPECT_EQ(words(kWakerContextNames), "task softirq hardirq nmi unknown");
  EXPECT_EQ(words(kBlackoutNames), "cpu machine families forgotten missing paused outside");
  EXPECT_EQ(words(kTimerNames), "other sleep itimer posix timerfd");
  EXPECT_EQ(words(kVectorNames), "timer irq_work call_single call reschedule");
  EXPECT_EQ(words(kSoftirqNames),
            "HI TIMER NET_TX NET_RX BLOCK IRQ_POLL TASKLET SCHED HRTIMER RCU");
}

} // namespace
} // namespace ovnitrace
