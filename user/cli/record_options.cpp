// SPDX-License-Identifier: BSD-2-Clause
#include "user/cli/record_options.h"

#include "emulator/base/error.h"
#include "emulator/base/messages.h"
#include "emulator/cli/output_ending.h"
#include "emulator/cli/time_option.h"
#include "emulator/format/chunk_frame.h"
#include "emulator/format/code_kind.h"
#include "emulator/format/code_table.h"
#include "emulator/format/event_names.h"
#include "user/cli/number_option.h"
#include "user/cli/process_names.h"
#include "user/control/places.h"
#include "user/net/endpoint.h"
#include "user/record/fit_memory.h"
#include "user/stacks/stack_capture.h"

#include <fmt/core.h>
#include <ovnitrace/capture.h>

#include <algorithm>
#include <bit>

namespace ovnitrace {

namespace {

constexpr uint64_t kSmallestRing = 64 << 10, kLargestRing = 1u << 30;    // bytes
constexpr uint64_t kDefaultRing = 8 << 20;                               // bytes
constexpr uint64_t kSmallestChunk = 4 << 10, kLargestChunk = 256u << 20; // bytes
constexpr uint64_t kDefaultChunk = 1 << 20;                              // bytes
constexpr uint64_t kDatagramChunk = 32 << 10;                            // bytes
constexpr uint64_t kDefaultSpareChunks = 16, kDatagramSpareChunks = 512;
constexpr uint64_t kMostSpareChunks = 1 << 16;
constexpr uint64_t kDefaultTriggerSaves = 10, kMostTriggerSaves = 1'000'000;
constexpr uint64_t kLongestDuration = 366ull * 86400 * 1'000'000'000; // ns

constexpr const char *kRoomGroup = "Buffers and files";

uint64_t parse_duration(const std::string &text) {
  uint64_t ns = 0;
  if (!parse_time(text, ns) || ns == 0 || ns > kLongestDuration)
    throw Error(fmt::format("--duration: '{}' is no time above 0 and up to a year: write 10s, "
                            "200ms, 30us, 5m or 1h; a number alone is in seconds",
                            text),
                kExitUsage);
  return ns;
}

/// The processes of one name. That they are the right ones, only the user knows: they are printed.
std::vector<uint32_t> pids_named(const std::string &name, std::vector<std::string> &notes) {
  const std::vector<NamedProcess> found = processes_named(name);
  if (found.empty())
    throw Error(fmt::format("--pid {0}: no process has this name or number; `pgrep -l {0}` lists "
                            "names that are like it",
                            name));
  std::vector<uint32_t> pids;
  std::string list;
  for (const NamedProcess &process : found) {
    pids.push_back(process.pid);
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", process.name, process.pid);
  }
  notes.push_back(fmt::format("-p {} is {}", name, list));
  return pids;
}

/// A list as 12,34 or nginx; each pid once.
void add_pids(const std::string &text, RecordArguments &arguments) {
  std::vector<uint32_t> &pids = arguments.options.pids;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, comma - at);
    at = comma + 1;
    const bool is_name =
        !word.empty() && word.find_first_not_of("0123456789") != word.npos && word[0] != '-';
    const std::vector<uint32_t> found =
        is_name ? pids_named(word, arguments.notes)
                : std::vector{uint32_t(parse_number("--pid", word, 1, FTRACE_TID_MASK))};
    for (const uint32_t pid : found)
      if (std::find(pids.begin(), pids.end(), pid) == pids.end())
        pids.push_back(pid);
  }
  if (pids.size() > CAPTURE_TARGETS)
    throw Error(fmt::format("--pid: {} processes are too many, {} is the most; with their parent "
                            "alone its children are traced too",
                            pids.size(), CAPTURE_TARGETS),
                kExitUsage);
}

void add_target_options(App app, RecordArguments &arguments) {
  RecordOptions &options = arguments.options;
  const OptionGroup group(app, "What to trace");
  const Option all = app.add_flag("-a,--all", options.all, "Trace every thread of the machine");
  app.add_option_function<std::vector<std::string>>(
         "-p,--pid",
         [&arguments](const std::vector<std::string> &lists) {
           for (const std::string &list : lists)
             add_pids(list, arguments);
         },
         "Trace a process that is running, with its children, those that it has and those to "
         "come: its number, or the name of one or more; a list as 12,nginx, and may be given again")
      .type_name("PID|NAME")
      .allow_extra_args(false)
      .excludes(all);
  app.add_flag(
      "--no-children", [&options](int64_t) { options.children = false; },
      "With -p: the processes alone, without their children");
  app.add_option_function<std::string>(
         "-d,--duration",
         [&options](const std::string &text) { options.duration = parse_duration(text); },
         "Stop after this time, as 10s, 200ms or 5m; a number alone is in seconds. A program goes "
         "on untraced")
      .type_name("TIME");
  app.add_option("-u,--user", options.user,
                 "Run the program as this user (default: who called sudo)")
      .type_name("NAME");
}

