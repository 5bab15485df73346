// SPDX-License-Identifier: BSD-2-Clause
#include "user/cli/checked_options.h"

#include "emulator/base/error.h"
#include "emulator/base/messages.h"
#include "emulator/cli/output_ending.h"
#include "emulator/cli/time_option.h"
#include "emulator/format/chunk_frame.h"
#include "user/cli/number_option.h"
#include "user/cli/trigger.h"
#include "user/cli/trigger_rule.h"
#include "user/control/places.h"
#include "user/net/endpoint.h"
#include "user/record/fit_memory.h"
#include "user/stacks/debuginfod.h"
#include "user/stacks/stack_capture.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

namespace ovnitrace {

namespace {

constexpr uint64_t kSmallestRing = 64 << 10, kLargestRing = 1u << 30;    // bytes
constexpr uint64_t kDefaultRing = 8 << 20;                               // bytes
constexpr uint64_t kSmallestChunk = 4 << 10, kLargestChunk = 256u << 20; // bytes
constexpr uint64_t kDefaultChunk = 1 << 20;                              // bytes
constexpr uint64_t kDefaultSpareChunks = 16;
constexpr uint64_t kDefaultTriggerSaves = 10, kDefaultTriggerMarks = 1000;
constexpr size_t kMostRules = 8; ///< each takes kernel memory, and time of each switch

/// --skip and --length are short for a chain.
void add_short_form(const RecordArguments &arguments, RecordOptions &options) {
  if (!arguments.skip && !arguments.length)
    return;
  std::string chain;
  if (arguments.skip)
    chain = fmt::format("start:icount:{}", arguments.skip);
  if (arguments.length)
    chain += fmt::format("{}stop:icount:{}", chain.empty() ? "" : ",", arguments.length);
  if (!options.control.empty())
    throw UsageError(
        "--skip and --length exclude --control: write --control {}, which means the same", chain);
  options.control.push_back(std::move(chain));
}

/// Checks --early-out. A chain that never finishes would keep the program from being ended.
void check_early_out(const control::Plan &plan, const RecordOptions &options) {
  if (!options.early_out)
    return;
  if (options.command.empty())
    throw UsageError(
        "--early-out ends the program that ovnitrace has started: it does not go with -p");
  for (const control::Chain &chain : plan.chains)
    if (chain.repeat == 0)
      control::fail_usage(chain.text, {0, chain.text.size()},
                          "--early-out: this chain repeats endlessly, so it never finishes");
}

/// Checks --control before anything is loaded: the language, and whether the traced processes can
/// have chains.
void check_control(const RecordArguments &arguments, RecordOptions &options) {
  options.region_by_thread = arguments.region == "thread";
  add_short_form(arguments, options);
  if (options.control.empty()) {
    if (!arguments.region.empty())
      throw UsageError("--region needs --control CHAIN");
    if (options.early_out)
      throw UsageError("--early-out needs --control CHAIN");
    return;
  }
  const control::Plan plan = control::make_plan(options.control);
  control::check_groups(plan);
  control::check_possible(plan);
  check_early_out(plan, options);
  if (options.all)
    throw UsageError("--control does not go with -a: chains are of processes. Name them with -p");
  if (!options.families.has(FTRACE_FAMILY_TASK))
    throw UsageError(
        "--control needs the scheduler's events, which --filter leaves out: add +sched");
}

void require_range(const char *option, uint64_t value, uint64_t least, uint64_t most) {
  if (value < least || value > most)
    throw UsageError("{}: {} bytes are out of range; give {} KiB to {} MiB", option, value,
                     least >> 10, most >> 20);
}

/// Says what is wrong with the choice of what to trace.
void check_target(const RecordOptions &options) {
  const bool attaches = options.all || !options.pids.empty();
  if (options.selection.any() && !options.control.empty())
    throw UsageError(options.selection.asked.front() +
                     " does not go with --control, whose chains need all threads of a process");
  if (options.command.empty() && !attaches)
    throw UsageError("nothing to trace: give a program after --, as in `sudo ovnitrace -- ./app`, "
                     "a process with -p PID, or -a for the whole machine; see `ovnitrace --help`");
  if (!options.command.empty() && !options.pids.empty())
    throw UsageError("either a program after -- or -p PID, not both");
  if (!options.command.empty() && !options.selection.tids.empty() && !options.all)
    throw UsageError("-t names threads that run already, and a program after -- has none yet: give "
                     "-p, or -t without a program");
  if (options.command.empty() && !options.user.empty())
    throw UsageError("-u NAME runs a program as another user: give a program after --");
  if (!options.children && options.pids.empty())
    throw UsageError("--no-children needs -p PID");
}

void check_send(const RecordOptions &options) {
  if (options.send.empty() && !options.key_file.empty())
    throw UsageError("--key needs --send tcp://HOST:PORT");
  if (options.send.empty())
    return;
  if (!options.directory.empty() || options.force)
    throw UsageError("--send excludes -o DIR and -f: the collector names and writes the trace");
  const Endpoint collector = parse_endpoint("--send", options.send);
  if (collector.transport != Endpoint::kTcp)
    throw UsageError("--send {}: a capture is sent over TCP: give tcp://HOST:PORT; only programs "
                     "with libovnitrace send over UDP",
                     options.send);
  if (collector.port == 0)
    throw UsageError("--send {}: nobody listens on port 0", options.send);
}

/// Chunks small enough that a buffer has several.
uint64_t default_chunk(const BufferKind &buffer) {
  return buffer.kind == BufferKind::kJtn
             ? kDefaultChunk
             : std::clamp(buffer.bytes / 16, kSmallestChunk, kDefaultChunk);
}

void set_compression(const RecordArguments &arguments, RecordOptions &options) {
  options.compress_level = arguments.compress.empty()
                               ? kLeastLevel
                               : int(parse_number("--compress", arguments.compress, 0, kMostLevel));
}

/// `rotates`: a trigger marks and keeps a part, which needs its time.
void add_trigger(const std::string &trigger, bool rotates, RecordOptions &options) {
  if (rotates && !parse_trigger_rule(trigger))
    throw UsageError("--trigger {} cannot be used with --rotate: use latency, preempted, "
                     "idle-while-waiting, blocked or exit, or record with --buffer last:SIZE",
                     trigger);
  if (trigger == "region_stop") {
    if (options.control.empty())
      throw UsageError("--trigger region_stop needs --control CHAIN");
    options.save_on_region_stop = true;
  } else if (const std::optional<trigger_rule> rule = parse_trigger_rule(trigger)) {
    options.rules.push_back({trigger, *rule});
  } else {
    options.trigger_events.push_back(trigger_code(trigger, options.families));
  }
}

void set_buffer(const RecordArguments &arguments, RecordOptions &options) {
  options.buffer = parse_buffer_kind(arguments.buffer);
  if (options.chunk_bytes == 0)
    options.chunk_bytes = default_chunk(options.buffer);
  if (options.spare_chunks == 0)
    options.spare_chunks = kDefaultSpareChunks;
  require_range("--chunk-size", options.chunk_bytes, kSmallestChunk, kLargestChunk);
  if (options.buffer.kind == BufferKind::kCyc && options.buffer.bytes < 2 * options.chunk_bytes)
    throw UsageError("--buffer {}: {} bytes are too few for two chunks of {} bytes (--chunk-size)",
                     arguments.buffer, options.buffer.bytes, options.chunk_bytes);
  const bool is_flight = options.buffer.kind == BufferKind::kCyc,
             rotates = !is_flight && !arguments.rotate.empty();
  if (!options.on_save.empty() && !is_flight && !(rotates && !arguments.triggers.empty()))
    throw UsageError("--on-save needs --buffer last:SIZE, or --rotate and --trigger");
  if (arguments.triggers.empty() && options.trigger_saves)
    throw UsageError("--max-saves needs --trigger EVENT");
  if (arguments.triggers.empty())
    return;
  if (options.trigger_saves == 0)
    options.trigger_saves = rotates ? kDefaultTriggerMarks : kDefaultTriggerSaves;
  if (!is_flight && !rotates)
    throw UsageError("--trigger needs --buffer last:SIZE or --rotate");
  for (const std::string &trigger : arguments.triggers)
    add_trigger(trigger, rotates, options);
  if (options.rules.size() > kMostRules)
    throw UsageError("--trigger: at most {} triggers can have a time or a name", kMostRules);
}

/// 64M and 1G are sizes; 10s, 5m and 1h are times. 64m is probably meant as a size.
void set_rotation(const RecordArguments &arguments, RecordOptions &options) {
  Rotation &rotation = options.rotation;
  if (arguments.rotate.empty() && rotation.keep)
    throw UsageError("--keep needs --rotate SIZE|TIME");
  if (arguments.rotate.empty())
    return;
  const char unit = arguments.rotate.back();
  constexpr uint64_t kHour = 3600'000'000'000; // ns
  if (std::string_view("kKMgGtT").find(unit) != std::string_view::npos)
    rotation.bytes = parse_size("--rotate", arguments.rotate);
  else if (unit == 's' || unit == 'm' || unit == 'h' || arguments.rotate.ends_with("min"))
    parse_time(arguments.rotate, rotation.time); // it stays 0 if that is no time
  if (unit == 'm' && rotation.time >= kHour)
    throw UsageError("--rotate {0}: m is for minutes: write {1}M for MiB, or {1}min",
                     arguments.rotate, arguments.rotate.substr(0, arguments.rotate.size() - 1));
  if (!rotation.wanted())
    throw UsageError("--rotate: '{}' is no size or time above 0: write 64M or 1G, or 10s, 5m or 1h",
                     arguments.rotate);
  if (options.buffer.kind != BufferKind::kJtn)
    throw UsageError("--rotate needs --buffer disk, the default");
  if (!options.send.empty())
    throw UsageError("--rotate does not go with --send");
  if (options.stacks)
    throw UsageError("--rotate does not go with --stacks: stacks are named when the capture ends");
}

/// Sets the size of the rings. The chunks come first, because both must fit into memory.
void set_rings(const RecordArguments &arguments, RecordOptions &options) {
  if (options.ring_bytes == 0)
    options.ring_bytes = kDefaultRing;
  require_range("--ring-size", options.ring_bytes, kSmallestRing, kLargestRing);
  options.ring_bytes = std::bit_ceil(options.ring_bytes);
  fit_memory(options, arguments.options, unsigned(sysconf(_SC_NPROCESSORS_ONLN)), memory_left());
}

void set_stacks(const RecordArguments &arguments, RecordOptions &options) {
  if (arguments.stacks.empty() && arguments.stack_depth)
    throw UsageError("--stack-depth needs --stacks");
  if (options.debuginfod && arguments.stacks.empty())
    throw UsageError("--debuginfod fetches names for stacks: add --stacks");
  if (arguments.stacks.empty())
    return;
  if (arguments.stack_depth)
    options.stack_depth = arguments.stack_depth;
  if (options.debuginfod)
    check_debuginfod();
  options.stacks = parse_stacks(arguments.stacks);
  if (!options.families.has(FTRACE_FAMILY_TASK))
    throw UsageError(
        "--stacks needs the scheduler's events, which --filter leaves out: add +sched");
}

/// Warns if the scheduler was left out: who adds a family easily forgets the plus sign.
void warn_without_sched(const RecordOptions &options) {
  if (options.families.has(FTRACE_FAMILY_TASK) || options.quiet)
    return;
  const std::string wanted = to_string(options.families);
  print("warning: without sched no states are shown{}",
        wanted == "none" ? ""
                         : fmt::format("; --filter +{0} adds {0} to the default",
                                       wanted.substr(0, wanted.find(','))));
}

} // namespace

RecordOptions checked(const RecordArguments &arguments) {
  RecordOptions options = arguments.options;
  if (arguments.json && !arguments.dry_run)
    throw UsageError("--json needs --dry-run");
  check_is_no_stdout(options.directory,
                     "a trace is a directory of files: name it; `ovnitrace dump` "
                     "prints the events of one");
  set_compression(arguments, options);
  if (options.selection.any() && options.command.empty() && options.pids.empty())
    options.all = true; // the filters alone: of the machine
  if (arguments.dry_run && !options.command.empty())
    throw UsageError("--dry-run lists threads that are alive: leave the program out");
  check_target(options);
  if (!options.probe_files.empty() && !(options.families & families_of_programs()).bits())
    throw UsageError("--probe is for user events, which --filter leaves out: add +user to it");
  check_send(options);
  check_control(arguments, options);
  set_stacks(arguments, options);
  set_buffer(arguments, options);
  set_rotation(arguments, options);
  set_rings(arguments, options);
  warn_without_sched(options);
  if (!options.quiet)
    for (const std::string &note : arguments.notes)
      print_text(note);
  return options;
}

} // namespace ovnitrace
