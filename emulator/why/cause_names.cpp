// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/cause_names.h"

#include "emulator/base/human.h"
#include "emulator/format/call_names.h"
#include "emulator/slices/interrupts.h"
#include "emulator/summary/names.h"
#include "emulator/why/blocked_at.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace ovnitrace {

namespace {

/// Returns whether a call waits uninterruptibly for another thread, and never for a disk.
bool waits_for_threads(std::string_view call) {
  constexpr std::array<std::string_view, 6> calls = {
      "vfork", "clone", "clone3", "sched_setaffinity", "membarrier", "exit_group"};
  return std::find(calls.begin(), calls.end(), call) != calls.end();
}

} // namespace

std::string block_name(const std::string &machine, Block block) {
  const std::string call(block.page_fault ? kPageFault : call_name(machine, block.call));
  const std::string name = call.empty() ? "call not known" : call;
  switch (block.reason) {
  case FTRACE_OFFCPU_DISK:
    if (waits_for_threads(call))
      return name;
    if (call.empty())
      return block.disk ? "disk" : "uninterruptible sleep";
    return name + (block.disk ? " (disk)" : " (uninterruptible)");
  case FTRACE_OFFCPU_STOPPED:
    return "stopped by a signal";
  case FTRACE_OFFCPU_TRACED:
    return "stopped by a debugger";
  case FTRACE_OFFCPU_FROZEN:
    return "frozen (cgroup freezer)";
  case FTRACE_OFFCPU_PARKED:
    return "parked kernel thread";
  case FTRACE_OFFCPU_IDLE:
    return "idle wait in the kernel (TASK_IDLE)";
  default:
    return name;
  }
}

std::string wait_name(const Catalog &catalog, WaitKind kind, bool real_time) {
  const std::vector<HostInfo> &hosts = catalog.hosts;
  const bool exact = !(real_time && kind == WaitKind::throttling) &&
                     std::all_of(hosts.begin(), hosts.end(),
                                 [](const HostInfo &host) { return host.sees_refills; });
  const auto at_most = [&](const std::string &name, const char *why) {
    return name + (exact ? ": " : ", at most: ") + why;
  };
  switch (kind) {
  case WaitKind::wakeup:
    return "after a wakeup";
  case WaitKind::preemption:
    return "after a preemption";
  case WaitKind::yield:
    return "after it yielded";
  case WaitKind::spin:
    return "spins in sched_yield";
  case WaitKind::throttling:
    return at_most("throttled", "no CPU quota was left");
  case WaitKind::budget:
    return at_most("until its next period", "its budget was used up");
  case WaitKind::period:
    return at_most("until its next period", "it had yielded");
  case WaitKind::refill:
    return "after it had quota or budget again";
  case WaitKind::not_known:
    break;
  }
  return "since before the trace";
}

const char *wait_word(WaitKind kind) {
  constexpr const char *words[kWaitKinds] = {"wakeup", "preemption", "yield",
                                             "spin",   "throttling", "budget",
                                             "period", "refill",     "unknown"};
  return words[size_t(kind)];
}

std::string culprit_text(const WhyInput &input, Culprit culprit, uint32_t thread) {
  return culprit_text(input.catalog, culprit, input.catalog.threads[thread].host);
}

std::string culprit_text(const Catalog &catalog, Culprit culprit, uint32_t host) {
  const auto label = [&] {
    return name_and_number(short_name(name_of(catalog, culprit, host)), "thread",
                           tid_of(catalog, culprit));
  };
  switch (culprit.kind()) {
  case Culprit::Kind::thread:
    return label();
  case Culprit::Kind::untraced:
    return label() + ", not traced";
  case Culprit::Kind::unseen:
    return "unknown after the first that got it";
  case Culprit::Kind::interrupt:
    return std::string(source_phrase(InterruptSource(culprit.number())));
  default:
    return name_of(catalog, culprit, host);
  }
}

std::string culprits_text(Culprit::Kind kind, const std::string &name, size_t threads) {
  return fmt::format("{} ({} threads){}", name.empty() ? "without a name" : short_name(name),
                     threads, kind == Culprit::Kind::untraced ? ", not traced" : "");
}

} // namespace ovnitrace
