// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/closing_report.h"

#include "emulator/base/human.h"
#include "emulator/base/messages.h"

namespace ovnitrace {

void tell_end(const TraceDescription &trace, size_t threads, const std::string &place) {
  uint64_t lost = 0;
  for (const CpuCount &count : trace.counts)
    lost += count.lost + count.family_lost;
  if (!trace.command.empty() && trace.exit_status > 128)
    print("{} {}", trace.command[0], trace.how);
  print("{} of {} on {} in {}, {} lost; {} {}", human_count(trace.events, "event", "events"),
        human_count(threads, "thread", "threads"),
        human_count(trace.host.cpus.size(), "CPU", "CPUs"), human_duration(trace.end - trace.begin),
        lost, trace.write_error.empty() ? "written to" : "not all of it written to", place);
  if (trace.forgotten)
    print("{} of them forgotten: older than what the flight recorder keeps",
          human_count(trace.forgotten));
  if (lost || trace.skipped_runs || trace.life_lost)
    print("warning: lost {} events (shown as blackouts; try --ring-size), {} skipped "
          "by the kernel, {} creations and renamings",
          lost, trace.skipped_runs, trace.life_lost);
  if (trace.user_refused)
    print("{} that the program logged left out: not for programs (docs/user-events.md)",
          human_count(trace.user_refused, "event", "events"));
  if (!trace.write_error.empty())
    print("error: {}{}", trace.write_error,
          trace.records_dropped ? fmt::format(" ({} records not written)", trace.records_dropped)
                                : "");
}

} // namespace ovnitrace
