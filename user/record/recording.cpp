// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/recording.h"

#include "emulator/base/clock.h"
#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "emulator/base/messages.h"
#include "emulator/base/printable.h"
#include "user/chunk/directory_target.h"
#include "user/record/closing_report.h"
#include "user/record/make_target.h"
#include "user/stacks/debuginfod.h"

#include <fmt/core.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace ovnitrace {

namespace {

void warn(const std::string &what) {
  print("warning: {}", what);
}

} // namespace

Recording::Recording(const RecordOptions &options, Traced &traced, TraceTarget &target,
                     TraceDescription trace)
    : options_(options), traced_(traced), target_(target), trace_(std::move(trace)),
      storage_(
          options, target, traced.capture().cpus(), [this] { return ask_for_trigger_save(); },
          [this] { requests_->ask(CaptureRequests::kFull); }),
      recorder_(traced.capture(), traced.families(), traced.stacks(),
                traced.causes() ? traced.causes()->devices() : nullptr, storage_.sink(),
                trace_.begin),
      trigger_saves_left_(options.trigger_saves), on_save_(options.on_save),
      status_line_(trace_.begin) {
  trace_.sees_refills = traced.causes() && traced.causes()->sees_refills();
}

/// Starts the capture. A trace that is to be overwritten is removed last, when the new one can be
/// written and the program runs.
void Recording::start(int save_signal) {
  target_.prepare(description(nullptr));
  target_.prepare_parts(part_description(true), part_description(false));
  trace_.tracer_cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  const bool has_limit = traced_.is_program() && options_.duration;
  CaptureRequests::Actions actions = {
      [this] {
        trigger_save_waits_ = false;
        save();
      },
      [this](CaptureRequests::Request why) {
        stop_early(why == CaptureRequests::kFull
                       ? fmt::format("{} bytes were recorded", options_.buffer.bytes)
                       : time_over(options_.duration));
      },
      {},
      [this](size_t rule) { take_hit(rule); },
      [this](const std::string &line) { return answer(line); },
  };
  if (!traced_.is_program() && !options_.quiet && !options_.live && isatty(STDERR_FILENO))
    shows_status_ = true;
  if (shows_status_ || options_.rotation.wanted())
    actions.tick = [this] { tick(); };
  std::vector<int> triggers;
  for (const TriggerCapture &trigger : traced_.triggers())
    triggers.push_back(trigger.file());
  requests_.emplace(save_signal, std::move(actions), std::move(triggers));
  if (options_.save_on_region_stop)
    recorder_.on_region([this](bool starts) {
      if (!starts)
        ask_for_trigger_save();
    });
  recorder_.start([&] {
    traced_.open_gate();
    target_.begin();
    if (has_limit)
      requests_->stop_in(options_.duration);
  });
  ctl_.emplace(options_.send.empty() ? target_.place() : "", traced_.ctl_pids(), traced_.owner());
  requests_->start(*ctl_);
  if (options_.live)
    parts_.emplace(*options_.live, [this](const std::string &directory, uint64_t since) {
      write_part(directory, since);
    });
}

TraceTarget::Description Recording::description(const ThreadsSoFar *threads) const {
  return [this, threads](const Put &put) {
    std::lock_guard lock(describing_);
    write_json(trace_, threads, put);
  };
}

/// Describes a part that has ended, with the threads that were seen so far. `goes_on`: another part
/// follows. The capture may have ended, too, before the part was written.
TraceTarget::Description Recording::part_description(bool goes_on) {
  return [this, goes_on](const Put &put) {
    const ThreadsSoFar threads = recorder_.copy_threads();
    std::unique_lock lock(describing_);
    TraceDescription part = trace_;
    lock.unlock();
    part.devices = seen_devices();
    part.cgroups = recorder_.cgroups().paths();
    if (goes_on) {
      part.how = "when the next part of the recording began (--rotate)";
      part.end = 0;
    }
    write_json(part, &threads, put);
  };
}

