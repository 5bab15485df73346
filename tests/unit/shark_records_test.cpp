// SPDX-License-Identifier: BSD-2-Clause
// Which events each record of S.Ha.R.K. makes: emulator/shark/scheduling.h.
#include "emulator/shark/scheduling.h"

#include "emulator/format/event_names.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ovnitrace::shark {
namespace {

using Texts = std::vector<std::string>;

/// Threads 0, 1 and 2 have the tids 10, 11 and 12. The last one is cyclic.
class SharkRecords : public testing::Test {
protected:
  explicit SharkRecords(FileHabits habits = {.switches = true}) { begin(habits); }
  void begin(FileHabits habits) {
    scheduling = Scheduling(habits, {{.tid = 10}, {.tid = 11}, {.tid = 12, .cyclic = true}});
  }

  /// Returns "task_sleep 0 why=4 tid=11 peer=1", and "implied" for what is not the record itself.
  Texts record(Meaning meaning, uint32_t kind, uint32_t thread = kNone, uint32_t peer = kNone,
               uint16_t par1 = 7) {
    Event event;
    event.kind = kind;
    event.thread = thread;
    event.peer = peer;
    event.par1 = par1;
    event.par2 = 99;
    event.time = 5;
    event.in_plain_file = event.by_manual = true;
    scheduling.record(event, meaning);
    Texts all;
    for (Event made; scheduling.take(made);) {
      std::string text(event_name(made.kind));
      if (made.thread != kNone)
        text += fmt::format(" {}", made.thread);
      if (!made.by_manual)
        text += fmt::format(" why={} tid={}", made.reason(), made.par2 & FTRACE_TID_MASK);
      if (made.peer != kNone)
        text += fmt::format(" peer={}", made.peer);
      if (!made.in_plain_file) {
        EXPECT_TRUE(made.par1 == 0 && !made.by_manual);
        text += " implied";
      }
      EXPECT_EQ(made.time, 5u);
      all.push_back(text);
    }
    return all;
  }
  Texts gets_cpu(uint32_t thread) {
    return record(Meaning::gets_cpu, FTrace_EVT_context_switch, thread);
  }
  Texts dispatch(uint32_t thread) {
    return record(Meaning::dispatch, FTrace_EVT_task_dispatch, thread);
  }
  Texts activate(uint32_t thread) {
    return record(Meaning::activate, FTrace_EVT_task_activate, thread);
  }
  Texts wait(uint32_t thread) { return record(Meaning::wait, FTrace_EVT_mutex_wait, thread); }
  Texts lock(uint32_t thread) { return record(Meaning::lock, FTrace_EVT_mutex_lock, thread); }
  Texts timer(uint32_t thread) { return record(Meaning::release, FTrace_EVT_task_timer, thread); }
  Texts end_cycle(uint32_t thread) {
    return record(Meaning::end_cycle, FTrace_EVT_task_end_cycle, thread);
  }
  Texts interrupt(bool begins) {
    return begins ? record(Meaning::interrupt_begin, FTrace_EVT_interrupt_start)
                  : record(Meaning::interrupt_end, FTrace_EVT_interrupt_end);
  }
  Texts blackout() { return record(Meaning::blackout, FTrace_EVT_blackout_start); }

