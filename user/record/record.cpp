#include "user/record/record.h"

#include "emulator/error.h"
#include "emulator/summary/human.h"
#include "user/bpf/capture.h"
#include "user/chunk/chunk_queue.h"
#include "user/chunk/counted_output.h"
#include "user/chunk/flight_recorder.h"
#include "user/chunk/lossy_queue.h"
#include "user/chunk/recording_limit.h"
#include "user/launch/file_limit.h"
#include "user/launch/identity.h"
#include "user/launch/process_watch.h"
#include "user/launch/program.h"
#include "user/launch/signals.h"
#include "user/probe/find_probes.h"
#include "user/record/capture_requests.h"
#include "user/record/clock.h"
#include "user/record/make_target.h"
#include "user/record/recorder.h"
#include "user/record/trace_json.h"

#include <fmt/core.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace ovnitrace {

namespace {

CaptureParameters capture_parameters(const RecordOptions &options) {
  return {.trace_all = options.all,
          .transitions = options.families.has(FTrace_EVT_task_dispatch & FTrace_family_mask),
          .snapshot_pid = options.pid,
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
  return std::optional<StopSignals>(std::in_place, options.buffer.kind == BufferKind::kCyc ? SIGUSR2 : 0);
}

/// A summary that cannot be printed is no failure of the capture.
template <typename... Arguments> void print(fmt::format_string<Arguments...> format, Arguments &&...arguments) {
  std::fputs(fmt::format(format, std::forward<Arguments>(arguments)...).c_str(), stderr);
}

/// Waits for the end of a process that is not our child; a signal ends the wait too.
std::string wait_for_process(const ProcessWatch &process, double duration, StopSignals &signals) {
  if (signals.wait(duration, process.file()))
    return "stopped by a signal";
  return process.ended() ? "the process ended" : "the time was over";
}

/// The course of one capture. Members are destroyed in the reverse order.
class Session {
public:
  explicit Session(const RecordOptions &options);
  RecordResult run();

private:
  void start();
  std::string traced_name() const;
  void start_families();
  std::vector<ProbedFile> find_user_probes();
  void start_program();
  TraceTarget::Description description(const ThreadRegistry *threads) const;
  void make_store();
  void wait();
  void save();
  void stop_when_full();
  void end_capture();
  void stop();
  void end_target();
  void tell() const;

  const RecordOptions &options_;
  Identity identity_;
  std::optional<SaveSignal> save_signal_; ///< of a flight recorder
  std::optional<StopSignals> signals_;  ///< without a program
  std::optional<ProcessWatch> process_; ///< with options.pid
  Capture capture_;
  std::optional<FamilyCapture> families_; ///< with options.families beyond the scheduler's
  std::optional<Program> program_;
  std::unique_ptr<TraceTarget> target_;
  std::optional<CountedOutput> output_; ///< of target_
  std::unique_ptr<ChunkStore> store_;
  FlightRecorder *flight_ = nullptr;    ///< store_, if it is one
  std::optional<RecordingLimit> limit_; ///< in front of store_
  std::optional<Recorder> recorder_;
  TraceDescription trace_;
  std::mutex ending_; ///< a save or the end, not both
  bool ended_ = false;
  bool full_ = false; ///< ended because so much was recorded
  unsigned saves_ = 0;
  bool told_triggers_spent_ = false;
  std::optional<CaptureRequests> requests_; ///< of a flight recorder or a limit
};

Session::Session(const RecordOptions &options)
    : options_(options), identity_(choose_identity(options.user)), save_signal_(save_signal(options)),
      signals_(stop_signals(options)), capture_(capture_parameters(options)) {
  if (options.pid)
    process_.emplace(options.pid);
  trace_.host = describe_host(capture_.cpus());
  trace_.possible_cpus = capture_.cpus();
  trace_.command = options.command;
  trace_.attached_pid = options.pid;
  trace_.user = identity_.name;
  trace_.families = options.families;
  trace_.ring_bytes = options.ring_bytes;
  trace_.chunk_bytes = options.chunk_bytes;
  trace_.buffer = options.buffer;
  trace_.compress_level = options.compress_level;
  require_memory(options.buffer, uint32_t(trace_.host.cpus.size()));
}

RecordResult Session::run() {
  start();
  wait();
  stop();
  if (!options_.quiet)
    tell();
  return {target_->place(), trace_.exit_status};
}

std::string Session::traced_name() const {
  if (!options_.command.empty())
    return options_.command[0];
  return process_ ? process_->name() : "system";
}

/// Files are made, and connections, by the user they will belong to; the service threads get their priority while we
/// are root; then we are root no longer, and only then they begin to work. A trace that is to be
/// overwritten is removed last, when the new one can be written and the program runs.
void Session::start() {
  {
    EffectiveIdentity as_user(identity_);
    target_ = make_target(options_, traced_name(), capture_.cpus());
  }
  try {
    capture_.attach();
    start_families();
    if (options_.all || options_.pid)
      capture_.snapshot();
    trace_.begin = monotonic_ns();
    trace_.offset_to_wall = offset_to_wall_ns();
    capture_.expect_complete();
    if (!options_.command.empty())
      start_program();
    make_store();
    recorder_.emplace(capture_, families_ ? &*families_ : nullptr,
                      limit_ ? static_cast<ChunkSink &>(*limit_) : *store_, trace_.begin);
    become(identity_);
    target_->prepare(description(nullptr));
    trace_.tracer_cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (program_)
      program_->open_gate();
    target_->begin();
    if (options_.buffer.kind != BufferKind::kJtn)
      requests_.emplace(save_signal_ ? save_signal_->file() : -1, [this] { save(); }, [this] { stop_when_full(); });
    recorder_->start();
  } catch (...) {
    recorder_.reset();
    store_.reset();
    become(identity_); // what is removed is removed by its owner
    target_->discard();
    throw;
  }
}

TraceTarget::Description Session::description(const ThreadRegistry *threads) const {
  return [this, threads](const Put &put) { write_json(trace_, threads, put); };
}

/// What the kernel lacks for a family is told, and the rest of it captured.
void Session::start_families() {
  FamilySet wanted = options_.families & families_of_tracepoints();
  std::vector<ProbedFile> probes = find_user_probes();
  if (!probes.empty() && !capture_parameters(options_).transitions)
    print("ovnitrace: user events without the scheduler's (--filter sched,user): their threads are not known\n");
  if (!probes.empty())
    wanted = wanted | (options_.families & families_of_programs());
  if (!wanted.bits())
    return;
  families_.emplace(capture_, wanted, std::move(probes));
  for (const std::string &name : families_->absent())
    print("ovnitrace: this kernel has no {}: its events are not captured\n", name);
  families_->attach();
  for (const std::string &why : families_->refused())
    print("ovnitrace: {}\n", why);
}

/// Files of a program are opened with the rights of who will run it; those of a process that runs already
/// with ours, as it need not be his.
std::vector<ProbedFile> Session::find_user_probes() {
  if (!(options_.families & families_of_programs()).bits())
    return {};
  raise_file_limit(kMostProbedFiles);
  const ProbeSearch search = {.command = options_.command, .pid = options_.pid, .files = options_.probe_files};
  FoundProbes found;
  {
    std::optional<EffectiveIdentity> as_user;
    if (!options_.pid)
      as_user.emplace(identity_);
    found = find_probes(search);
  }
  if (found.cut_short)
    print("ovnitrace: the program names too many files to look for probes in all of them: name those that log user "
          "events with --probe\n");
  return std::move(found.files);
}

/// The child is traced from its first instant, still behind its gate.
void Session::start_program() {
  capture_.follow_children_of_caller(true);
  program_.emplace(options_.command, identity_);
  capture_.follow_children_of_caller(false);
}

void Session::make_store() {
  const size_t chunk_records = options_.chunk_bytes / sizeof(ftrace_record);
  ChunkOutput &output = output_.emplace(target_->output(), capture_.cpus());
  if (options_.buffer.kind == BufferKind::kCyc) {
    auto flight = std::make_unique<FlightRecorder>(output, capture_.cpus(), options_.buffer.bytes, chunk_records);
    flight_ = flight.get();
    if (options_.trigger)
      flight_->set_trigger(options_.trigger, options_.trigger_saves, [this] { requests_->ask(CaptureRequests::kSave); });
    store_ = std::move(flight);
    return;
  }
  if (target_->may_stall())
    store_ = std::make_unique<LossyQueue>(output, capture_.cpus(), options_.spare_chunks, chunk_records);
  else
    store_ = std::make_unique<ChunkQueue>(output, capture_.cpus() + options_.spare_chunks, chunk_records);
  if (options_.buffer.kind == BufferKind::kStop)
    limit_.emplace(*store_, options_.buffer.bytes, [this] { requests_->ask(CaptureRequests::kStop); });
}

void Session::wait() {
  if (program_) {
    ProgramEnd end = program_->wait();
    capture_.await_last_switch();
    trace_.how = end.text();
    trace_.exit_status = end.exit_status();
  } else if (options_.pid) {
    trace_.how = wait_for_process(*process_, options_.duration, *signals_);
  } else {
    trace_.how = signals_->wait(options_.duration) ? "stopped by a signal" : "the time was over";
  }
}

/// What a flight recorder holds now, as a trace of its own beside the one that is written at the end.
void Session::save() {
  std::lock_guard lock(ending_);
  if (ended_)
    return;
  std::string place = "a trace of its own";
  try {
    const std::unique_ptr<TraceTarget> target = make_save_target(options_, traced_name(), capture_.cpus(), *target_, saves_);
    place = target->place();
    recorder_->flush();
    TraceDescription saved = trace_;
    saved.how = "saved while the capture went on";
    target->begin();
    CountedOutput output(target->output(), capture_.cpus());
    if (flight_->save(output, monotonic_ns()))
      throw Error(output.error());
    saved.written = output.records();
    target->end([&](const Put &put) { write_json(saved, nullptr, put); });
    if (!options_.quiet)
      print("ovnitrace: saved to {} (see it with ovnitrace convert); recording goes on\n", place);
  } catch (const std::exception &error) {
    flight_->rearm();
    print("ovnitrace: error: cannot save to {}: {}\n", place, error.what());
  }
  if (options_.trigger && flight_->triggers_spent() && !std::exchange(told_triggers_spent_, true))
    print("ovnitrace: --trigger saves no more: {} times was the most (--max-saves); SIGUSR2 still does\n",
          options_.trigger_saves);
}

/// The program goes on untraced; without one there is nothing to wait for.
void Session::stop_when_full() {
  std::lock_guard lock(ending_);
  if (ended_)
    return;
  end_capture();
  full_ = true;
  if (!options_.quiet)
    print("ovnitrace: {} bytes are recorded: tracing stopped{}\n", options_.buffer.bytes,
          program_ ? "; the program goes on untraced" : "");
  if (!program_)
    kill(getpid(), SIGTERM);
}

void Session::end_capture() {
  ended_ = true;
  trace_.end = monotonic_ns();
  recorder_->end_at(trace_.end);
  if (families_)
    families_->detach();
  capture_.detach();
  trace_.tracer_cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - trace_.tracer_cpu;
  recorder_->finish();
  store_->close();
}

void Session::stop() {
  {
    std::lock_guard lock(ending_);
    if (!ended_)
      end_capture();
  }
  requests_.reset();
  if (full_ && signals_)
    signals_->wait(1e-9); // ours, if it came when the wait was over
  if (full_)
    trace_.how = fmt::format("{} bytes were recorded and tracing stopped{}", options_.buffer.bytes,
                             program_ ? "; later the program " + trace_.how : "");
  trace_.finished = true;
  trace_.counts = recorder_->counts();
  trace_.life_lost = recorder_->life_lost();
  trace_.skipped_runs = recorder_->skipped_runs();
  trace_.user_refused = families_ ? families_->user_refused() : 0;
  trace_.records = recorder_->records();
  trace_.written = output_->records();
  trace_.events = recorder_->events();
  trace_.forgotten = flight_ ? flight_->events_forgotten() : 0;
  trace_.records_dropped = store_->records_dropped();
  trace_.write_error = store_->error();
  end_target();
  if (!trace_.write_error.empty() && trace_.exit_status == 0)
    trace_.exit_status = kExitFailure;
}

void Session::end_target() {
  try {
    target_->end(description(&recorder_->threads()));
  } catch (const Error &error) {
    if (trace_.write_error.empty())
      trace_.write_error = error.what();
    try {
      target_->end_briefly(description(nullptr));
    } catch (const Error &) {
      // the first one says why
    }
  }
}

void Session::tell() const {
  uint64_t lost = 0;
  for (const CpuCount &count : trace_.counts)
    lost += count.lost + count.family_lost;
  if (program_ && trace_.exit_status > 128)
    print("ovnitrace: {} {}\n", options_.command[0], trace_.how);
  print("ovnitrace: {} of {} on {} in {}, {} lost; {} {}\n", human_count(trace_.events, "event", "events"),
        human_count(recorder_->threads().all().size(), "thread", "threads"),
        human_count(trace_.host.cpus.size(), "CPU", "CPUs"), human_duration(trace_.end - trace_.begin), lost,
        trace_.write_error.empty() ? "written to" : "not all of it written to", target_->place());
  if (trace_.forgotten)
    print("ovnitrace: {} of them forgotten: older than what the flight recorder keeps\n", human_count(trace_.forgotten));
  if (lost || trace_.skipped_runs || trace_.life_lost)
    print("ovnitrace: warning: lost {} events (shown as blackouts; try --ring-size), {} skipped "
               "by the kernel, {} creations and renamings\n",
               lost, trace_.skipped_runs, trace_.life_lost);
  if (trace_.user_refused)
    print("ovnitrace: {} that the program logged left out: not for programs (docs/user-events.md)\n",
          human_count(trace_.user_refused, "event", "events"));
  if (!trace_.write_error.empty())
    print("ovnitrace: error: {}{}\n", trace_.write_error,
          trace_.records_dropped ? fmt::format(" ({} records not written)", trace_.records_dropped) : "");
}

} // namespace

RecordResult record(const RecordOptions &options) {
  hold_signals();
  constexpr size_t kFilesOfACpu = 2, kOthers = 64; // ring, chunk file; programs, links, maps, standard streams
  raise_file_limit(size_t(sysconf(_SC_NPROCESSORS_CONF)) * kFilesOfACpu + kOthers);
  return Session(options).run();
}

} // namespace ovnitrace
