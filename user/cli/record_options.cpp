// SPDX-License-Identifier: BSD-2-Clause
#include "user/cli/record_options.h"

#include "emulator/base/error.h"
#include "emulator/base/messages.h"
#include "emulator/cli/time_option.h"
#include "user/cli/number_option.h"
#include "user/cli/process_names.h"
#include "emulator/format/alarm_types.h"

#include <fmt/core.h>
#include <ovnitrace/capture.h>

#include <algorithm>

namespace ovnitrace {

namespace {

constexpr uint64_t kMostSpareChunks = 1 << 16;
constexpr uint64_t kMostTriggerSaves = 1'000'000;
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

} // namespace ovnitrace
