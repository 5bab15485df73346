// SPDX-License-Identifier: BSD-2-Clause
#include "user/cli/record_options.h"

#include "emulator/base/comma_list.h"
#include "emulator/base/error.h"
#include "emulator/base/messages.h"
#include "emulator/cli/shared_options.h"
#include "emulator/cli/time_option.h"
#include "emulator/format/alarm_types.h"
#include "user/chunk/buffer_kind.h"
#include "user/cli/number_option.h"
#include "user/cli/process_names.h"
#include "user/cli/selection_options.h"
#include "user/cli/trigger.h"
#include "user/cli/trigger_rule.h"
#include "user/stacks/stack_capture.h"

#include <fmt/core.h>
#include <ovnitrace/capture.h>

#include <algorithm>

namespace ovnitrace {

namespace {

constexpr uint64_t kMostSpareChunks = 1 << 16;
constexpr uint64_t kMostParts = 1'000'000;
constexpr uint64_t kMostTriggerSaves = 1'000'000;
constexpr uint64_t kLongestDuration = 366ull * 86400 * 1'000'000'000; // ns

constexpr const char *kTargetGroup = "What to trace";
constexpr const char *kEventGroup = "What to record";
constexpr const char *kRoomGroup = "Buffers and files";

uint64_t parse_duration(const std::string &text) {
  uint64_t ns = 0;
  if (!parse_time(text, ns) || ns == 0 || ns > kLongestDuration)
    throw UsageError("--duration: '{}' is no time above 0 and up to a year: write 10s, 200ms, "
                     "30us, 5m or 1h; a number alone is in seconds",
                     text);
  return ns;
}

/// Returns the processes of one name and prints them, so that the user can check them.
std::vector<uint32_t> pids_named(const std::string &name, std::vector<std::string> &notes) {
  const std::vector<NamedProcess> found = processes_named(name);
  if (found.empty())
    throw Error("--pid {0}: no process has this name or number; `pgrep -l {0}` lists similar names",
                name);
  std::vector<uint32_t> pids;
  std::string list;
  for (const NamedProcess &process : found) {
    pids.push_back(process.pid);
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", process.name, process.pid);
  }
  notes.push_back(fmt::format("-p {} is {}", name, list));
  return pids;
}

/// Adds the processes of a list such as 12,34 or nginx, each pid once.
void add_pids(const std::string &text, RecordArguments &arguments) {
  std::vector<uint32_t> &pids = arguments.options.pids;
  for (const std::string &word : comma_list(text)) {
    const bool is_name =
        !word.empty() && word.find_first_not_of("0123456789") != word.npos && word[0] != '-';
    const std::vector<uint32_t> found =
        is_name ? pids_named(word, arguments.notes)
                : std::vector{uint32_t(parse_number("--pid", word, 1, FTRACE_TID_MASK))};
    for (const uint32_t pid : found)
      if (std::find(pids.begin(), pids.end(), pid) == pids.end()) {
        pids.push_back(pid);
        if (is_name)
          arguments.options.named_pids.push_back(pid);
      }
  }
  if (pids.size() > CAPTURE_TARGETS)
    throw UsageError("--pid: {} processes are more than {}, the limit; name only their parent, and "
                     "its children are traced, too",
                     pids.size(), CAPTURE_TARGETS);
}

void add_target_options(App app, RecordArguments &arguments) {
  RecordOptions &options = arguments.options;
  const OptionGroup group(app, kTargetGroup);
  const Option all = app.add_flag("-a,--all", options.all, "Trace every thread of the machine");
  app.add_option_function<std::vector<std::string>>(
         kPid,
         [&arguments](const std::vector<std::string> &lists) {
           for (const std::string &list : lists)
             add_pids(list, arguments);
         },
         "Trace these running processes, and their present and future children. Give a pid, a "
         "name, or a list of them, such as 12,nginx. Can be given more than once")
      .type_name("PID|NAME")
      .values(kProcesses)
      .allow_extra_args(false)
      .excludes(all);
  app.add_flag(
         "--no-children", [&options](int64_t) { options.children = false; },
         "With -p: only the processes, without their children")
      .default_if([&options] { return !options.pids.empty(); });
  app.add_option_function<std::string>(
         "-d,--duration",
         [&options](const std::string &text) { options.duration = parse_duration(text); },
         "Stop tracing after this time: 10s, 200ms, 5m or 1h; a number alone is in seconds. "
         "The traced processes then continue without tracing")
      .type_name("TIME");
}

void add_all_target_options(App app, RecordArguments &arguments) {
  add_target_options(app, arguments);
  add_selection_options(app, arguments.options.selection);
}

bool has_control(const RecordArguments &arguments) {
  return !arguments.options.control.empty() || arguments.skip || arguments.length;
}

/// Returns false for a wrong --buffer, which its own check reports.
bool has_buffer(const RecordArguments &arguments, BufferKind::Kind kind) {
  try {
    return parse_buffer_kind(arguments.buffer).kind == kind;
  } catch (const Error &) {
    return false;
  }
}

bool is_flight_recorder(const RecordArguments &arguments) {
  return has_buffer(arguments, BufferKind::kCyc);
}

/// Returns whether the other options need no family that is not one of these.
bool goes_with(FamilySet families, const RecordArguments &arguments) {
  const bool needs_sched = !arguments.stacks.empty() || has_control(arguments),
             needs_user = !arguments.options.probe_files.empty();
  return (!needs_sched || families.has(FTRACE_FAMILY_TASK)) &&
         (!needs_user || (families & families_of_programs()).bits());
}

void add_event_options(App app, RecordArguments &arguments) {
  const OptionGroup group(app, kEventGroup);
  RecordOptions &options = arguments.options;
  app.add_option_function<std::string>(
         "--filter",
         [&options](const std::string &list) { options.families = parse_families(list); },
         "Record these families of events: " + family_names() +
             " (default: sched,user). irq,signal: only these two; +irq: the default and irq; "
             "all,-irq: all but irq. docs/usage.md says what each family records")
      .type_name("LIST")
      .default_if([&arguments](const std::string &list) {
        return goes_with(parse_families(list), arguments);
      })
      .values(family_names() + ", all, none");
  app.add_option(
         "--probe", options.probe_files,
         "Also record the user events of this program or library. The user events of the traced "
         "program and of the libraries that it needs are always recorded "
         "(docs/user-events.md). Can be given more than once")
      .type_name("FILE")
      .allow_extra_args(false)
      .default_if([&options] { return (options.families & families_of_programs()).bits() != 0; });
  app.add_flag(
      "--no-cmdline", [&options](int64_t) { options.cmdlines = false; },
      "Do not record the command lines of the traced processes: they can contain secrets");
}

/// Returns the alarms with which a chain may begin, for the completion of the shell.
std::string chain_starts() {
  std::string words;
  for (const control::EventName &event : control::kEventNames)
    for (const control::AlarmType &type : control::kAlarmTypes)
      words += fmt::format("{}{}:{}{}", words.empty() ? "" : ",", event.name, type.name,
                           type.value == control::ValueKind::none ? "" : ":");
  return words;
}

void add_control_options(App app, RecordArguments &arguments) {
  const OptionGroup group(app, "Regions");
  app.add_option(
         "--control", arguments.options.control,
         "Trace only regions of the run. An alarm is a place or a condition, such as the entry of "
         "a "
         "function. A chain is a list of alarms that start and stop tracing one after another: "
         "start:enter_func:solve,stop:exit_func:solve (docs/control.md). Types of alarms: " +
             control::type_names() + ". Can be given more than once")
      .type_name("CHAIN")
      .allow_extra_args(false)
      .values(chain_starts());
  app.add_option(
         "--region", arguments.region,
         "With --control: for which threads an alarm starts or stops tracing. global (default): "
         "for all threads of the process in which it fires. thread: only for the thread in which "
         "it fires")
      .type_name("global|thread")
      .one_of({"global", "thread"})
      .default_if([&arguments] { return has_control(arguments); });
  add_number(
      app, "--skip", arguments.skip, 0, INT64_MAX,
      "Start tracing a process when one of its threads has executed N instructions: short for "
      "--control start:icount:N");
  add_number(app, "--length", arguments.length, 1, INT64_MAX,
             "Stop tracing after N more instructions: short for stop:icount:N in the same chain");
  app.add_flag(
         "--early-out", arguments.options.early_out,
         "With --control: end the program with SIGTERM when one of its processes has finished all "
         "chains. The exit status is then 124")
      .default_if(
          [&arguments] { return has_control(arguments) && !arguments.options.command.empty(); });
}

void add_ring_option(App app, RecordOptions &options) {
  const OptionGroup group(app, kRoomGroup);
  add_size(app, "-m,--ring-size", options.ring_bytes,
           "Size of the ring buffer of each CPU, such as 512K or 16M, rounded up to a power of two "
           "(default: 8M, or less in a small memory cgroup)");
}

void add_buffer_options(App app, RecordArguments &arguments) {
  add_ring_option(app, arguments.options);
  const OptionGroup group(app, kRoomGroup);
  app.add_option(
         "-b,--buffer", arguments.buffer,
         "disk: write everything to disk (default). last:SIZE: a flight recorder, which keeps the "
         "last SIZE of events of each CPU in memory, and saves them at the end and on SIGUSR2. "
         "stop:SIZE: stop tracing after SIZE of events of all CPUs together. SIZE is counted "
         "before compression")
      .type_name("KIND")
      .values("disk, last:, stop:")
      .default_if([&arguments] { return arguments.rotate.empty(); });
  app.add_option(
         "--rotate", arguments.rotate,
         "Begin a new part of the trace after this size on the disk (64M, 1G) or this time (10s, "
         "5m, 1h). Each part (DIR/0001, DIR/0002, …) can be read alone. A command "
         "that is given DIR reads all parts after the last missing one as one trace")
      .type_name("SIZE|TIME")
      .default_if([&arguments] {
        return has_buffer(arguments, BufferKind::kJtn) && arguments.stacks.empty() &&
               arguments.options.send.empty();
      });
  add_number(
      app, "--keep", arguments.options.rotation.keep, 1, kMostParts,
      "With --rotate: keep the newest N parts that --trigger saved (the marked part, and the part "
      "before it), and the newest N others. Remove the rest (default: keep all)")
      .default_if([&arguments] { return !arguments.rotate.empty(); });
  app.add_option(
         "--trigger", arguments.triggers,
         "With --buffer last: also save when this happens. With --rotate: mark this moment in the "
         "trace, and keep the part. latency:5ms: a thread gets a CPU after a wait of at "
         "least 5 ms. "
         "latency:5ms:redis*: a thread whose name matches redis* does. user_event_3 or the "
         "name of another event (not with --rotate): this event occurs. An unknown name prints a "
         "list. docs/sessions.md explains the triggers. Can be given more than once")
      .type_name("TRIGGER")
      .allow_extra_args(false)
      .values(trigger_names())
      .default_if([&arguments](const std::string &trigger) {
        return is_flight_recorder(arguments) ||
               (!arguments.rotate.empty() && parse_trigger_rule(trigger));
      });
  add_number(
      app, "--max-saves", arguments.options.trigger_saves, 1, kMostTriggerSaves,
      "With --trigger: save at most N times (default: 10). With --rotate: mark at most N times "
      "(default: 1000)")
      .default_if([&arguments] { return !arguments.triggers.empty(); });
  app.add_option(
         "--on-save", arguments.options.on_save,
         "Run this shell command after each save during the capture; with --rotate, after "
         "each hit of --trigger. In its environment, OVNITRACE_TRACE is the directory of the saved "
         "trace or of the part, and OVNITRACE_CAUSE says what --trigger found")
      .type_name("COMMAND")
      .default_if([&arguments] {
        return is_flight_recorder(arguments) ||
               (!arguments.rotate.empty() && !arguments.triggers.empty());
      });
  add_size(app, "--chunk-size", arguments.options.chunk_bytes,
           "The trace is written in chunks of this size (default: 1M; with --buffer last:SIZE or "
           "stop:SIZE at most 1/16 of SIZE)");
  add_number(app, "--chunks", arguments.options.spare_chunks, 1, kMostSpareChunks,
             "How many full chunks may wait for the disk or the network (default: 16)");
}

void add_compress_option(App app, std::string &level) {
  const OptionGroup group(app, kRoomGroup);
  app.add_flag("--compress{1}", level,
               "Level of compression (zstd), from 1 (fast) to 19 (small); 0: do not compress "
               "(default: 1)")
      .type_name("[=LEVEL]");
}

void add_send_options(App app, RecordArguments &arguments) {
  RecordOptions &options = arguments.options;
  const OptionGroup group(app, "Over the network");
  app.add_option(
         "--send", options.send,
         "Send the trace to `ovnitrace collect` on another machine, and write no file here. "
         "tcp://HOST[:PORT]; the port is 20000 by default")
      .type_name("URL")
      .default_if([&arguments] {
        const RecordOptions &options = arguments.options;
        return options.directory.empty() && !options.force && arguments.rotate.empty();
      });
  app.add_option(
         kKey, options.key_file,
         "With --send tcp://…: encrypt everything (TLS 1.3) with the secret in this file. The "
         "collector needs the same secret")
      .type_name("FILE")
      .default_if([&options] { return !options.send.empty(); });
}

} // namespace

void add_user_option(App app, RecordOptions &options) {
  const OptionGroup group(app, kTargetGroup);
  app.add_option("-u,--user", options.user,
                 "Run the program as this user (default: the user who called sudo)")
      .type_name("NAME")
      .values(kUsers)
      .default_if([&options] { return !options.command.empty(); });
}

void add_capture_options(App app, RecordArguments &arguments) {
  add_all_target_options(app, arguments);
  add_event_options(app, arguments);
  add_ring_option(app, arguments.options);
}

void add_stack_options(App app, RecordArguments &arguments) {
  const OptionGroup group(app, kEventGroup);
  app.add_flag(
         "--stacks{blocks}", arguments.stacks,
         "Record the stacks of threads that block (docs/stacks.md). LIST: kernel or user (only "
         "this part of the stack), wakeup (also the stacks of wakers), preempt (also the stacks "
         "of preempted threads)")
      .type_name("[=LIST]")
      .values(stacks_text(~0u))
      .default_if([&arguments] {
        return arguments.rotate.empty() && arguments.options.families.has(FTRACE_FAMILY_TASK);
      });
  add_number(app, "--stack-depth", arguments.stack_depth, 1, CAPTURE_STACK_DEPTH,
             "With --stacks: record only the innermost N functions of the program in each stack "
             "(default and maximum: 126)")
      .default_if([&arguments] { return !arguments.stacks.empty(); });
  app.add_flag("--debuginfod", arguments.options.debuginfod,
               "With --stacks: if this machine has no debug data of a file, fetch it from the "
               "servers in DEBUGINFOD_URLS when the recording ends")
      .default_if([&arguments] { return !arguments.stacks.empty(); });
}

void add_record_options(App app, RecordArguments &arguments) {
  RecordOptions &options = arguments.options;
  const auto writes_here = [&options] { return options.send.empty(); };
  app.add_option(
         kOutput, options.directory,
         "Write the trace into this directory (default: NAME-YYYYmmdd-HHMMSS with the name of "
         "the program or process; system-… if there is neither)")
      .type_name("DIR")
      .default_if(writes_here);
  add_force(app, options.force).default_if(writes_here);
  add_all_target_options(app, arguments);
  add_user_option(app, options);
  add_event_options(app, arguments);
  add_stack_options(app, arguments);
  add_control_options(app, arguments);
  add_buffer_options(app, arguments);
  add_compress_option(app, arguments.compress);
  add_send_options(app, arguments);
  app.add_flag(kQuiet, options.quiet, "Print no summary, only warnings about the trace");
  app.add_flag_callback(
      "-v,--verbose", [] { set_debug_log(true); },
      "Print what ovnitrace loads, attaches and skips, which sizes it chooses, and libbpf's log; "
      "OVNITRACE_LOG=debug in the environment does the same");
}

} // namespace ovnitrace