void add_event_options(App app, RecordArguments &arguments) {
  const OptionGroup group(app, "What to record");
  RecordOptions &options = arguments.options;
  app.add_option_function<std::string>(
         "--filter",
         [&options](const std::string &list) { options.families = parse_families(list); },
         "Families of events to capture: names or the manual's numbers, as irq,signal; +irq adds "
         "to the default, all,-irq takes from all. Families: " +
             family_names() + " (default: sched,user)")
      .type_name("LIST");
  app.add_option("--probe", options.probe_files,
                 "A program or library whose user events are wanted, beside the program and the "
                 "libraries that it needs; may be given again (docs/user-events.md)")
      .type_name("FILE")
      .allow_extra_args(false);
  app.add_flag(
      "--no-cmdline", [&options](int64_t) { options.cmdlines = false; },
      "Do not record the command lines of the traced processes, which can hold secrets");
  app.add_flag("--stacks{blocks}", arguments.stacks,
               "Record the stacks with which threads block, of the kernel and the program "
               "(kernel,user, or one of them); wakeup: also those of who wakes them; preempt: also "
               "those with which they lose their CPU (docs/stacks.md)")
      .type_name("[=LIST]");
}

void add_control_options(App app, RecordArguments &arguments) {
  const OptionGroup group(app, "Regions");
  app.add_option("--control", arguments.options.control,
                 "Trace only regions of the run: a chain of alarms, as "
                 "start:enter_func:solve,stop:exit_func:solve; may be given again. Types of "
                 "alarms: " +
                     control::type_names() + " (docs/control.md)")
      .type_name("CHAIN")
      .allow_extra_args(false);
  app.add_option("--region", arguments.region,
                 "With --control: what starts and stops with an alarm: global: all threads of the "
                 "process (default); thread: the thread that it fires for")
      .type_name("global|thread")
      .one_of({"global", "thread"});
  add_number(app, "--skip", arguments.skip, 0, INT64_MAX,
             "Trace nothing until a thread has executed so many instructions: short for --control "
             "start:icount:N");
  add_number(app, "--length", arguments.length, 1, INT64_MAX,
             "Trace so many instructions: short for stop:icount:N in the same chain");
  app.add_flag("--early-out", arguments.options.early_out,
               "With --control: end the program by SIGTERM when all chains have finished in one of "
               "its processes; the exit status is 124 then");
}

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
    throw Error(fmt::format("--skip and --length do not go with --control: write --control {}, "
                            "which they are short for",
                            chain),
                kExitUsage);
  options.control.push_back(std::move(chain));
}

/// A chain that never finishes would keep the program from being ended.
void check_early_out(const control::Plan &plan, const RecordOptions &options) {
  if (!options.early_out)
    return;
  if (options.command.empty())
    throw Error("--early-out ends the program that ovnitrace has started: it does not go with -p",
                kExitUsage);
  for (const control::Chain &chain : plan.chains)
    if (chain.repeat == 0)
      control::fail_usage(chain.text, {0, chain.text.size()},
                          "--early-out: this chain repeats endlessly, so it never finishes");
}

/// Known before anything is loaded: the language, and that what is traced can have chains.
void check_control(const RecordArguments &arguments, RecordOptions &options) {
  options.region_by_thread = arguments.region == "thread";
  add_short_form(arguments, options);
  if (options.control.empty()) {
    if (!arguments.region.empty())
      throw Error("--region goes with --control CHAIN", kExitUsage);
    if (options.early_out)
      throw Error("--early-out goes with --control CHAIN", kExitUsage);
    return;
  }
  const control::Plan plan = control::make_plan(options.control);
  control::check_groups(plan);
  control::check_possible(plan);
  check_early_out(plan, options);
  if (options.all)
    throw Error("--control does not go with -a: chains are of processes. Name them with -p",
                kExitUsage);
  if (!options.families.has(FTRACE_FAMILY_TASK))
    throw Error("--control needs the scheduler's events, which --filter leaves out: add +task",
                kExitUsage);
}

