// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/traced.h"

#include "emulator/base/clock.h"
#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "emulator/base/messages.h"
#include "emulator/base/printable.h"
#include "user/launch/file_limit.h"
#include "user/probe/find_probes.h"
#include "user/select/name_glob.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

namespace ovnitrace {

namespace {

std::string filters_text(const Selection &selection) {
  return printable_line(fmt::format("{}", fmt::join(selection.asked, " ")));
}

/// Returns the names of the living threads, as far as they can be read.
std::vector<std::string> thread_names() {
  namespace fs = std::filesystem;
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto &process : fs::directory_iterator("/proc", ignored))
    try {
      for (const auto &thread : fs::directory_iterator(process.path() / "task", ignored)) {
        std::ifstream in(thread.path() / "comm");
        std::getline(in, names.emplace_back());
      }
    } catch (const fs::filesystem_error &) { // it has ended meanwhile
    }
  return names;
}

/// Catches the signals that end a capture without a program: they may come while it is being
/// prepared.
std::optional<StopSignals> stop_signals(const RecordOptions &options) {
  if (!options.command.empty())
    return std::nullopt;
  return std::optional<StopSignals>(std::in_place,
                                    options.buffer.kind == BufferKind::kCyc ? SIGUSR2 : 0);
}

/// Opens a pidfd of our child. Throws Error.
UniqueFd pidfd_of(pid_t pid) {
  UniqueFd fd(int(syscall(SYS_pidfd_open, pid, 0)));
  if (!fd)
    throw Error("--early-out: cannot hold the program: {}", std::strerror(errno));
  return fd;
}

} // namespace

CaptureParameters capture_parameters(const RecordOptions &options) {
  return {.trace_all = options.all,
          .transitions = options.families.has(FTRACE_FAMILY_TASK),
          .targets = options.pids,
          .only_targets = !options.children,
          .selection = options.selection,
          .regions = !options.control.empty(),
          .region_by_thread = options.region_by_thread,
          .cmdlines = options.cmdlines,
          .stacks = options.stacks,
          .stack_depth = options.stack_depth,
          .ring_bytes = options.ring_bytes};
}

std::deque<ProcessWatch> watch_processes(const RecordOptions &options) {
  const std::vector<uint32_t> &pids = options.pids, &named = options.named_pids;
  std::deque<ProcessWatch> processes;
  for (const uint32_t pid : pids)
    try {
      processes.emplace_back(pid);
    } catch (const Error &) {
      const bool is_last = pid == pids.back() && processes.empty();
      if (is_last || std::find(named.begin(), named.end(), pid) == named.end())
        throw;
    }
  return processes;
}

std::string time_over(uint64_t duration) {
  return fmt::format("after {} (-d)", human_duration(duration));
}

std::string wait_for_processes(const std::deque<ProcessWatch> &processes,
                               const RecordOptions &options, StopSignals &signals) {
  const uint64_t duration = options.duration, limit = monotonic_ns() + duration;
  for (const ProcessWatch &process : processes) {
    const uint64_t now = monotonic_ns();
    if (duration && now >= limit)
      return time_over(duration);
    if (signals.wait(duration ? double(limit - now) / 1e9 : 0, process.file()))
      return kBySignal;
    if (!process.ended())
      return time_over(duration);
  }
  const std::string how = processes.size() == 1 ? "the process ended" : "the processes ended";
  if (!options.quiet)
    print("{}: tracing stopped", how);
  return how;
}

Traced::Traced(const RecordOptions &options, const Identity &owner, const Identity &runs_as)
    : options_(options), owner_(owner), runs_as_(runs_as), signals_(stop_signals(options)),
      capture_(capture_parameters(options)), processes_(watch_processes(options)) {}

