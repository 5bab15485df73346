// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/capture_start.h"

#include "emulator/base/human.h"
#include "user/control/plan.h"
#include "user/stacks/stack_capture.h"

#include <fmt/format.h>

namespace ovnitrace {

TraceDescription describe(const RecordOptions &options, uint32_t cpus, const Identity &runs_as) {
  TraceDescription trace;
  trace.host = describe_host(cpus);
  trace.possible_cpus = cpus;
  trace.command = options.command;
  if (!options.cmdlines && !trace.command.empty())
    trace.command.resize(1); // arguments can be secrets
  shorten(trace.command);
  trace.with_children = options.children;
  trace.filters = options.selection.asked;
  trace.all_threads = options.all && !options.selection.any() &&
                      options.families.has(FTRACE_FAMILY_TASK) && options.control.empty();
  trace.cpu_holders = options.families.has(FTRACE_FAMILY_TASK) && !trace.all_threads;
  if (options.families.has(FTRACE_FAMILY_POWER))
    trace.idle_states = idle_state_names(trace.host);
  trace.user = runs_as.name;
  trace.families = options.families;
  trace.stacks_option = stacks_text(options.stacks);
  trace.ring_bytes = options.ring_bytes;
  trace.chunk_bytes = options.chunk_bytes;
  trace.buffer = options.buffer;
  trace.compress_level = options.compress_level;
  trace.control = control::make_plan(options.control).descriptions();
  trace.region_by_thread = options.region_by_thread;
  return trace;
}

bool starts_programs(const RecordOptions &options) {
  return !options.command.empty() || !options.on_save.empty() || options.debuginfod ||
         options.opens_browser;
}

std::string start_text(const RecordOptions &options, const std::string &traced,
                       const std::string &place) {
  const std::string until =
      options.duration ? fmt::format("for {} or until Ctrl-C", human_duration(options.duration))
      : options.pids.empty() ? "until Ctrl-C"
                             : "until it ends or Ctrl-C";
  return fmt::format("tracing {} {}; the trace goes to {}", traced, until, place);
}

} // namespace ovnitrace