void add_ring_option(App app, RecordOptions &options) {
  const OptionGroup group(app, kRoomGroup);
  add_size(app, "-m,--ring-size", options.ring_bytes,
           "Ring buffer per CPU, as 512K or 16M, rounded up to a power of two (default: 8M, or "
           "less in a small memory cgroup)");
}

void add_buffer_options(App app, RecordArguments &arguments) {
  add_ring_option(app, arguments.options);
  const OptionGroup group(app, kRoomGroup);
  app.add_option(
         "-b,--buffer", arguments.buffer,
         "disk: everything to disk (default); last:SIZE: a flight recorder, the last SIZE of "
         "each CPU in memory, saved at the end and on SIGUSR2; stop:SIZE: tracing stops "
         "when SIZE is recorded, before compression")
      .type_name("KIND");
  app.add_option(
         "--trigger", arguments.trigger,
         "With --buffer last: save also when such an event is recorded, as task_end, user_event_3 "
         "or task_deadline_miss (with --filter +server); region_stop: when a region of --control "
         "stops; help: list all")
      .type_name("EVENT");
  add_number(app, "--max-saves", arguments.options.trigger_saves, 1, kMostTriggerSaves,
             "With --trigger: how often it saves, at most (default: 10)");
  add_size(app, "--chunk-size", arguments.options.chunk_bytes,
           "Bytes of a chunk in the trace (default: 1M, or a 16th of the buffer if that is less)");
  add_number(app, "--chunks", arguments.options.spare_chunks, 1, kMostSpareChunks,
             "Chunks on their way to the disk or the network, beside the one that each CPU fills "
             "(default: 16; with --send udp://… 512, which are smaller)");
}

void add_compress_option(App app, std::string &level) {
  const OptionGroup group(app, kRoomGroup);
  app.add_flag("--compress{1}", level,
               "Compress chunks (zstd) at a level from 1 (fast) to 19 (small); 0: plain files "
               "(default: 1)")
      .type_name("[=LEVEL]");
}

void add_send_options(App app, RecordOptions &options) {
  const OptionGroup group(app, "Over the network");
  app.add_option("--send", options.send,
                 "Send the trace to `ovnitrace collect` there instead of writing it here: "
                 "tcp://HOST[:PORT], where "
                 "nothing is lost, or udp://HOST[:PORT], the tracer's datagrams, where what is "
                 "lost is reported")
      .type_name("URL");
  app.add_option("--key", options.key_file,
                 "With --send tcp://…: file with the secret that the collector has too; all is "
                 "encrypted then (TLS 1.3)")
      .type_name("FILE");
}

} // namespace

void add_capture_options(App app, RecordArguments &arguments) {
  add_target_options(app, arguments);
  add_event_options(app, arguments);
  add_ring_option(app, arguments.options);
}

void add_record_options(App app, RecordArguments &arguments) {
  RecordOptions &options = arguments.options;
  app.add_option("-o,--output", options.directory,
                 "Trace directory (default: NAME-YYYYmmdd-HHMMSS after the program's or process's "
                 "name; system-… for -a)")
      .type_name("DIR");
  app.add_flag("-f,--force", options.force, "Overwrite a trace directory that exists");
  add_target_options(app, arguments);
  add_event_options(app, arguments);
  add_control_options(app, arguments);
  add_buffer_options(app, arguments);
  add_compress_option(app, arguments.compress);
  add_send_options(app, options);
  app.add_flag("-q,--quiet", options.quiet, "No summary; warnings about the trace stay");
  app.add_flag_callback(
      "-v,--verbose", [] { set_debug_log(true); },
      "Print what is loaded, attached, sized and skipped, and libbpf's log; OVNITRACE_LOG=debug in "
      "the environment does the same");
}