/// Returns the devices that have woken threads so far.
std::vector<DeviceName> Recording::seen_devices() const {
  const uint32_t *devices = traced_.causes() ? traced_.causes()->devices() : nullptr;
  return devices ? named_devices({devices, CAPTURE_DEVICES}) : std::vector<DeviceName>();
}

/// Writes what was recorded last, for a live view.
void Recording::write_part(const std::string &directory, uint64_t since) {
  std::lock_guard lock(ending_);
  if (ended_)
    return;
  recorder_.flush();
  storage_.recent().forget_before(since);
  DirectoryTarget target(directory, IfExists::overwrite, trace_.possible_cpus, 0);
  const ThreadsSoFar peers = recorder_.copy_peers(); // the chunks name the others
  write_saved(target, storage_.recent(), peers);
}

/// Writes what a flight recorder holds now, as a whole trace.
void Recording::write_saved(TraceTarget &target, FlightRecorder &flight,
                            const ThreadsSoFar &threads) {
  TraceDescription saved = trace_;
  if (StackCapture *stacks = traced_.stacks()) {
    auto named = std::make_shared<NamedStacks>(stacks->named());
    name_files(*named, stacks->files(), nullptr, warn);
    saved.stacks = std::move(named);
  }
  const auto describe = [&](const Put &put) { write_json(saved, &threads, put); };
  saved.how = "saved while the capture went on";
  saved.devices = seen_devices();
  saved.cgroups = recorder_.cgroups().paths();
  target.begin();
  CountedOutput output(target.output(), trace_.possible_cpus);
  saved.end = monotonic_ns();
  const bool whole = flight.save(output, saved.end) == 0;
  saved.written = output.records();
  add_later_cpus(saved.host, saved.written);
  saved.not_written = output.losses();
  saved.write_error = output.error();
  target.end(describe, events_lost(saved));
  if (!whole)
    throw Error(output.error());
}

/// Writes what a flight recorder holds now as a trace of its own, beside the one that is written at
/// the end. `cause`: what asked for it, for the message. Returns where it is, or an empty text.
std::string Recording::save(const std::string &cause) {
  std::lock_guard lock(ending_);
  if (ended_)
    return "";
  FlightRecorder &flight = *storage_.flight();
  const uint32_t cpus = trace_.possible_cpus;
  std::string place = "a trace of its own";
  bool saved = false;
  try {
    const std::unique_ptr<TraceTarget> target =
        make_save_target(options_, traced_.name(), cpus, target_, saves_);
    place = target->place();
    target->end_by(monotonic_ns() + sending_time(options_, trace_.host.cpus.size()));
    recorder_.flush();
    const ThreadsSoFar threads = recorder_.copy_threads();
    write_saved(*target, flight, threads);
    saved = true;
    if (options_.live)
      options_.live->saved("saved to " + place);
    else if (!options_.quiet)
      print("{}saved to {}{}; recording goes on", cause.empty() ? "" : cause + ": ", place,
            options_.send.empty() ? fmt::format(" (see it with `ovnitrace why {}`)", place) : "");
  } catch (const std::exception &error) {
    flight.rearm();
    const std::string why = fmt::format("error: cannot save to {}: {}", place, error.what());
    if (options_.live)
      options_.live->saved(why);
    else
      print_text(why);
  }
  report_spent_triggers();
  if (saved)
    on_save_.start(place, cause);
  return saved ? place : "";
}

/// Stops tracing. The program continues untraced. Without a program there is nothing to wait for,
/// and the main thread leaves signals their effect while this one sends.
void Recording::stop_early(const std::string &why) {
  std::lock_guard lock(ending_);
  if (ended_)
    return;
  if (!traced_.is_program())
    kill(getpid(), SIGTERM);
  stopped_early_ =
      why == kCtlStop ? fmt::format("stopped by {}", why) : why + " and tracing stopped";
  {
    std::lock_guard lock(describing_);
    trace_.how = stopped_early_;
  }
  end_capture();
  if (!options_.quiet)
    print("{}: tracing stopped{}", why,
          traced_.is_program() ? "; the program goes on untraced" : "");
}

