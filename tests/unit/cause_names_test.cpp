// SPDX-License-Identifier: BSD-2-Clause
// How the causes of waits are called.
#include "emulator/format/call_names.h"
#include "emulator/slices/interrupts.h"
#include "emulator/why/cause_names.h"

#include <gtest/gtest.h>
#include <ovnitrace/ftrace_codes.h>

#include <string>

namespace ovnitrace {
namespace {

std::string block(uint8_t reason, uint32_t number, bool page_fault = false, bool disk = false) {
  return block_name("x86_64", {.call = uint16_t(FTRACE_CALL_NATIVE + number),
                               .reason = reason,
                               .page_fault = page_fault,
                               .disk = disk});
}

TEST(CauseNames, ABlockHasItsCallAndWhyItIsNoSleep) {
  EXPECT_EQ(block(FTRACE_OFFCPU_SLEEP, 202), "futex");
  EXPECT_EQ(block(FTRACE_OFFCPU_DISK, 0), "read (uninterruptible)");
  EXPECT_EQ(block(FTRACE_OFFCPU_DISK, 0, false, true), "read (disk)");
  EXPECT_EQ(block(FTRACE_OFFCPU_DISK, 0, true), "page fault (uninterruptible)");
  EXPECT_EQ(block(FTRACE_OFFCPU_DISK, 0, true, true), "page fault (disk)");
  EXPECT_EQ(block(FTRACE_OFFCPU_SLEEP, 0, true), "page fault");
  EXPECT_EQ(block(FTRACE_OFFCPU_STOPPED, 0), "stopped by a signal");
  EXPECT_EQ(block(FTRACE_OFFCPU_TRACED, 0), "stopped by a debugger");
  EXPECT_EQ(block(FTRACE_OFFCPU_FROZEN, 0), "frozen (cgroup freezer)");
  EXPECT_EQ(block(FTRACE_OFFCPU_PARKED, 0), "parked kernel thread");
  EXPECT_EQ(block(FTRACE_OFFCPU_IDLE, 0), "idle wait in the kernel (TASK_IDLE)");
}

TEST(CauseNames, CallsThatWaitForThreadsWaitForNoDisk) {
  EXPECT_EQ(block(FTRACE_OFFCPU_DISK, 58), "vfork");
  EXPECT_EQ(block(FTRACE_OFFCPU_DISK, 56), "clone");
  EXPECT_EQ(block(FTRACE_OFFCPU_DISK, 435), "clone3");
  EXPECT_EQ(block(FTRACE_OFFCPU_DISK, 203), "sched_setaffinity");
  EXPECT_EQ(block(FTRACE_OFFCPU_DISK, 324), "membarrier");
  EXPECT_EQ(block(FTRACE_OFFCPU_DISK, 231), "exit_group");
  EXPECT_EQ(block(FTRACE_OFFCPU_DISK, 57), "fork (uninterruptible)");
}

TEST(CauseNames, ABlockWithoutACallSaysSoUnlessItReadADisk) {
  EXPECT_EQ(block_name("x86_64", {.reason = FTRACE_OFFCPU_SLEEP}), "call not known");
  EXPECT_EQ(block_name("x86_64", {.reason = FTRACE_OFFCPU_DISK}), "uninterruptible sleep");
  EXPECT_EQ(block_name("x86_64", {.reason = FTRACE_OFFCPU_DISK, .disk = true}), "disk");
}

TEST(CauseNames, AWaitSaysWhatItFollowed) {
  Catalog catalog;
  catalog.hosts.resize(2);
  catalog.hosts[0].sees_refills = catalog.hosts[1].sees_refills = true;
  EXPECT_EQ(wait_name(catalog, WaitKind::wakeup), "after a wakeup");
  EXPECT_EQ(wait_name(catalog, WaitKind::preemption), "after a preemption");
  EXPECT_EQ(wait_name(catalog, WaitKind::yield), "after it yielded");
  EXPECT_EQ(wait_name(catalog, WaitKind::spin), "spins in sched_yield");
  EXPECT_EQ(wait_name(catalog, WaitKind::throttling), "throttled: no CPU quota was left");
  EXPECT_EQ(wait_name(catalog, WaitKind::budget), "until its next period: its budget was used up");
  EXPECT_EQ(wait_name(catalog, WaitKind::period), "until its next period: it had yielded");
  EXPECT_EQ(wait_name(catalog, WaitKind::refill), "after it had quota or budget again");
  EXPECT_EQ(wait_name(catalog, WaitKind::not_known), "since before the trace");
  catalog.hosts[1].sees_refills = false;
  EXPECT_EQ(wait_name(catalog, WaitKind::throttling), "throttled, at most: no CPU quota was left")
      << "one host does not see it";
  EXPECT_EQ(wait_name(catalog, WaitKind::wakeup), "after a wakeup");
}

TEST(CauseNames, JsonHasAWordForEachKindOfWait) {
  EXPECT_STREQ(wait_word(WaitKind::wakeup), "wakeup");
  EXPECT_STREQ(wait_word(WaitKind::preemption), "preemption");
  EXPECT_STREQ(wait_word(WaitKind::yield), "yield");
  EXPECT_STREQ(wait_word(WaitKind::spin), "spin");
  EXPECT_STREQ(wait_word(WaitKind::throttling), "throttling");
  EXPECT_STREQ(wait_word(WaitKind::budget), "budget");
  EXPECT_STREQ(wait_word(WaitKind::period), "period");
  EXPECT_STREQ(wait_word(WaitKind::refill), "refill");
  EXPECT_STREQ(wait_word(WaitKind::not_known), "unknown");
}

TEST(CauseNames, ACulpritIsAThreadOrWhatTookItsPlace) {
  Catalog catalog;
  catalog.hosts.resize(2);
  catalog.threads.resize(2);
  catalog.threads[1].name = "worker";
  catalog.threads[1].tid = 41;
  using Kind = Culprit::Kind;
  EXPECT_EQ(culprit_text(catalog, Culprit(Kind::thread, 1), 1), "worker (41)");
  EXPECT_EQ(culprit_text(catalog, Culprit(Kind::untraced, 99), 1), "thread 99, not traced");
  EXPECT_EQ(culprit_text(catalog, Culprit(Kind::unseen), 1), "unknown after the first that got it");
  EXPECT_EQ(culprit_text(catalog, Culprit(Kind::idle), 1), "idle");
  EXPECT_EQ(culprit_text(catalog, Culprit(Kind::nobody), 1), "nobody yet");
  EXPECT_EQ(culprit_text(catalog, Culprit(Kind::others), 1), "others");
  EXPECT_EQ(culprit_text(catalog, Culprit(), 1), "not known");
  EXPECT_EQ(tid_of(catalog, Culprit(Kind::thread, 1)), 41u);
  EXPECT_EQ(tid_of(catalog, Culprit(Kind::untraced, 99)), 99u);
  EXPECT_EQ(tid_of(catalog, Culprit(Kind::idle)), 0u);
  EXPECT_EQ(tid_of(catalog, Culprit(Kind::others)), kNone);
}

} // namespace
} // namespace ovnitrace
