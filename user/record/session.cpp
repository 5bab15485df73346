// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/session.h"

#include "emulator/base/clock.h"
#include "emulator/base/error.h"
#include "emulator/base/messages.h"
#include "user/record/closing_report.h"
#include "user/record/make_target.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

namespace ovnitrace {

namespace {

/// Waits for the end of processes that are not our children; a signal ends the wait too.
/// `duration`: ns, 0: no limit.
std::string wait_for_processes(const std::deque<ProcessWatch> &processes, uint64_t duration,
                               StopSignals &signals) {
  const uint64_t limit = monotonic_ns() + duration;
  for (const ProcessWatch &process : processes) {
    const uint64_t now = monotonic_ns();
    if (duration && now >= limit)
      return "the time was over";
    if (signals.wait(duration ? double(limit - now) / 1e9 : 0, process.file()))
      return "stopped by a signal";
    if (!process.ended())
      return "the time was over";
  }
  return processes.size() == 1 ? "the process ended" : "the processes ended";
}

} // namespace

RecordResult Session::run() {
  start();
  wait();
  stop();
  if (!options_.quiet)
    tell_end(trace_, recorder_->threads().count(), target_->place());
  return {target_->place(), trace_.exit_status, what_is_missing(trace_)};
}

std::string Session::traced_name() const {
  if (!options_.command.empty())
    return options_.command[0];
  return processes_.empty() ? "system" : processes_.front().name();
}

TraceTarget::Description Session::description(const ThreadRegistry *threads) const {
  return [this, threads](const Put &put) { write_json(trace_, threads, put); };
}

void Session::wait() {
  std::string how;
  int exit_status = 0;
  if (program_) {
    ProgramEnd end = program_->wait();
    capture_.await_last_switch();
    how = end.text();
    exit_status = end.exit_status();
  } else if (!processes_.empty()) {
    how = wait_for_processes(processes_, options_.duration, *signals_);
  } else {
    how = signals_->wait(double(options_.duration) / 1e9) ? "stopped by a signal"
                                                          : "the time was over";
  }
  std::lock_guard lock(ending_); // a save copies the description
  trace_.how = how;
  trace_.exit_status = exit_status;
}

/// ns in which a collector must take what waits for it: a minute, and a second for each MiB.
uint64_t Session::sending_time() const {
  constexpr uint64_t kSecond = 1'000'000'000, kLeast = 60 * kSecond;
  const uint64_t waiting =
      options_.buffer.kind == BufferKind::kJtn
          ? (trace_.host.cpus.size() + options_.spare_chunks) * options_.chunk_bytes
          : trace_.host.cpus.size() * options_.buffer.bytes;
  return kLeast + (waiting >> 20) * kSecond;
}

/// What a flight recorder holds now, as a trace of its own beside the one that is written at the
/// end.
void Session::save() {
  std::lock_guard lock(ending_);
  if (ended_)
    return;
  std::string place = "a trace of its own";
  try {
    const std::unique_ptr<TraceTarget> target =
        make_save_target(options_, traced_name(), capture_.cpus(), *target_, saves_);
    place = target->place();
    target->end_by(monotonic_ns() + sending_time());
    recorder_->flush();
    TraceDescription saved = trace_;
    const auto describe = [&](const Put &put) { write_json(saved, nullptr, put); };
    saved.how = "saved while the capture went on";
    target->begin();
    CountedOutput output(target->output(), capture_.cpus());
    saved.end = monotonic_ns();
    const bool whole = flight_->save(output, saved.end) == 0;
    saved.written = output.records();
    saved.not_written = output.losses();
    saved.write_error = output.error();
    target->end(describe, events_lost(saved));
    if (!whole)
      throw Error(output.error());
    if (!options_.quiet)
      print("saved to {} (see it with ovnitrace convert); recording goes on", place);
  } catch (const std::exception &error) {
    flight_->rearm();
    print("error: cannot save to {}: {}", place, error.what());
  }
  if (options_.trigger && flight_->triggers_spent() && !std::exchange(told_triggers_spent_, true))
    print("--trigger saves no more: {} times was the most (--max-saves); SIGUSR2 still does",
          options_.trigger_saves);
}

/// The program goes on untraced; without one there is nothing to wait for.
void Session::stop_early(CaptureRequests::Request why) {
  std::lock_guard lock(ending_);
  if (ended_)
    return;
  end_capture();
  stopped_early_ = why == CaptureRequests::kFull
                       ? fmt::format("{} bytes were recorded", options_.buffer.bytes)
                       : "the time was over";
  if (!options_.quiet)
    print("{}: tracing stopped{}", stopped_early_,
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
  target_->end_by(monotonic_ns() + sending_time());
  recorder_->finish();
  store_->close();
}

void Session::stop() {
  end_on_second_signal();
  signals_.reset(); // they are not waited for any more
  {
    std::lock_guard lock(ending_);
    if (!ended_)
      end_capture();
  }
  requests_.reset();
  if (!stopped_early_.empty())
    trace_.how = fmt::format("{} and tracing stopped{}", stopped_early_,
                             program_ ? "; later the program " + trace_.how : "");
  trace_.finished = true;
  trace_.counts = recorder_->counts();
  trace_.life_lost = recorder_->life_lost();
  trace_.skipped_runs = recorder_->skipped_runs();
  trace_.user_refused = families_ ? families_->user_refused() : 0;
  trace_.records = recorder_->records();
  trace_.written = output_->records();
  trace_.not_written = output_->losses();
  trace_.dropped = store_->dropped();
  trace_.events = recorder_->events() - trace_.dropped.counted;
  for (const EventLoss &loss : trace_.not_written)
    trace_.events -= std::min(trace_.events, loss.counted);
  trace_.forgotten = flight_ ? flight_->events_forgotten() : 0;
  trace_.records_dropped = store_->records_dropped();
  trace_.write_error = store_->error();
  end_target();
  if (!program_ && is_incomplete(trace_))
    trace_.exit_status = kExitIncomplete;
  else if (!trace_.write_error.empty() && trace_.exit_status == 0)
    trace_.exit_status = kExitFailure;
}

void Session::end_target() {
  target_->end_by(monotonic_ns() + sending_time());
  try {
    target_->end(description(&recorder_->threads()), events_lost(trace_));
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

} // namespace ovnitrace