  Scheduling scheduling{{}, {}};
};

const std::string kPreempted = fmt::format("why={}", FTRACE_OFFCPU_PREEMPTED);
const std::string kSleeps = fmt::format("why={}", FTRACE_OFFCPU_SLEEP);
const std::string kByTask = fmt::format("why={}", FTRACE_WAKER_TASK);
const std::string kByInterrupt = fmt::format("why={}", FTRACE_WAKER_HARDIRQ);
const std::string kByUnknown = fmt::format("why={}", FTRACE_WAKER_UNKNOWN);

TEST_F(SharkRecords, ThreadThatLosesTheCpuIsPreemptedUnlessItSaidThatItWaits) {
  EXPECT_EQ(gets_cpu(0).back(), "task_dispatch 0 why=0 tid=0 implied");
  const Texts preempted = gets_cpu(1);
  ASSERT_EQ(preempted.size(), 3u);
  EXPECT_EQ(preempted[1], "task_epilogue 0 " + kPreempted + " tid=11 peer=1 implied");
  wait(1);
  EXPECT_EQ(gets_cpu(0)[1], "task_sleep 1 " + kSleeps + " tid=10 peer=0 implied");
}

TEST_F(SharkRecords, ThreadThatAlreadyRunsOnlyEndsItsWait) {
  gets_cpu(0);
  EXPECT_EQ(gets_cpu(0), Texts{"context_switch 0"});
  wait(0);
  EXPECT_EQ(gets_cpu(0).back(),
            fmt::format("mutex_lock 0 why={} tid={} implied",
                        FTRACE_FUTEX_PLAIN >> FTRACE_REASON_SHIFT, FTRACE_FUTEX_PLAIN));
  EXPECT_EQ(gets_cpu(1)[1].find("task_epilogue 0 "), 0u) << "it waits for nothing";
}

TEST_F(SharkRecords, ADispatchedThreadIsTheChosenOneUntilSomeoneGetsTheCpu) {
  EXPECT_EQ(scheduling.dispatched(), kNone);
  gets_cpu(0);
  EXPECT_EQ(scheduling.dispatched(), 0u);
  const auto choose = [&](uint32_t thread) {
    record(Meaning::schedule, FTrace_EVT_task_schedule, thread, thread);
    EXPECT_EQ(scheduling.dispatched(), thread);
    EXPECT_EQ(scheduling.running(), 0u) << "choosing is not running";
  };
  choose(1);
  gets_cpu(0);
  EXPECT_EQ(scheduling.dispatched(), 0u);
  choose(1);
  dispatch(0);
  EXPECT_EQ(scheduling.dispatched(), 0u);
  choose(1);
  blackout();
  EXPECT_EQ(scheduling.dispatched(), kNone);
}

TEST_F(SharkRecords, AWakeupSaysInWhichContextItIs) {
  const std::string by_nobody = "task_activate 1 " + kByUnknown + " tid=0";
  EXPECT_EQ(activate(1), Texts{by_nobody});
  gets_cpu(0);
  EXPECT_EQ(activate(1), Texts{"task_activate 1 " + kByUnknown + " tid=10 peer=0"})
      << "it may be an interrupt, since the file logs none";
  begin({.switches = true, .interrupts = true});
  EXPECT_EQ(activate(1), Texts{by_nobody});
  gets_cpu(0);
  const std::string by_task = "task_activate 1 " + kByTask + " tid=10 peer=0";
  const std::string by_interrupt = "task_activate 1 " + kByInterrupt + " tid=10 peer=0";
  EXPECT_EQ(activate(1), Texts{by_task});
  interrupt(true);
  interrupt(true);
  EXPECT_EQ(activate(1), Texts{by_interrupt});
  interrupt(false);
  EXPECT_EQ(activate(1), Texts{by_interrupt}) << "they nest";
  interrupt(false);
  EXPECT_EQ(activate(1), Texts{by_task});
  interrupt(false); // its start was lost
  interrupt(true);
  EXPECT_EQ(activate(1), Texts{by_interrupt});
  gets_cpu(0);
  EXPECT_EQ(activate(1), Texts{by_task}) << "a switch is outside of all";
}

TEST_F(SharkRecords, TheEndOfATimersInterruptEndsOne) {
  begin({.switches = true, .interrupts = true});
  gets_cpu(0);
  const auto wakeup_end = [&] { record(Meaning::wakeup_end, FTrace_EVT_timer_wakeup_end, 0); };
  wakeup_end(); // its start was lost
  interrupt(true);
  EXPECT_EQ(activate(1), Texts{"task_activate 1 " + kByInterrupt + " tid=10 peer=0"});
  wakeup_end();
  EXPECT_EQ(activate(1), Texts{"task_activate 1 " + kByTask + " tid=10 peer=0"});
}

TEST_F(SharkRecords, AnInterruptNamesTheThreadThatItInterrupts) {
  EXPECT_EQ(interrupt(true), Texts{"interrupt_start why=0 tid=0"});
  gets_cpu(1);
  EXPECT_EQ(interrupt(true), Texts{"interrupt_start why=0 tid=11 peer=1"});
  EXPECT_EQ(interrupt(false), Texts{"interrupt_end why=0 tid=11 peer=1"});
  EXPECT_EQ(record(Meaning::interrupt_begin, FTrace_EVT_timer_wakeup_start),
            Texts{"timer_wakeup_start"})
      << "as in the file";
}

TEST_F(SharkRecords, ADispatchAfterAnImpliedOneIsTheSame) {
  begin({.switches = true, .leavings = true});
  gets_cpu(0);
  EXPECT_EQ(dispatch(0), Texts{});
  EXPECT_EQ(dispatch(0), Texts{"task_dispatch 0 why=0 tid=0"}) << "the file logs leavings";
  begin({.switches = true});
  gets_cpu(0);
  EXPECT_EQ(dispatch(0), Texts{});
  EXPECT_EQ(dispatch(0), Texts{}) << "it went on";
  EXPECT_EQ(dispatch(1), (Texts{"task_epilogue 0 " + kPreempted + " tid=11 peer=1 implied",
                                "task_dispatch 1 why=0 tid=0"}));
}

TEST_F(SharkRecords, ADispatchWithoutALeavingTakesTheCpuFromWhoeverWaits) {
  begin({.switches = true, .leavings = true});
  dispatch(0);
  EXPECT_EQ(dispatch(1), Texts{"task_dispatch 1 why=0 tid=0"}) << "a fault, which others report";
  wait(1);
  EXPECT_EQ(dispatch(0), (Texts{"task_sleep 1 " + kSleeps + " tid=10 peer=0 implied",
                                "task_dispatch 0 why=0 tid=0"}));
  EXPECT_EQ(dispatch(1),
            (Texts{"task_dispatch 1 why=0 tid=0",
                   fmt::format("mutex_lock 1 why=0 tid={} implied", FTRACE_FUTEX_PLAIN)}));
}

TEST_F(SharkRecords, ThreadThatRunsForTheRunningOneShowsThatItIsBlocked) {
  const auto schedule = [&](uint32_t runs, uint32_t for_whom) {
    return record(Meaning::schedule, FTrace_EVT_task_schedule, runs, for_whom);
  };
  gets_cpu(0);
  schedule(1, 0);
  EXPECT_EQ(gets_cpu(1)[1].find("task_sleep 0 "), 0u);
  schedule(2, 0); // for a thread that does not run
  EXPECT_EQ(gets_cpu(2)[1].find("task_epilogue 1 "), 0u);
  wait(2);
  schedule(2, 2);
  EXPECT_EQ(gets_cpu(0)[1].find("task_epilogue 2 "), 0u) << "it was chosen to go on";
  schedule(1, kNone);
  EXPECT_EQ(gets_cpu(1)[1].find("task_epilogue 0 "), 0u);
}

TEST_F(SharkRecords, ALockEndsTheWaitThatWasAnnounced) {
  gets_cpu(0);
  wait(0);
  lock(0);
  EXPECT_EQ(gets_cpu(1)[1].find("task_epilogue 0 "), 0u);
  wait(1);
  lock(0); // of another thread
  EXPECT_EQ(gets_cpu(2)[1].find("task_sleep 1 "), 0u);
  end_cycle(2);
  lock(2);
  EXPECT_EQ(gets_cpu(0)[1].find("task_sleep 2 "), 0u) << "it still waits for its next cycle";
}

TEST_F(SharkRecords, WaitsThatMayHaveEndedUnseenAreNotEnded) {
  const auto hide = [&](uint32_t kind, uint16_t par1) {
    return record(Meaning::filter, kind, kNone, kNone, par1);
  };
  gets_cpu(0);
  wait(0);
  hide(FTrace_filter_mutex, 0); // shown again: nothing was missed
  EXPECT_EQ(gets_cpu(0).size(), 2u);
  wait(0);
  EXPECT_EQ(hide(FTrace_filter_mutex, 1).size(), 1u);
  EXPECT_EQ(gets_cpu(0).size(), 1u);
  wait(0);
  hide(FTrace_filter_interrupt, 1);
  EXPECT_EQ(gets_cpu(0).size(), 2u);
  EXPECT_EQ(hide(FTrace_filter_task, 1).back(), "blackout_start why=0 tid=0 implied");
  EXPECT_EQ(scheduling.running(), kNone);
  EXPECT_EQ(hide(FTrace_filter_task, 0).back(), "blackout_end why=0 tid=0 implied");
}

TEST_F(SharkRecords, ATimerWakesAThreadThatDoesNotRun) {
  gets_cpu(0);
  EXPECT_EQ(timer(1),
            (Texts{"task_timer 1", "task_activate 1 " + kByInterrupt + " tid=10 peer=0 implied"}));
  EXPECT_EQ(timer(0), Texts{"task_timer 0"});
  wait(0);
  timer(0);
  gets_cpu(1);
  EXPECT_EQ(timer(0), Texts{"task_timer 0"}) << "it goes on waiting for the mutex";
  activate(0);
  EXPECT_EQ(timer(0).size(), 2u) << "the wait has ended";
  end_cycle(1);
  timer(1);
  EXPECT_EQ(gets_cpu(0)[1].find("task_epilogue 1 "), 0u) << "its next cycle is there already";
}

TEST_F(SharkRecords, ThreadThatEndsItsCycleRuns) {
  EXPECT_EQ(end_cycle(2), (Texts{"task_end_cycle 2", "task_dispatch 2 why=0 tid=0 implied"}));
  EXPECT_EQ(scheduling.running(), 2u);
  EXPECT_EQ(end_cycle(0), Texts{"task_end_cycle 0"}) << "it is known who runs";
  EXPECT_EQ(scheduling.running(), 2u);
  record(Meaning::sleep, FTrace_EVT_task_sleep, 2);
  EXPECT_EQ(end_cycle(0), Texts{"task_end_cycle 0"}) << "it is known that nobody runs";
}

TEST_F(SharkRecords, LeavingTheCpuSaysWhy) {
  gets_cpu(0);
  EXPECT_EQ(record(Meaning::epilogue, FTrace_EVT_task_epilogue, 1),
            Texts{"task_epilogue 1 " + kPreempted + " tid=0"});
  EXPECT_EQ(scheduling.running(), 0u) << "another thread left";
  EXPECT_EQ(record(Meaning::sleep, FTrace_EVT_task_sleep, 0),
            Texts{"task_sleep 0 " + kSleeps + " tid=0"});
  EXPECT_EQ(scheduling.running(), kNone);
  gets_cpu(0);
  EXPECT_EQ(record(Meaning::end, FTrace_EVT_task_end, 0), Texts{"task_end 0"});
  EXPECT_EQ(scheduling.running(), kNone);
  EXPECT_EQ(record(Meaning::sleep, FTrace_EVT_task_sleep), Texts{});
}

TEST_F(SharkRecords, AnAnnouncedWaitIsForgottenWhenTheThreadLeavesTheCpu) {
  gets_cpu(0);
  wait(0);
  record(Meaning::epilogue, FTrace_EVT_task_epilogue, 0);
  gets_cpu(1);
  EXPECT_EQ(gets_cpu(2)[1].find("task_epilogue 1 "), 0u);
  wait(1); // it does not run
  EXPECT_EQ(gets_cpu(0)[1].find("task_epilogue 2 "), 0u);
}

TEST_F(SharkRecords, ABlackoutSaysWhatIsMissing) {
  gets_cpu(0);
  scheduling.record({.kind = FTrace_EVT_blackout_start, .par1 = 0, .by_manual = true},
                    Meaning::blackout);
  Event event;
  ASSERT_TRUE(scheduling.take(event));
  EXPECT_EQ(event.par1, FTRACE_BLACKOUT_TRANSITIONS);
  EXPECT_FALSE(event.by_manual);
  EXPECT_FALSE(scheduling.take(event));
  EXPECT_EQ(scheduling.running(), kNone);
}

TEST_F(SharkRecords, ADispatchBeginsTheCycleOfACyclicThread) {
  EXPECT_EQ(dispatch(2),
            (Texts{"task_begin_cycle 2 why=0 tid=0 implied", "task_dispatch 2 why=0 tid=0"}));
  EXPECT_EQ(dispatch(0).front().find("task_epilogue 2 "), 0u);
  EXPECT_EQ(dispatch(2).back(), "task_dispatch 2 why=0 tid=0") << "the cycle goes on";
}

TEST_F(SharkRecords, ThreadThatHasEndedWaitsForNothing) {
  gets_cpu(0);
  wait(0);
  record(Meaning::end, FTrace_EVT_task_end, 0);
  EXPECT_EQ(gets_cpu(0).back(), "task_dispatch 0 why=0 tid=0 implied");
}

} // namespace
} // namespace ovnitrace::shark
