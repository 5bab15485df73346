// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/perfetto/family_tracks.h"

#include "emulator/base/printable.h"
#include "emulator/models/payload.h"
#include "emulator/models/user_thread.h"
#include "emulator/models/value_labels.h"

#include <fmt/format.h>
#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace::perfetto {

namespace {

// A program can log any number: beyond these nothing more is kept.
constexpr size_t kMostNested = 512;

constexpr uint32_t kSetMark = mcv('O', 'M', '='), kPushMark = mcv('O', 'M', '['),
                   kPopMark = mcv('O', 'M', ']');

} // namespace

void FamilyTracks::event(const Event &event, const System &system) {
  if (is_users(event))
    return user_event(event, system);
  switch (event.kind) {
  case FTrace_EXT_region:
    return region(event);
  case kSetMark:
  case kPushMark:
  case kPopMark:
    return mark(event);
  case FTrace_EVT_mutex_create:
  case FTrace_EVT_mutex_wait:
  case FTrace_EVT_mutex_lock:
  case FTrace_EVT_mutex_unlock:
  case FTrace_EVT_mutex_post:
  case FTrace_EVT_mutex_inherit:
    return mutex(event);
  case FTrace_EVT_interrupt_start:
  case FTrace_EVT_interrupt_end:
  case FTrace_EVT_interrupt_hit:
    return interrupt(event);
  case FTrace_EVT_task_create:
    return start_process(event);
  case FTrace_EVT_task_end:
    return event.thread != kNone ? end_thread(event, system) : void();
  case FTrace_EVT_blackout_start:
  case FTrace_EVT_blackout_end:
    end_waits(event.time);
    if (event.cpu < served_.size())
      end_interrupts(event.cpu, 0, event.time);
    return;
  case FTrace_filter_mutex:
    return event.par1 ? end_waits(event.time) : void();
  case FTrace_filter_interrupt:
    for (uint32_t cpu = 0; event.par1 && cpu < served_.size(); cpu++)
      end_interrupts(cpu, 0, event.time);
    return;
  }
}

void FamilyTracks::user_event(const Event &event, const System &system) {
  const uint32_t thread = event.thread != kNone ? event.thread : running_thread(system, event.cpu);
  if (thread != kNone && !kept_[thread])
    return;
  const bool is_section =
      event.kind == FTrace_EVT_user_event_13 || event.kind == FTrace_EVT_user_event_14;
  if (is_section && !event.by_manual)
    return thread != kNone ? section(event, thread) : void();
  const Track track =
      thread != kNone ? Track{TrackKind::thread, thread} : Track{TrackKind::user_events};
  if (event.kind == FTrace_EVT_ipoint)
    tracks_.instant(track, event.time, fmt::format("ipoint {}", event.par1));
  else
    tracks_.instant(track, event.time, fmt::format("user event {}", event.kind >> 4),
                    {{"parameter 1", event.par1}, {"parameter 2", event.par2}});
}

/// Ends a section. If it is not the innermost one, those within it end too: their ends were not
/// seen.
void FamilyTracks::section(const Event &event, uint32_t thread) {
  std::vector<uint32_t> &nested = sections_[thread];
  const Track track{TrackKind::thread, thread};
  if (event.kind == FTrace_EVT_user_event_13) {
    if (nested.size() == kMostNested)
      return;
    nested.push_back(event.par2);
    return tracks_.begin(track, event.time, fmt::format("section {}", event.par2));
  }
  size_t left = nested.size();
  while (left > 0 && nested[left - 1] != event.par2)
    left--;
  for (; left > 0 && nested.size() >= left; nested.pop_back())
    tracks_.end(track, event.time);
}

void FamilyTracks::end_sections(uint32_t thread, uint64_t time) {
  std::vector<uint32_t> &nested = sections_[thread];
  for (; !nested.empty(); nested.pop_back())
    tracks_.end({TrackKind::thread, thread}, time);
}

void FamilyTracks::region(const Event &event) {
  if (event.thread == kNone)
    return;
  const bool of_thread = event.par2 & FTRACE_REGION_THREAD;
  const Track track = of_thread
                          ? Track{TrackKind::thread_region, event.thread}
                          : Track{TrackKind::process_region, catalog_.threads[event.thread].pid};
  const uint32_t what = event.par2 >> FTRACE_REGION_EVENT_SHIFT & 3;
  if ((what != CONTROL_START && what != CONTROL_STOP) || event.par2 & FTRACE_REGION_AGAIN)
    return;
  end_region(track, event.time);
  if (what == CONTROL_STOP)
    return;
  const uint32_t chain = event.par2 >> FTRACE_REGION_CHAIN_SHIFT & 0xff;
  const std::vector<std::string> &chains = catalog_.hosts.front().chains;
  const std::string name =
      chain && chain <= chains.size() ? printable_line(chains[chain - 1]) : std::string("no chain");
  regions_.insert(track.uuid());
  tracks_.begin(track, event.time, name,
                {{"started by", 0,
                  name_of(kRegionTypeNames, event.par2 >> FTRACE_REGION_TYPE_SHIFT & 0xff)}});
}