namespace {

void require_range(const char *option, uint64_t value, uint64_t least, uint64_t most) {
  if (value < least || value > most)
    throw Error(fmt::format("{}: {} bytes are out of range; give {} KiB to {} MiB", option, value,
                            least >> 10, most >> 20),
                kExitUsage);
}

/// Says what is wrong with the choice of what to trace.
void check_target(const RecordOptions &options) {
  const bool attaches = options.all || !options.pids.empty();
  if (options.command.empty() && !attaches)
    throw Error("nothing to trace: give a program after --, as in `sudo ovnitrace -- ./app`, a "
                "process with -p PID, or -a for the whole machine; see `ovnitrace --help`",
                kExitUsage);
  if (!options.command.empty() && !options.pids.empty())
    throw Error("either a program after -- or -p PID, not both", kExitUsage);
  if (options.command.empty() && !options.user.empty())
    throw Error("-u NAME says who runs a program that is started: it goes with a program after --",
                kExitUsage);
  if (!options.children && options.pids.empty())
    throw Error("--no-children goes with -p PID", kExitUsage);
}

void check_send(const RecordOptions &options) {
  if (options.send.empty() && !options.key_file.empty())
    throw Error("--key goes with --send tcp://HOST:PORT", kExitUsage);
  if (options.send.empty())
    return;
  if (!options.directory.empty() || options.force)
    throw Error("either --send or -o DIR (-f), not both: what is sent is written by the collector",
                kExitUsage);
  const Endpoint collector = parse_endpoint("--send", options.send);
  if (collector.transport == Endpoint::kUdp && !options.key_file.empty())
    throw Error("--key goes with tcp://: datagrams prove nothing", kExitUsage);
  if (collector.transport == Endpoint::kUdp && options.compress_level > 0)
    throw Error("--compress goes with tcp://: datagrams hold plain records; `ovnitrace compress` "
                "does it there",
                kExitUsage);
  if (collector.port == 0)
    throw Error(fmt::format("--send {}: nobody listens on port 0", options.send), kExitUsage);
}

bool is_captured(uint16_t code, FamilySet families) {
  const uint32_t family = capturing_family(code);
  return family == FTRACE_FAMILY_TRACE || !find_family(family) || families.has(family);
}

/// Whether a user waits for events of this code, and a capture can have them: what is left out are
/// the tracer's own records, and what only S.Ha.R.K. logs.
bool is_trigger(uint16_t code) {
  switch (code) {
  case FTrace_EVT_trace_start:
  case FTrace_EVT_trace_stop:
  case FTrace_EVT_blackout_start:
  case FTrace_EVT_blackout_end:
  case FTrace_EVT_ipoint:
  case FTrace_EVT_data_pointer:
  case FTrace_EVT_task_begin_cycle:
  case FTrace_EVT_task_end_cycle:
  case FTrace_EVT_task_schedule:
  case FTrace_EVT_task_timer:
  case FTrace_EVT_task_disable:
  case FTrace_EVT_task_wcet_violation:
  case FTrace_EVT_mutex_unlock_misprint:
    return false;
  }
  const std::string_view name = event_name(code);
  return event_count(kCodeKinds[code]) == 1 && !name.starts_with("EXT_") &&
         !name.starts_with("filter_") && capturing_family(code) != FTRACE_FAMILY_TRACE &&
         families_that_can_be().has(capturing_family(code));
}

/// A line for each family, with the option that it needs.
std::string list_of_triggers(FamilySet families) {
  std::string text = "\n  region_stop (with --control)";
  for (const FamilyInfo &family : kFamilies) {
    std::string names;
    for (uint16_t code = 1; code <= FTRACE_CODE_MASK; code++)
      if (is_trigger(code) && capturing_family(code) == uint32_t(family.number))
        names += fmt::format("{}{}", names.empty() ? "" : ", ", event_name(code));
    if (!names.empty())
      text += fmt::format(
          "\n  {}{}", names,
          families.has(family.number) ? "" : fmt::format(" (with --filter +{})", family.option));
  }
  return text;
}

uint16_t event_code(const std::string &name, FamilySet families) {
  for (uint16_t code = 1; code <= FTRACE_CODE_MASK; code++)
    if (event_count(kCodeKinds[code]) == 1 && event_name(code) == name)
      return code;
  throw Error((name == "help"
                   ? "--trigger takes one of these events:"
                   : fmt::format("--trigger {}: there is no such event. There are:", name)) +
                  list_of_triggers(families),
              kExitUsage);
}

/// Of a family that is not captured no event would ever come.
void require_captured(const std::string &name, uint16_t code, FamilySet families) {
  if (is_captured(code, families))
    return;
  const std::string missing = to_string(FamilySet(1u << capturing_family(code)));
  throw Error(missing == "none"
                  ? fmt::format("--trigger {}: such events are in files of S.Ha.R.K. only", name)
                  : fmt::format("--trigger {}: its family is not captured: add --filter +{}", name,
                                missing),
              kExitUsage);
}

/// Chunks small enough that a buffer has several, and that a lost datagram spoils little.
uint64_t default_chunk(const BufferKind &buffer, bool datagrams) {
  const uint64_t most = datagrams ? kDatagramChunk : kDefaultChunk;
  return buffer.kind == BufferKind::kJtn ? most
                                         : std::clamp(buffer.bytes / 16, kSmallestChunk, most);
}

bool sends_datagrams(const RecordOptions &options) {
  return !options.send.empty() &&
         parse_endpoint("--send", options.send).transport == Endpoint::kUdp;
}

/// Datagrams hold plain records.
void set_compression(const RecordArguments &arguments, RecordOptions &options) {
  if (!arguments.compress.empty())
    options.compress_level = int(parse_number("--compress", arguments.compress, 0, kMostLevel));
  else
    options.compress_level = sends_datagrams(options) ? 0 : kLeastLevel;
}

void set_buffer(const RecordArguments &arguments, RecordOptions &options) {
  options.buffer = parse_buffer_kind(arguments.buffer);
  const bool datagrams = sends_datagrams(options);
  if (options.chunk_bytes == 0)
    options.chunk_bytes = default_chunk(options.buffer, datagrams);
  if (options.spare_chunks == 0)
    options.spare_chunks = datagrams ? kDatagramSpareChunks : kDefaultSpareChunks;
  require_range("--chunk-size", options.chunk_bytes, kSmallestChunk, kLargestChunk);
  if (options.buffer.kind == BufferKind::kCyc && options.buffer.bytes < 2 * options.chunk_bytes)
    throw Error(fmt::format("--buffer {}: too small for two chunks of {} bytes (--chunk-size)",
                            arguments.buffer, options.chunk_bytes),
                kExitUsage);
  if (arguments.trigger.empty() && options.trigger_saves)
    throw Error("--max-saves goes with --trigger EVENT", kExitUsage);
  if (arguments.trigger.empty())
    return;
  if (options.trigger_saves == 0)
    options.trigger_saves = kDefaultTriggerSaves;
  if (options.buffer.kind != BufferKind::kCyc)
    throw Error("--trigger goes with --buffer last:SIZE", kExitUsage);
  if (arguments.trigger == "region_stop") {
    if (options.control.empty())
      throw Error("--trigger region_stop goes with --control CHAIN", kExitUsage);
    options.save_on_region_stop = true;
    return;
  }
  options.trigger = event_code(arguments.trigger, options.families);
  require_captured(arguments.trigger, options.trigger, options.families);
}

/// After the chunks: both must fit into memory.
void set_rings(const RecordArguments &arguments, RecordOptions &options) {
  if (options.ring_bytes == 0)
    options.ring_bytes = kDefaultRing;
  require_range("--ring-size", options.ring_bytes, kSmallestRing, kLargestRing);
  options.ring_bytes = std::bit_ceil(options.ring_bytes);
  fit_memory(options, {.rings = arguments.options.ring_bytes != 0,
                       .chunks = arguments.options.chunk_bytes != 0});
}

void set_stacks(const RecordArguments &arguments, RecordOptions &options) {
  if (arguments.stacks.empty())
    return;
  options.stacks = parse_stacks(arguments.stacks);
  if (!options.families.has(FTRACE_FAMILY_TASK))
    throw Error("--stacks needs the scheduler's events, which --filter leaves out: add +task",
                kExitUsage);
  if (sends_datagrams(options))
    throw Error("--stacks goes with --send tcp://…: datagrams have no room for them", kExitUsage);
}

/// Easily left out by who wants a family more.
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
  check_is_no_stdout(options.directory,
                     "a trace is a directory of files: name it; `ovnitrace dump` "
                     "prints the events of one");
  set_compression(arguments, options);
  check_target(options);
  if (!options.probe_files.empty() && !(options.families & families_of_programs()).bits())
    throw Error("--probe is for user events, which --filter leaves out: add +user to it",
                kExitUsage);
  check_send(options);
  check_control(arguments, options);
  set_stacks(arguments, options);
  set_buffer(arguments, options);
  set_rings(arguments, options);
  warn_without_sched(options);
  if (!options.quiet)
    for (const std::string &note : arguments.notes)
      print_text(note);
  return options;
}

} // namespace ovnitrace