void Traced::attach() {
  if (options_.stacks)
    stacks_.emplace(capture_, options_.all || !is_program());
  if (options_.families.has(FTRACE_FAMILY_TASK))
    causes_.emplace(capture_);
  capture_.attach();
  if (causes_)
    causes_->attach();
  end_if_signalled();
  attach_families();
  for (const RuleOption &option : options_.rules) {
    triggers_.emplace_back(capture_, option.rule);
    triggers_.back().attach();
  }
  end_if_signalled();
  attach_control();
  choose_cgroups(capture_, options_, true); // now the kernel side chooses those that are made later
  if (options_.all || !options_.pids.empty()) {
    capture_.snapshot();
    warn_if_none_passes(options_.selection, capture_.counts().threads_found);
  }
  if (!is_program() && !options_.quiet)
    warn_of_unknown_names(options_.rules);
  if (controller_ && !is_program()) {
    controller_->start(options_.pids);
    controller_->begin_living();
  }
}

void warn_if_none_passes(const Selection &selection, uint32_t threads_found) {
  if (selection.any() && threads_found == 0)
    print("warning: no thread passes the filters now ({}); ovnitrace waits for one",
          filters_text(selection));
}

void choose_cgroups(Capture &capture, const RecordOptions &options, bool waits) {
  const std::vector<CgroupChoice> &choices = options.selection.cgroups;
  if (choices.empty())
    return;
  if (in_cgroup_namespace())
    print("warning: ovnitrace runs in a cgroup namespace, where the kernel's names and levels of "
          "cgroups are not known: --cgroup, --unit and --container may find nothing; run it on the "
          "host, or in a container without a cgroup namespace (docker run --cgroupns=host)");
  print_cgroups(choices, capture.choose_cgroups(), options.quiet, waits);
}

void print_cgroups(const std::vector<CgroupChoice> &choices,
                   const std::vector<std::vector<std::string>> &paths, bool quiet, bool waits) {
  for (size_t n = 0; n < paths.size(); n++) {
    if (paths[n].empty())
      print("warning: {}: there is no such cgroup now{}", choices[n].asked,
            waits ? "; ovnitrace waits for one" : "");
    for (const std::string &path : paths[n])
      if (!quiet)
        print("{} is the cgroup {}", choices[n].asked, printable_line(path));
  }
}

void warn_of_unknown_names(const std::vector<RuleOption> &rules) {
  if (std::none_of(rules.begin(), rules.end(),
                   [](const RuleOption &option) { return option.rule.has_glob; }))
    return;
  const std::vector<std::string> names = thread_names();
  for (const RuleOption &option : rules) {
    const auto has_name = [&](const std::string &name) {
      return glob_fits(&option.rule.glob, name.data(), uint32_t(name.size()));
    };
    if (option.rule.has_glob && std::none_of(names.begin(), names.end(), has_name))
      print("warning: --trigger {}: no thread has this name now; ovnitrace waits for one{}",
            option.text, option.text.ends_with('*') ? "" : ". To match a longer name, add *");
  }
}

void Traced::attach_control() {
  if (options_.control.empty())
    return;
  raise_file_limit(kMostProbedFiles);
  controller_.emplace(control::make_plan(options_.control), capture_, options_.region_by_thread,
                      is_program());
  controller_->attach(is_program() ? options_.command[0] : "", runs_as_, options_.pids);
  end_if_signalled();
}

std::vector<uint32_t> Traced::ctl_pids() const {
  std::vector<uint32_t> pids = options_.pids;
  if (program_)
    pids.push_back(uint32_t(program_->pid()));
  pids.push_back(uint32_t(getpid()));
  return pids;
}

FamilySet Traced::captured_families() const {
  return families_ ? captured_of(options_.families, wanted_families_, families_->families())
                   : options_.families;
}

FamilySet captured_of(FamilySet asked, FamilySet wanted, FamilySet loaded) {
  const uint32_t refused = wanted.bits() & ~loaded.bits();
  return asked & FamilySet(~refused);
}

/// Attaches the programs of families. It reports what the kernel lacks, and captures the rest.
void Traced::attach_families() {
  FamilySet wanted = options_.families & families_of_tracepoints();
  std::vector<ProbedFile> probes = find_user_probes();
  end_if_signalled();
  if (!probes.empty() && !capture_parameters(options_).transitions)
    print("the threads of user events are not known without the scheduler's events: add sched to "
          "--filter");
  if (!probes.empty())
    wanted = wanted | (options_.families & families_of_programs());
  if (!wanted.bits())
    return;
  wanted_families_ = wanted;
  families_.emplace(capture_, wanted, std::move(probes), owner_.uid);
  for (const std::string &name : families_->absent())
    print("this kernel has no {}: its events are not captured", name);
  families_->attach();
  for (const std::string &why : families_->refused())
    print("{}", why);
}