void FamilyTracks::end_region(Track track, uint64_t time) {
  if (regions_.erase(track.uuid()))
    tracks_.end(track, time);
}

/// Ends the region of an earlier process with the same pid, whose end was not seen.
void FamilyTracks::start_process(const Event &event) {
  if (event.thread == kNone)
    return;
  if (const ThreadInfo &info = catalog_.threads[event.thread]; info.tid == info.pid)
    end_region({TrackKind::process_region, info.pid}, event.time);
}

/// Ends what the thread does, and the region of its process if it is the last shown thread there.
void FamilyTracks::end_thread(const Event &event, const System &system) {
  end_wait(event.thread, event.time);
  end_region({TrackKind::thread_region, event.thread}, event.time);
  const uint32_t pid = catalog_.threads[event.thread].pid;
  const Track process{TrackKind::process_region, pid};
  if (!regions_.contains(process.uuid()))
    return;
  for (uint32_t t = 0; t < catalog_.threads.size(); t++)
    if (const ThreadInfo &other = catalog_.threads[t];
        t != event.thread && other.pid == pid && kept_[t] && other.birth <= event.time &&
        system.threads()[t].state != ThreadState::Dead)
      return;
  end_region(process, event.time);
}

void FamilyTracks::mark(const Event &event) {
  int64_t value;
  int32_t type;
  if (event.thread == kNone || !read_payload(event, 0, value) || !read_payload(event, 8, type) ||
      type < 0 || uint32_t(type) >= kMarkTypes || value == 0)
    return; // convert reports it
  const Track track{TrackKind::mark, event.thread * kMarkTypes + uint32_t(type)};
  uint32_t &open = marks_[track.uuid()];
  if (event.kind != kPushMark && open > 0) {
    tracks_.end(track, event.time);
    open--;
  }
  if (event.kind == kPopMark)
    return;
  std::string name = fmt::format("{}", value);
  for (const MarkType &mark : catalog_.marks)
    if (mark.type == uint32_t(type))
      for (const auto &[number, label] : mark.labels)
        if (number == value)
          name = printable_line(label);
  tracks_.begin(track, event.time, name, {{"value", value}});
  open++;
}

void FamilyTracks::mutex(const Event &event) {
  if (event.thread == kNone)
    return;
  const Track track{TrackKind::mutex, event.thread};
  const uint32_t how = added_par2(event) & (FTRACE_FUTEX_GAVE_UP | FTRACE_FUTEX_PLAIN);
  const std::string mutex = fmt::format("mutex {:#x}", event.par2 & ~how);
  switch (event.kind) {
  case FTrace_EVT_mutex_wait:
    end_wait(event.thread, event.time);
    waits_[event.thread] = 1;
    return tracks_.begin(track, event.time, "waits for " + mutex);
  case FTrace_EVT_mutex_lock:
    end_wait(event.thread, event.time);
    return tracks_.instant(track, event.time,
                           how & FTRACE_FUTEX_GAVE_UP ? "gives up"
                           : how & FTRACE_FUTEX_PLAIN ? "has waited"
                                                      : "locks " + mutex);
  case FTrace_EVT_mutex_unlock:
    return tracks_.instant(track, event.time, "unlocks " + mutex);
  case FTrace_EVT_mutex_post:
    return tracks_.instant(track, event.time, "posts " + mutex);
  case FTrace_EVT_mutex_create:
    return tracks_.instant(track, event.time, "creates a mutex");
  case FTrace_EVT_mutex_inherit:
    return tracks_.instant(track, event.time, "inherits by a mutex");
  }
}

void FamilyTracks::end_wait(uint32_t thread, uint64_t time) {
  if (waits_[thread])
    tracks_.end({TrackKind::mutex, thread}, time);
  waits_[thread] = 0;
}

void FamilyTracks::end_waits(uint64_t time) {
  for (uint32_t thread = 0; thread < waits_.size(); thread++)
    end_wait(thread, time);
}

void FamilyTracks::interrupt(const Event &event) {
  if (event.cpu >= served_.size())
    return;
  const Track track{TrackKind::interrupt, event.cpu};
  std::vector<uint16_t> &served = served_[event.cpu];
  if (event.kind == FTrace_EVT_interrupt_hit) {
    tracks_.instant(track, event.time, interrupt_name(event.par1));
  } else if (event.kind == FTrace_EVT_interrupt_end) {
    for (size_t n = served.size(); n-- > 0;)
      if (served[n] == event.par1)
        return end_interrupts(event.cpu, n, event.time);
  } else if (served.size() < kMostNested) {
    served.push_back(event.par1);
    tracks_.begin(track, event.time, interrupt_name(event.par1));
  }
}

/// Ends all from place `from` on.
void FamilyTracks::end_interrupts(uint32_t cpu, size_t from, uint64_t time) {
  std::vector<uint16_t> &served = served_[cpu];
  for (; served.size() > from; served.pop_back())
    tracks_.end({TrackKind::interrupt, cpu}, time);
}

} // namespace ovnitrace::perfetto
