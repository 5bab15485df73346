// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/words.h"

#include "emulator/format/call_names.h"
#include "emulator/slices/interrupts.h"
#include "emulator/summary/names.h"

#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace {

std::string block_name(const WhyInput &input, Block block) {
  const std::string call(call_name(input.info.machine, block.call));
  const std::string name = call.empty() ? "call not known" : call;
  switch (block.reason) {
  case FTRACE_OFFCPU_DISK:
    return call.empty() ? "disk" : name + " (disk)";
  case FTRACE_OFFCPU_STOPPED:
    return "stopped by a signal";
  case FTRACE_OFFCPU_TRACED:
    return "stopped by a debugger";
  case FTRACE_OFFCPU_PARKED:
    return "parked kernel thread";
  case FTRACE_OFFCPU_IDLE:
    return "idle kernel thread";
  default:
    return name;
  }
}

const char *wait_name(WaitKind kind) {
  switch (kind) {
  case WaitKind::wakeup:
    return "after a wakeup";
  case WaitKind::preemption:
    return "after a preemption";
  case WaitKind::yield:
    return "after it yielded";
  case WaitKind::throttling:
    return "throttled: its cgroup had no CPU quota left";
  case WaitKind::not_known:
    break;
  }
  return "since before the trace";
}

const char *wait_word(WaitKind kind) {
  constexpr const char *words[kWaitKinds] = {"wakeup", "preemption", "yield", "throttling",
                                             "unknown"};
  return words[size_t(kind)];
}

namespace {

/// A thread, traced or not; `node`: where an untraced one runs.
std::string label_of(const WhyInput &input, Who who, uint32_t node) {
  if (who.kind() == Who::Kind::thread)
    return thread_label(input.catalog.threads[who.number()]);
  return name_and_number(name_of(input.catalog, who, node), "thread", who.number());
}

} // namespace

std::string who_text(const WhyInput &input, Who who, uint32_t thread) {
  const uint32_t node = input.catalog.threads[thread].node;
  switch (who.kind()) {
  case Who::Kind::thread:
    return label_of(input, who, node);
  case Who::Kind::untraced:
    return label_of(input, who, node) + ", not traced";
  case Who::Kind::interrupt:
    return std::string(source_phrase(InterruptSource(who.number())));
  case Who::Kind::softirq:
  case Who::Kind::softirq_untraced:
    return "a softirq while " + label_of(input, who.interrupted(), node) + " ran";
  default:
    return name_of(input.catalog, who, node);
  }
}

} // namespace ovnitrace
