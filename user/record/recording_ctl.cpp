// SPDX-License-Identifier: BSD-2-Clause
// Answers `ovnitrace ctl` and hits of --trigger, and says how the capture goes.
#include "user/record/recording.h"

#include "emulator/base/clock.h"
#include "emulator/base/messages.h"
#include "emulator/base/printable.h"
#include "user/record/ctl_answers.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace ovnitrace {

CaptureStatus Recording::status() {
  CaptureStatus status;
  status.time = monotonic_ns();
  status.elapsed = status.time - std::min(status.time, trace_.begin);
  Capture &capture = traced_.capture();
  FamilyCapture *families = traced_.families();
  for (uint32_t cpu = 0; cpu < capture.cpus(); cpu++) {
    status.events += capture.stage(cpu).events + capture.stage(cpu).count;
    status.lost += capture.stage(cpu).lost_total;
    if (families) {
      status.events += families->count(cpu).events;
      status.lost += families->count(cpu).lost;
    }
  }
  status.bytes = storage_.bytes();
  status.fullest_ring = uint32_t(recorder_.take_fullest_ring() * 1000 / capture.ring_bytes());
  status.threads = recorder_.threads_so_far();
  status.paused = paused_;
  return status;
}

/// Does what is due. Called each second.
void Recording::tick() {
  constexpr uint64_t kMargin = 10'000'000; // ns: for what a CPU was just writing
  const std::lock_guard lock(ending_);
  if (ended_)
    return;
  if (target_.wants_rotation(monotonic_ns())) {
    const uint64_t flushed = recorder_.flush();
    target_.rotate_soon(flushed - std::min(flushed, kMargin), monotonic_ns());
  }
  if (shows_status_)
    print_text(status_line_.next(status()));
}

std::string Recording::answer(const std::string &line) {
  const auto [command, argument] = parse_ctl_line(line);
  control::Controller *controller = traced_.controller();
  if (controller && (command == "start" || command == "stop"))
    return controller->ask(command);
  std::string regions;
  if (controller && command == "status") {
    regions = controller->ask(command);
    if (!regions.starts_with("ok\n"))
      return regions;
    regions.erase(0, 3);
  }
  if (command == "save")
    return storage_.flight() ? answer_save(save()) : kCtlNothingToSave;
  if (command == "stop") {
    stop_early(kCtlStop);
    return traced_.is_program() ? kCtlDone : ""; // end() answers, when the trace is whole
  }
  const std::lock_guard lock(ending_);
  if (ended_)
    return control::kEndedAnswer;
  if (command == "status")
    return answer_status(status(), argument, regions);
  if (command == "pause" || command == "resume")
    return answer_pause(command == "pause");
  if (command == "mark")
    return answer_mark(argument);
  if (command == "start")
    return kCtlNothingToStart;
  return answer_unknown(command);
}

std::string Recording::answer_pause(bool pauses) {
  if (const std::string why = refuse_pause(paused_, pauses); !why.empty())
    return why;
  paused_ = pauses;
  recorder_.pause(pauses);
  recorder_.flush(); // from now on, it is so
  return kCtlDone;
}

/// Adds a mark. Writes its text into trace.json at once, in case the capture is killed. REQUIRES:
/// ending_ is held. Returns false if the trace has as many marks as it can have.
bool Recording::add_mark(uint64_t time, const std::string &text) {
  if (trace_.marks.size() >= kMostTraceMarks)
    return false;
  {
    std::lock_guard lock(describing_);
    trace_.marks.push_back({time, printable_line(text)});
  }
  recorder_.mark(time, uint16_t(trace_.marks.size()));
  if (options_.send.empty())
    target_.describe(description(nullptr));
  return true;
}

std::string Recording::answer_mark(const std::string &text) {
  if (const std::string why = refuse_mark(text, trace_.marks.size()); !why.empty())
    return why;
  add_mark(monotonic_ns(), text);
  return kCtlDone;
}

/// Takes one of the saves that are left for triggers. Returns false if none is. For any thread.
bool Recording::take_trigger_save() {
  uint64_t left = trigger_saves_left_;
  while (left && !trigger_saves_left_.compare_exchange_weak(left, left - 1))
    ;
  return left;
}

/// Returns whether there will be a save. Requests that come before it begins share it. For any
/// thread.
bool Recording::ask_for_trigger_save() {
  if (trigger_save_waits_.exchange(true))
    return true;
  const bool is_left = take_trigger_save();
  if (is_left)
    requests_->ask(CaptureRequests::kSave);
  else
    trigger_save_waits_ = false;
  return is_left;
}

/// Ends the triggers if they have saved as often as they may. REQUIRES: ending_ is held.
void Recording::report_spent_triggers() {
  const bool spent = options_.trigger_saves && !trigger_saves_left_ && !trigger_save_waits_;
  if (!spent || std::exchange(reported_triggers_spent_, true))
    return;
  for (TriggerCapture &trigger : traced_.triggers())
    trigger.detach();
  print("--max-saves {} reached: --trigger {}", options_.trigger_saves,
        options_.rotation.wanted() ? "marks and keeps no more parts"
                                   : "saves no more; SIGUSR2 still does");
}

/// Returns the newest hit of a rule, if it shall be marked or saved. REQUIRES: ending_ is held.
std::optional<trigger_hit> Recording::next_hit(size_t rule) {
  std::optional<trigger_hit> hit = traced_.triggers()[rule].take();
  if (ended_ || paused_ || (hit && !take_trigger_save()))
    return {};
  return hit;
}

/// Marks a hit. REQUIRES: ending_ is held. Returns false, after a message, if it cannot be marked.
bool Recording::mark_hit(const trigger_hit &hit, const std::string &cause) {
  try {
    if (add_mark(hit.time, cause))
      return true;
    print("{}: not marked, the trace has as many marks as it can have", cause);
  } catch (const std::exception
               &error) { // trace.json cannot be written: the end of the capture says so, too
    print("error: cannot mark a hit of --trigger: {}", error.what());
  }
  return false;
}

/// Takes a hit of a rule. The kernel side sends at most one each second; all that came while the
/// last save was written count as one. With --rotate, the part that has the hit is kept.
void Recording::take_hit(size_t rule) {
  std::string cause;
  {
    const std::lock_guard lock(ending_);
    const std::optional<trigger_hit> hit = next_hit(rule);
    if (!hit)
      return;
    const std::string text = hit_text(rule, *hit), part = target_.keep_part(hit->time);
    const bool marked = mark_hit(*hit, text);
    cause = with_number(text, hit->hits);
    recorder_.flush(); // what is staged now is written by the flush of the save
    if (options_.rotation.wanted()) {
      if (marked && !options_.quiet)
        print("{}: marked in {}; recording goes on", cause, part);
      report_spent_triggers();
      return on_save_.start(part, cause);
    }
  }
  save(cause);
}

/// Marks the hits that came too late for a save of their own. REQUIRES: ending_ is held.
void Recording::mark_last_hits() {
  for (size_t rule = 0; rule < traced_.triggers().size(); rule++)
    if (const std::optional<trigger_hit> hit = next_hit(rule)) {
      const std::string text = hit_text(rule, *hit), part = target_.keep_part(hit->time);
      if (mark_hit(*hit, text) && !options_.quiet && !options_.live)
        print("{}: too late for a save of its own, marked in {}", with_number(text, hit->hits),
              part.empty() ? "the trace" : part);
    }
}

std::string Recording::hit_text(size_t rule, const trigger_hit &hit) const {
  return printable_line(text_of(options_.rules[rule].rule, hit));
}

} // namespace ovnitrace