void Recording::end_capture() {
  mark_last_hits();
  ended_ = true;
  const uint64_t end = monotonic_ns();
  recorder_.end_at(end);
  traced_.detach();
  {
    std::lock_guard lock(describing_);
    trace_.end = end;
    trace_.tracer_cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - trace_.tracer_cpu;
  }
  target_.end_by(monotonic_ns() + sending_time(options_, trace_.host.cpus.size()));
  recorder_.finish();
  storage_.close();
}

void Recording::end(const Traced::End &end) {
  parts_.reset();
  if (options_.live)
    options_.live->close();
  // At once: a save or an early stop holds the lock for as long as it sends.
  end_on_second_signal();
  traced_.release_signals(); // they are not waited for any more
  {
    std::lock_guard lock(ending_);
    {
      std::lock_guard describing(describing_);
      trace_.how = ending_text(stopped_early_, end.how, traced_.is_program());
      trace_.exit_status = end.exit_status;
    }
    if (!ended_)
      end_capture();
  }
  requests_.reset();
  const std::vector<UniqueFd> stoppers = ctl_->take_waiting();
  ctl_.reset();
  for (size_t n = 0; n < traced_.triggers().size() && !options_.quiet; n++)
    print("--trigger {} has hit {}", options_.rules[n].text,
          human_count(traced_.triggers()[n].hits(), "time", "times"));
  if (const std::string program = traced_.unwatched_program(recorder_.threads().command_lines);
      !program.empty() && !options_.quiet)
    print("{0} started {1}, whose user events are not recorded: add --probe {1}",
          printable_line(options_.command[0]), program);
  trace_.finished = true;
  trace_.devices = seen_devices();
  trace_.cgroups = recorder_.cgroups().paths();
  trace_.counts = recorder_.counts();
  trace_.life_lost = recorder_.life_lost();
  trace_.command_lines_lost = traced_.capture().counts().cmdlines_lost;
  trace_.skipped_runs = recorder_.skipped_runs();
  trace_.user_refused = traced_.families() ? traced_.families()->user_refused() : 0;
  trace_.records = recorder_.records();
  std::shared_ptr<NamedStacks> named;
  if (StackCapture *stacks = traced_.stacks()) {
    trace_.stacks = named = std::make_shared<NamedStacks>(stacks->named());
    trace_.stacks_lost = stacks->lost();
    if (const uint64_t lost = stacks->mappings_lost())
      print("warning: {} about mapped files found no room: functions on stacks may have no name, "
            "or the "
            "name of what was mapped there before",
            human_count(lost, "report", "reports"));
  }
  storage_.describe(trace_);
  add_later_cpus(trace_.host, trace_.written);
  trace_.events = events_in_trace(trace_, recorder_.events());
  if (named)
    name_later(*named);
  end_target();
  for (const UniqueFd &caller : stoppers)
    control::send_answer(caller.get(), "ok\n");
  trace_.exit_status = exit_status_of(trace_, traced_.is_program());
}

/// Completes the trace, and names stacks only then: reading files can take long.
void Recording::name_later(NamedStacks &stacks) {
  try {
    target_.describe(description(&recorder_.threads()));
  } catch (const Error &) {
    // end() meets the same
  }
  CodeFiles::Fetch fetch;
  if (options_.debuginfod)
    fetch = DebugFetcher(warn);
  name_files(stacks, traced_.stacks()->files(), fetch, warn);
}

void Recording::end_target() {
  target_.end_by(monotonic_ns() + sending_time(options_, trace_.host.cpus.size()));
  try {
    target_.end(description(&recorder_.threads()), events_lost(trace_));
  } catch (const Error &error) {
    if (trace_.write_error.empty())
      trace_.write_error = error.what();
    trace_.stacks.reset();
    try {
      target_.end_briefly(description(nullptr));
    } catch (const Error &) {
      // the first one says why
    }
  }
}

} // namespace ovnitrace
