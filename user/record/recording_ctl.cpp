// SPDX-License-Identifier: BSD-2-Clause
// Answers `ovnitrace ctl` and hits of --trigger, and says how the capture goes.
#include "user/record/recording.h"

#include "emulator/base/clock.h"
#include "emulator/base/human.h"
#include "emulator/base/messages.h"
#include "emulator/base/printable.h"
#include "user/control/ctl_commands.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace ovnitrace {

namespace {

constexpr const char *kEnded = "error\nthe capture has ended\n";

std::string status_json(const CaptureStatus &status, const std::string &regions) {
  nlohmann::ordered_json json = {{"schema", 1},
                                 {"state", status.paused ? "paused" : "recording"},
                                 {"elapsed_ns", status.elapsed},
                                 {"events", status.events},
                                 {"lost", status.lost},
                                 {"bytes", status.bytes},
                                 {"fullest_ring", status.fullest_ring / 1000.0},
                                 {"threads", status.threads}};
  if (!regions.empty())
    json["regions"] = regions;
  return json.dump() + "\n";
}

std::string status_text(const CaptureStatus &status) {
  return fmt::format("{} for {}: {}, {} lost, {}, fullest ring {:.1f} %, {}\n",
                     status.paused ? "paused; started" : "recording",
                     human_duration(status.elapsed), human_count(status.events, "event", "events"),
                     human_count(status.lost), human_bytes(status.bytes),
                     status.fullest_ring / 10.0, human_count(status.threads, "thread", "threads"));
}

} // namespace

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
  const size_t blank = std::min(line.find(' '), line.size());
  const std::string command = line.substr(0, blank);
  const std::string argument = blank < line.size() ? line.substr(blank + 1) : "";
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
    return answer_save();
  if (command == "stop") {
    stop_early(kCtlStop);
    return traced_.is_program() ? "ok\n" : ""; // end() answers, when the trace is whole
  }
  const std::lock_guard lock(ending_);
  if (ended_)
    return kEnded;
  if (command == "status") {
    const CaptureStatus now = status();
    return "ok\n" + (argument == "--json" ? status_json(now, regions) : status_text(now) + regions);
  }
  if (command == "pause" || command == "resume") {
    const bool on = command == "pause";
    if (paused_ == on)
      return fmt::format("error\nthe capture is {} already\n", on ? "paused" : "recording");
    paused_ = on;
    recorder_.pause(on);
    recorder_.flush(); // from now on, it is so
    return "ok\n";
  }
  if (command == "mark")
    return answer_mark(argument);
  if (command == "start")
    return "error\nthe capture has no --control, and records already\n";
  return fmt::format("error\nunknown command: {}\n", printable_line(command));
}

/// Adds a mark. Writes its text into trace.json at once, in case the capture is killed. REQUIRES:
/// ending_ is held. Returns false if the trace has as many marks as it can have.
bool Recording::add_mark(uint64_t time, const std::string &text) {
  if (trace_.marks.size() == UINT16_MAX)
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
  if (text.empty() || text.size() > kLongestMark)
    return "error\na mark needs a text, which must not be too long\n";
  if (!add_mark(monotonic_ns(), text))
    return "error\nthe trace has as many marks as it can have\n";
  return "ok\n";
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

/// Takes a hit of a rule. The kernel side sends at most one each second; all that came while the
/// last save was written count as one. A trace that is cut into parts has the hit already: its part
/// is kept.
void Recording::take_hit(size_t rule) {
  const std::optional<trigger_hit> hit = traced_.triggers()[rule].take();
  if (!hit)
    return;
  const std::string cause = printable_line(text_of(options_.rules[rule].rule, *hit)),
                    counted = hit->hits > 1
                                  ? fmt::format("{} (hit {})", cause, human_count(hit->hits))
                                  : cause;
  {
    const std::lock_guard lock(ending_);
    if (ended_ || paused_ || !take_trigger_save())
      return;
    try {
      if (!add_mark(hit->time, cause))
        print("{}: not marked, the trace has as many marks as it can have", cause);
    } catch (const std::exception &error) { // trace.json cannot be written: the save says so, too
      print("error: cannot mark a hit of --trigger: {}", error.what());
    }
    const std::string part = target_.keep_part(hit->time);
    recorder_.flush(); // what is staged now is written by the flush of the save
    if (options_.rotation.wanted()) {
      if (!options_.quiet)
        print("{}: marked in {}; recording goes on", counted, part);
      report_spent_triggers();
      return on_save_.start(part, counted);
    }
  }
  save(counted);
}

std::string Recording::answer_save() {
  if (!storage_.flight())
    return "error\nonly a flight recorder (--buffer last:SIZE) can be saved\n";
  const std::string place = save();
  return place.empty() ? "error\ncould not be saved: the messages of the capture say why\n"
                       : fmt::format("ok\nsaved to {}\n", place);
}

} // namespace ovnitrace
