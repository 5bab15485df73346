// SPDX-License-Identifier: BSD-2-Clause
// The words for the segments of a path.
#include "emulator/critical/path.h"
#include "emulator/critical/path_text.h"

#include <gtest/gtest.h>
#include <ovnitrace/ftrace_codes.h>

#include <string>

namespace ovnitrace {
namespace {

class PathText : public testing::Test {
protected:
  PathText() {
    catalog.hosts.resize(2);
    catalog.hosts[1].machine = "x86_64";
    catalog.threads.resize(3);
    catalog.threads[2].name = "worker";
    catalog.threads[2].tid = 42;
    catalog.threads[2].host = 1;
    segment.thread = 2;
    segment.from = 1000;
    segment.to = 2000;
  }
  std::string text(Cause cause, const Peer &peer = {}) {
    segment.cause = cause;
    segment.peer = peer;
    return cause_text(segment, catalog);
  }
  Catalog catalog;
  PathSegment segment;
};

TEST_F(PathText, EachCauseHasAWord) {
  const std::pair<Cause, const char *> words[] = {{Cause::running, "running"},
                                                  {Cause::waiting, "waiting for a CPU"},
                                                  {Cause::throttled, "throttled"},
                                                  {Cause::timer, "timer"},
                                                  {Cause::io, "I/O"},
                                                  {Cause::network, "network"},
                                                  {Cause::interrupt, "interrupt"},
                                                  {Cause::blocked, "blocked"},
                                                  {Cause::ended, "ended"},
                                                  {Cause::unknown, "unknown"},
                                                  {Cause::spins, "spins in sched_yield"},
                                                  {Cause::not_woken, "blocked, not woken yet"}};
  for (const auto &[cause, word] : words)
    EXPECT_EQ(text(cause), word);
}

TEST_F(PathText, EachCauseHasALabel) {
  EXPECT_EQ(cause_label(Cause::running), "Running");
  EXPECT_EQ(cause_label(Cause::waiting), "Waiting for a CPU");
  EXPECT_EQ(cause_label(Cause::throttled), "Throttled: no CPU quota or budget left");
  EXPECT_EQ(cause_label(Cause::timer), "Blocked until a timer woke it");
  EXPECT_EQ(cause_label(Cause::io), "Blocked until I/O ended");
  EXPECT_EQ(cause_label(Cause::network), "Blocked until the network woke it");
  EXPECT_EQ(cause_label(Cause::interrupt), "Blocked until an interrupt woke it");
  EXPECT_EQ(cause_label(Cause::outside), "Blocked until an untraced thread woke it");
  EXPECT_EQ(cause_label(Cause::blocked), "Blocked, no wakeup known");
  EXPECT_EQ(cause_label(Cause::ended), "Has ended");
  EXPECT_EQ(cause_label(Cause::unknown), "Not known");
  EXPECT_EQ(cause_label(Cause::worker), "In a kernel worker");
  EXPECT_EQ(cause_label(Cause::unowned), "In a kernel worker, queued by unknown");
  EXPECT_EQ(cause_label(Cause::spins), "Spins in sched_yield");
  EXPECT_EQ(cause_label(Cause::not_woken), "Blocked, not woken yet");
}

TEST_F(PathText, AWakerHasItsNameAndItsTid) {
  EXPECT_EQ(text(Cause::outside, {.tid = 42, .thread = 2}), "outside: worker (42)");
  EXPECT_EQ(text(Cause::outside, {.tid = 9, .thread = kNone}), "outside: thread 9");
  EXPECT_EQ(text(Cause::worker, {.tid = 42, .thread = 2}), "kernel worker worker (42)");
  EXPECT_EQ(text(Cause::unowned, {.tid = 42, .thread = 2}), "worker (42), queued by unknown");
  EXPECT_EQ(text(Cause::outside, {.tid = 0, .thread = kNone}), "outside: idle");
}

TEST_F(PathText, ABlockHasItsCall) {
  segment.call = FTRACE_CALL_NATIVE + 202;
  EXPECT_EQ(text(Cause::blocked), "blocked in futex");
  EXPECT_EQ(text(Cause::not_woken), "blocked in futex, not woken yet");
  EXPECT_EQ(call_text(segment, catalog), "futex");
}

TEST_F(PathText, AnInterruptHasItsName) {
  segment.interrupt = FTRACE_INTERRUPT_SOFT | 3;
  EXPECT_EQ(text(Cause::interrupt), "interrupt NET_RX");
  segment.interrupt = 0xfd;
  EXPECT_EQ(text(Cause::interrupt), "interrupt reschedule");
  segment.interrupt = 0xec;
  EXPECT_EQ(text(Cause::interrupt), "interrupt timer");
  segment.interrupt = kNoInterrupt;
  EXPECT_EQ(text(Cause::interrupt), "interrupt");
}

TEST_F(PathText, OnlyAWaitHasAHolder) {
  text(Cause::waiting, {.tid = 42, .thread = 2});
  EXPECT_EQ(holder_text(segment, catalog), "worker (42)");
  EXPECT_EQ(peer_tid(segment, catalog), 42u);
  EXPECT_EQ(peer_name(segment, catalog), "worker");
  text(Cause::waiting, {.tid = 0, .thread = kNone});
  EXPECT_EQ(holder_text(segment, catalog), "idle");
  EXPECT_EQ(peer_tid(segment, catalog), 0u);
  text(Cause::waiting, {.tid = 7, .thread = kNone});
  EXPECT_EQ(holder_text(segment, catalog), "thread 7");
  EXPECT_EQ(peer_name(segment, catalog), "");
  text(Cause::waiting, {.tid = kNone, .thread = kNone});
  EXPECT_EQ(holder_text(segment, catalog), "");
  text(Cause::running, {.tid = 42, .thread = 2});
  EXPECT_EQ(holder_text(segment, catalog), "");
}

TEST_F(PathText, TheMainThreadIsTheFirstAttachedOneOrTheProgram) {
  TraceInfo info;
  catalog.threads[0].tid = 40;
  catalog.threads[1].tid = 41;
  EXPECT_EQ(main_thread(catalog, info), kNone) << "nothing was started";
  info.program_pid = 42;
  EXPECT_EQ(main_thread(catalog, info), 2u);
  info.attached_pids = {41, 40};
  EXPECT_EQ(main_thread(catalog, info), 1u);
  info.attached_pids = {99, 40};
  EXPECT_EQ(main_thread(catalog, info), kNone) << "it has no thread in the trace";
}

} // namespace
} // namespace ovnitrace
