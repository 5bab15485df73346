// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/session.h"

#include "emulator/base/clock.h"
#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "emulator/base/messages.h"
#include "emulator/base/printable.h"
#include "user/chunk/chunk_queue.h"
#include "user/chunk/lossy_queue.h"
#include "user/launch/file_limit.h"
#include "user/record/make_target.h"

#include <fmt/core.h>

#include <csignal>

namespace ovnitrace {

namespace {

CaptureParameters capture_parameters(const RecordOptions &options) {
  return {.trace_all = options.all,
          .transitions = options.families.has(FTRACE_FAMILY_TASK),
          .targets = options.pids,
          .only_targets = !options.children,
          .ring_bytes = options.ring_bytes};
}

std::optional<SaveSignal> save_signal(const RecordOptions &options) {
  if (options.buffer.kind != BufferKind::kCyc)
    return std::nullopt;
  return std::optional<SaveSignal>(std::in_place);
}

/// Without a program signals end the capture, and they may come while it is being made ready.
std::optional<StopSignals> stop_signals(const RecordOptions &options) {
  if (!options.command.empty())
    return std::nullopt;
  return std::optional<StopSignals>(std::in_place,
                                    options.buffer.kind == BufferKind::kCyc ? SIGUSR2 : 0);
}

} // namespace

Session::Session(const RecordOptions &options)
    : options_(options), owner_(calling_user()),
      runs_as_(options.user.empty() ? owner_ : user_named(options.user)),
      save_signal_(save_signal(options)), signals_(stop_signals(options)),
      capture_(capture_parameters(options)) {
  for (uint32_t pid : options.pids)
    processes_.emplace_back(pid);
  trace_.host = describe_host(capture_.cpus());
  trace_.possible_cpus = capture_.cpus();
  trace_.command = options.command;
  trace_.attached_pids = options.pids;
  trace_.with_children = options.children;
  trace_.user = runs_as_.name;
  trace_.families = options.families;
  trace_.ring_bytes = options.ring_bytes;
  trace_.chunk_bytes = options.chunk_bytes;
  trace_.buffer = options.buffer;
  trace_.compress_level = options.compress_level;
  require_memory(options.buffer, uint32_t(trace_.host.cpus.size()));
}

/// Files are made, and connections, by the user they will belong to; the service threads get their
/// priority while we are root; then we are root no longer, and only then they begin to work. A
/// trace that is to be overwritten is removed last, when the new one can be written and the program
/// runs.
void Session::start() {
  {
    EffectiveIdentity as_owner(owner_);
    target_ = make_target(options_, traced_name(), capture_.cpus());
  }
  try {
    capture_.attach();
    end_if_signalled();
    start_families();
    end_if_signalled();
    if (options_.all || !options_.pids.empty())
      capture_.snapshot();
    trace_.begin = monotonic_ns();
    trace_.offset_to_wall = offset_to_wall_ns();
    if (!options_.command.empty())
      start_program();
    make_store();
    recorder_.emplace(capture_, families_ ? &*families_ : nullptr,
                      limit_ ? static_cast<ChunkSink &>(*limit_) : *store_, trace_.begin);
    become(owner_, runs_as_.uid != owner_.uid); // to signal the program
    target_->prepare(description(nullptr));
    trace_.tracer_cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (program_)
      program_->open_gate();
    target_->begin();
    const bool has_limit = program_ && options_.duration;
    if (options_.buffer.kind != BufferKind::kJtn || has_limit)
      requests_.emplace(
          save_signal_ ? save_signal_->file() : -1, [this] { save(); },
          [this](CaptureRequests::Request why) { stop_early(why); });
    if (has_limit)
      requests_->stop_in(options_.duration);
    recorder_->start();
    if (!program_ && !options_.quiet)
      print_start();
  } catch (...) {
    recorder_.reset();
    store_.reset();
    become(owner_); // what is removed is removed by its owner
    target_->discard();
    throw;
  }
}

/// Without a program nothing else is to be seen until the end.
void Session::print_start() const {
  std::string what = "every thread of the machine";
  if (!processes_.empty()) {
    what = processes_.size() == 1 ? "process" : "processes";
    for (size_t n = 0; n < processes_.size(); n++)
      what += fmt::format("{} {} ({})", n ? "," : "", options_.pids[n],
                          printable_line(processes_[n].name()));
    what += options_.children ? " with children" : " without children";
  }
  const std::string until =
      options_.duration ? fmt::format("for {} or until Ctrl-C", human_duration(options_.duration))
      : processes_.empty() ? "until Ctrl-C"
                           : "until it ends or Ctrl-C";
  print("tracing {} {}; the trace goes to {}", what, until, target_->place());
}

/// What the kernel lacks for a family is told, and the rest of it captured.
void Session::start_families() {
  FamilySet wanted = options_.families & families_of_tracepoints();
  std::vector<ProbedFile> probes = find_user_probes();
  end_if_signalled();
  if (!probes.empty() && !capture_parameters(options_).transitions)
    print("user events without the scheduler's (--filter sched,user): their threads are not known");
  if (!probes.empty())
    wanted = wanted | (options_.families & families_of_programs());
  if (!wanted.bits())
    return;
  families_.emplace(capture_, wanted, std::move(probes), owner_.uid);
  for (const std::string &name : families_->absent())
    print("this kernel has no {}: its events are not captured", name);
  families_->attach();
  for (const std::string &why : families_->refused())
    print("{}", why);
}

/// Files of a program are opened with the rights of who will run it; those of a process that runs
/// already with ours, as it need not be his.
std::vector<ProbedFile> Session::find_user_probes() {
  if (!(options_.families & families_of_programs()).bits())
    return {};
  raise_file_limit(kMostProbedFiles);
  const ProbeSearch search = {.program = options_.command.empty() ? "" : options_.command[0],
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
    print("{} more with probes of user events not watched: name those that you want with --probe",
          human_count(found.left_out, "file", "files"));
  return std::move(found.files);
}

/// The child is traced from its first instant, still behind its gate.
void Session::start_program() {
  capture_.follow_children_of_caller(true);
  program_.emplace(options_.command, runs_as_);
  capture_.follow_children_of_caller(false);
}

void Session::make_store() {
  const size_t chunk_records = options_.chunk_bytes / sizeof(ftrace_record);
  ChunkOutput &output = output_.emplace(target_->output(), capture_.cpus());
  if (options_.buffer.kind == BufferKind::kCyc) {
    auto flight = std::make_unique<FlightRecorder>(output, capture_.cpus(), options_.buffer.bytes,
                                                   chunk_records);
    flight_ = flight.get();
    if (options_.trigger)
      flight_->set_trigger(options_.trigger, options_.trigger_saves,
                           [this] { requests_->ask(CaptureRequests::kSave); });
    store_ = std::move(flight);
    return;
  }
  if (target_->may_stall())
    store_ =
        std::make_unique<LossyQueue>(output, capture_.cpus(), options_.spare_chunks, chunk_records);
  else
    store_ = std::make_unique<ChunkQueue>(output, capture_.cpus() + options_.spare_chunks,
                                          chunk_records);
  if (options_.buffer.kind == BufferKind::kStop)
    limit_.emplace(*store_, options_.buffer.bytes,
                   [this] { requests_->ask(CaptureRequests::kFull); });
}

} // namespace ovnitrace
