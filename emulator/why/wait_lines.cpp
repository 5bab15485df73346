// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/wait_lines.h"

#include "emulator/base/human.h"
#include "emulator/summary/names.h"
#include "emulator/why/cause_names.h"

#include <fmt/format.h>

#include <algorithm>

namespace ovnitrace {

namespace {

/// Returns the time from the start of the trace, as --from takes it.
std::string at_text(const WhyInput &input, const LongWait &wait) {
  return fmt::format("{:.6f} s{}", double(wait.start - input.catalog.begin) / 1e9,
                     wait.starts ? "" : ", and already before");
}

std::string label_of(const WhyInput &input, const LongWait &wait) {
  return thread_label(input.catalog.threads[wait.thread], wait.start);
}

std::string cpu_text(const WhyInput &input, uint32_t cpu) {
  return cpu < input.catalog.cpus.size() ? fmt::format("CPU {}", input.catalog.cpus[cpu].index)
                                         : "a CPU";
}

/// Returns why the thread did not run when the wait began.
std::string cause(const WhyInput &input, const LongWait &wait) {
  const bool known = wait.by.kind() != Culprit::Kind::not_known;
  const std::string by = known ? " by " + culprit_text(input, wait.by, wait.thread) : "";
  switch (wait.kind) {
  case WaitKind::wakeup: {
    const bool was_blocked = wait.block != Block();
    return "woken" + by +
           (was_blocked ? " (" + block_name(input.info.machine, wait.block) + ")" : "");
  }
  case WaitKind::preemption:
    return "preempted" + by;
  case WaitKind::yield:
    return "it yielded to" + (known ? " " + culprit_text(input, wait.by, wait.thread) : " others");
  case WaitKind::spin:
    return "it spins in sched_yield";
  case WaitKind::throttling:
    return "no CPU quota was left";
  case WaitKind::budget:
    return "it had used up its budget, and waited for its next period";
  case WaitKind::period:
    return "it had yielded, and waited for its next period";
  case WaitKind::refill:
    if (wait.throttled)
      return fmt::format(
          "{}, for {}; then it waited {}", cause(input, {.kind = wait.throttled_kind}),
          human_duration(wait.throttled), human_duration(wait.length() - wait.throttled));
    return "it had quota or budget again";
  case WaitKind::not_known:
    break;
  }
  return "why is not known";
}

std::string holder_text(const WhyInput &input, const LongWait &wait, const LongWait::Part &part) {
  switch (part.holder.kind()) {
  case Culprit::Kind::idle:
    return "nobody (idle)";
  case Culprit::Kind::unseen:
  case Culprit::Kind::not_known:
    return "nobody knows who";
  case Culprit::Kind::untraced:
    return name_and_number(
        short_name(name_of(input.catalog, part.holder, input.catalog.threads[wait.thread].host)),
        "thread", part.holder.number());
  default:
    return culprit_text(input, part.holder, wait.thread);
  }
}

/// Returns who held the CPU of the wait, in the order of LongWait::holders.
std::vector<LongWait::Part> parts_of(const LongWait &wait) {
  std::vector<LongWait::Part> parts = wait.holders;
  std::erase_if(parts, [&](const LongWait::Part &part) { return part.cpu != wait.cpu; });
  return parts;
}

/// Returns the holder that held the CPU nearly all of the time, or else the first ones and the
/// rest.
std::string holders(const WhyInput &input, const LongWait &wait) {
  constexpr size_t kMostNamed = 2;
  const std::vector<LongWait::Part> parts = parts_of(wait);
  if (parts.empty() || is_throttled(wait.kind))
    return "";
  const std::string first = holder_text(input, wait, parts[0]);
  if (parts[0].ns >= wait.cpu_ns / 10 * 9) {
    const bool same =
        wait.kind == WaitKind::preemption && parts[0].holder == wait.by &&
        (wait.by.kind() == Culprit::Kind::thread || wait.by.kind() == Culprit::Kind::untraced);
    return same ? ", which ran there" : ", " + first + " ran there";
  }
  std::string text = ", meanwhile " + first + " ran there for " + human_duration(parts[0].ns);
  uint64_t rest = wait.cpu_ns - parts[0].ns;
  for (size_t n = 1; n < parts.size() && n < kMostNamed; n++) {
    text += ", " + holder_text(input, wait, parts[n]) + " for " + human_duration(parts[n].ns);
    rest -= parts[n].ns;
  }
  return text + (rest ? ", others for " + human_duration(rest) : "");
}

/// Returns which other CPU was idle longest. After a move that may be the CPU of the wait, before
/// the thread came there.
std::string idle_text(const WhyInput &input, const LongWait &wait) {
  if (wait.idle.cpu != kNone && wait.idle.cpu != wait.cpu)
    return fmt::format(", {} was idle for {} of it", cpu_text(input, wait.idle.cpu),
                       human_duration(wait.idle.cpu_ns));
  if (wait.idle.forbidden_cpu != kNone && wait.idle.forbidden_cpu != wait.cpu)
    return fmt::format(", {}, which it may not use, was idle for {} of it",
                       cpu_text(input, wait.idle.forbidden_cpu),
                       human_duration(wait.idle.forbidden_cpu_ns));
  return "";
}

/// Returns whether events are missing where it ended: it did not last until the end of the range.
bool is_cut(const WhyInput &input, const LongWait &wait) {
  return !wait.ends && wait.end < input.why.range.to;
}

} // namespace

std::string wait_line(const WhyInput &input, const LongWait &wait) {
  const std::string start = fmt::format(
      "{} waited {}{} for {}{} from {}: ", label_of(input, wait), human_duration(wait.length()),
      wait.moved ? ", " + human_duration(wait.cpu_ns) + " of it" : "", cpu_text(input, wait.cpu),
      wait.moved ? "," : "", at_text(input, wait));
  return start + cause(input, wait) + holders(input, wait) + idle_text(input, wait) +
         (wait.ends             ? ""
          : is_cut(input, wait) ? ", and its end was not seen"
                                : ", and it still waits");
}

std::string idle_wait_line(const WhyInput &input, const LongWait &wait) {
  std::string causes;
  for (size_t n = 0; n < kIdleCauses.size(); n++)
    if (const uint64_t ns = wait.idle.causes.ns[n])
      causes += fmt::format("{}{} {}", causes.empty() ? "" : ", ", kIdleCauses[n].name,
                            human_duration(ns));
  return fmt::format("{} at {}: {} of {} ({})", label_of(input, wait), at_text(input, wait),
                     human_duration(wait.idle.causes.total()), human_duration(wait.length()),
                     causes);
}

std::string block_line(const WhyInput &input, const LongWait &block) {
  std::string end = "woken by " + culprit_text(input, block.by, block.thread);
  if (block.by.kind() == Culprit::Kind::nobody)
    end = "nobody has woken it in this time";
  else if (block.by.kind() == Culprit::Kind::not_known)
    end = is_cut(input, block) ? "its end was not seen" : "who woke it is not known";
  return fmt::format(
      "{} was blocked {} from {}{}: {}", label_of(input, block), human_duration(block.length()),
      at_text(input, block),
      block.block == Block() ? "" : " (" + block_name(input.info.machine, block.block) + ")", end);
}

} // namespace ovnitrace
