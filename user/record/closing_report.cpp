// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/closing_report.h"

#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "emulator/base/messages.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace ovnitrace {

namespace {

/// Says how many events a flight recorder has evicted; they are not in the trace.
std::string forgotten_text(uint64_t events) {
  return events == 0 ? ""
                     : fmt::format("; {} evicted, and perhaps some threads",
                                   human_count(events, "older event was", "older events were"));
}

} // namespace

void print_end(const TraceDescription &trace, size_t threads, const std::string &place) {
  if (!trace.command.empty() && trace.exit_status > 128)
    print("{} {}", trace.command[0], trace.how);
  print("{} of {} on {} in {}, {} lost; {} {}{}",
        human_count(trace.events - trace.forgotten, "event", "events"),
        human_count(threads, "thread", "threads"),
        human_count(trace.host.cpus.size(), "CPU", "CPUs"), human_duration(trace.end - trace.begin),
        events_lost(trace), trace.write_error.empty() ? "written to" : "not all of it written to",
        place, forgotten_text(trace.forgotten));
  if (trace.stacks)
    print("{}", stack_counts(trace).text());
  if (trace.user_refused)
    print("{} left out: a program may not log events with these codes, nor give FTrace_fire this "
          "event or thread (docs/user-events.md)",
          human_count(trace.user_refused, "event was", "events were"));
}

bool is_incomplete(const TraceDescription &trace) {
  return events_lost(trace) || trace.skipped_runs || trace.life_lost || !trace.write_error.empty();
}

uint64_t events_in_trace(const TraceDescription &trace, uint64_t recorded) {
  uint64_t events = recorded - trace.dropped.counted;
  for (const EventLoss &loss : trace.not_written)
    events -= std::min(events, loss.counted);
  return events;
}

std::string ending_text(const std::string &stopped_early, const std::string &how,
                        bool has_program) {
  if (stopped_early.empty())
    return how;
  return has_program ? stopped_early + "; later the program " + how : stopped_early;
}

int exit_status_of(const TraceDescription &trace, bool has_program) {
  if (!has_program && is_incomplete(trace))
    return kExitIncomplete;
  return !trace.write_error.empty() && trace.exit_status == 0 ? kExitFailure : trace.exit_status;
}

std::string what_is_missing(const TraceDescription &trace) {
  if (!is_incomplete(trace))
    return "";
  uint64_t in_kernel = 0, not_written = 0;
  for (const CpuCount &count : trace.counts)
    in_kernel += count.lost + count.family_lost;
  for (const EventLoss &loss : trace.not_written)
    not_written += loss.logged;
  std::vector<std::string> parts;
  if (in_kernel)
    parts.push_back(human_count(in_kernel, "event", "events") +
                    " found no room (try a larger --ring-size)");
  if (trace.skipped_runs)
    parts.push_back(human_count(trace.skipped_runs, "event was", "events were") +
                    " skipped by the kernel");
  if (trace.life_lost)
    parts.push_back(human_count(trace.life_lost, "creation, name or end of a thread",
                                "creations, names and ends of threads") +
                    " found no room");
  if (not_written)
    parts.push_back(human_count(not_written, "event", "events") + " could not be written");
  if (!trace.write_error.empty())
    parts.push_back(trace.write_error);
  return fmt::format("warning: the trace is not complete: {}", fmt::join(parts, "; "));
}

} // namespace ovnitrace