/// Opens files of a program with the rights of the user who will run it. Opens files of a running
/// process with ours, because it may belong to another user.
std::vector<ProbedFile> Traced::find_user_probes() {
  if (!(options_.families & families_of_programs()).bits())
    return {};
  raise_file_limit(kMostProbedFiles);
  const ProbeSearch search = {.program = is_program() ? options_.command[0] : "",
                              .identity = runs_as_,
                              .pids = options_.pids,
                              .files = options_.probe_files};
  FoundProbes found;
  {
    std::optional<EffectiveIdentity> as_user;
    if (processes_.empty())
      as_user.emplace(runs_as_);
    found = find_probes(search);
  }
  if (found.left_out)
    print("user events of {} are not recorded, because there are too many such files: name those "
          "that "
          "you want with --probe",
          human_count(found.left_out, "more file", "more files"));
  return std::move(found.files);
}

std::string Traced::unwatched_program(const CommandLines &lines) const {
  if (!program_ || !options_.probe_files.empty() ||
      !(options_.families & families_of_programs()).bits())
    return "";
  const std::string last = lines.last_program(capture_.program_pid());
  const auto name = [](const std::string &path) { return std::filesystem::path(path).filename(); };
  if (last.empty() || name(last) == name(options_.command[0]))
    return "";
  try {
    const EffectiveIdentity as_user(runs_as_);
    return find_probes({.program = last, .identity = runs_as_}).files.empty() ? "" : last;
  } catch (const Error &) {
    return "";
  }
}

void Traced::start_program() {
  if (!is_program())
    return;
  capture_.follow_children_of_caller(true);
  program_.emplace(options_.command, runs_as_);
  capture_.follow_children_of_caller(false);
  if (controller_ && options_.early_out)
    controller_->end_program_after_chains(pidfd_of(program_->pid()));
  if (controller_)
    controller_->start({uint32_t(program_->pid())});
}

void Traced::open_gate() {
  if (program_)
    program_->open_gate();
}

void Traced::give_up() {
  if (!program_ || !program_->runs())
    return;
  print("cannot trace on; the program runs to its end without it");
  detach();
  program_->wait();
}

Traced::End Traced::wait() {
  if (program_) {
    const ProgramEnd end = program_->wait();
    capture_.await_last_switch();
    if (controller_ && controller_->ended_program())
      return {"ended after the last alarm (--early-out): " + end.text(), kExitEarlyOut};
    return {end.text(), end.exit_status()};
  }
  if (!processes_.empty())
    return {wait_for_processes(processes_, options_, *signals_)};
  return {signals_->wait(double(options_.duration) / 1e9) ? kBySignal
                                                          : time_over(options_.duration)};
}

void Traced::detach() {
  if (controller_)
    controller_->detach();
  for (TriggerCapture &trigger : triggers_)
    trigger.detach();
  if (families_)
    families_->detach();
  if (causes_)
    causes_->detach();
  capture_.detach();
}

std::string Traced::name() const {
  if (is_program())
    return options_.command[0];
  return processes_.empty() ? "system" : processes_.front().name();
}

std::string what_is_traced(const RecordOptions &options,
                           const std::deque<ProcessWatch> &processes) {
  if (options.selection.any())
    return fmt::format("{} that pass {}",
                       processes.empty() ? "threads of the machine" : "threads of the processes",
                       filters_text(options.selection));
  if (processes.empty())
    return "every thread of the machine";
  std::string what = processes.size() == 1 ? "process" : "processes";
  for (size_t n = 0; n < processes.size(); n++)
    what += fmt::format("{} {} ({})", n ? "," : "", processes[n].pid(),
                        printable_line(processes[n].name()));
  return what + (options.children ? " with children" : " without children");
}

} // namespace ovnitrace
