// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/perfetto/event_tracks.h"

#include "emulator/base/printable.h"

#include <fmt/format.h>

namespace ovnitrace::perfetto {

namespace {

enum Type : int32_t { kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4 };

constexpr TrackKind kNoKind{};
constexpr std::string_view kCpu = "CPU"; // with its number

struct KindInfo {
  TrackKind kind;
  std::string_view name;
  TrackKind parent = kNoKind;
};

/// All kinds, in their order.
constexpr KindInfo kKinds[] = {
    {TrackKind::trace, "ovnitrace"},
    {TrackKind::process, ""},
    {TrackKind::thread, ""},
    {TrackKind::process_region, "region", TrackKind::process},
    {TrackKind::thread_region, "region", TrackKind::thread},
    {TrackKind::mutex, "mutex", TrackKind::thread},
    {TrackKind::unknown, "unknown", TrackKind::thread},
    {TrackKind::blocked, "blocked", TrackKind::thread},
    {TrackKind::mark, "", TrackKind::thread},
    {TrackKind::interrupts, "Interrupts"},
    {TrackKind::interrupt, kCpu, TrackKind::interrupts},
    {TrackKind::blackouts, "Blackouts"},
    {TrackKind::blackout, kCpu, TrackKind::blackouts},
    {TrackKind::user_events, "User events of unknown threads"},
    {TrackKind::critical_path, "Critical path"},
    {TrackKind::idle_states, "Idle states"},
    {TrackKind::idle_state, kCpu, TrackKind::idle_states},
    {TrackKind::frequencies, "Frequencies"},
    {TrackKind::frequency, kCpu, TrackKind::frequencies},
    {TrackKind::stolen_times, "Stolen time"},
    {TrackKind::stolen_time, kCpu, TrackKind::stolen_times},
    {TrackKind::outside_wakers, "Wakers that are not traced"},
};

constexpr const KindInfo &info_of(TrackKind kind) {
  return kKinds[size_t(kind) - size_t(TrackKind::trace)];
}
static_assert(info_of(TrackKind::outside_wakers).kind == TrackKind::outside_wakers);

} // namespace

void EventTracks::begin(Track track, uint64_t time, std::string_view name, Notes notes) {
  count_++;
  put(track, time, kBegin, name, notes);
}

void EventTracks::end(Track track, uint64_t time) {
  put(track, time, kEnd, {}, {});
}

void EventTracks::instant(Track track, uint64_t time, std::string_view name, Notes notes) {
  count_++;
  put(track, time, kInstant, name, notes);
}

void EventTracks::slice(Track track, uint64_t start, uint64_t end, std::string_view name,
                        Notes notes, uint64_t callstack) {
  count_++;
  put(track, start, kBegin, name, notes, callstack);
  this->end(track, end);
}

void EventTracks::counter(Track track, uint64_t time, int64_t value) {
  count_++;
  describe(track);
  file_.packet_at(time, [&](PacketBuilder &packet) {
    protozero::pbf_builder<TrackEvent> event(packet, Packet::track_event);
    event.add_enum(TrackEvent::type, kCounter);
    event.add_uint64(TrackEvent::track_uuid, track.uuid());
    event.add_int64(TrackEvent::counter_value, value);
  });
}

void EventTracks::put(Track track, uint64_t time, int32_t type, std::string_view name, Notes notes,
                      uint64_t callstack) {
  describe(track);
  file_.packet_at(time, [&](PacketBuilder &packet) {
    if (callstack)
      packet.add_uint32(Packet::sequence_flags, kNeedsIncrementalState);
    protozero::pbf_builder<TrackEvent> event(packet, Packet::track_event);
    for (const Note &note : notes) {
      protozero::pbf_builder<Annotation> annotation(event, TrackEvent::debug_annotations);
      annotation.add_string(Annotation::name, note.name);
      if (note.text.empty())
        annotation.add_int64(Annotation::int_value, note.number);
      else
        annotation.add_string(Annotation::string_value, view(note.text));
    }
    event.add_enum(TrackEvent::type, type);
    event.add_uint64(TrackEvent::track_uuid, track.uuid());
    if (!name.empty())
      event.add_string(TrackEvent::name, view(name));
    if (callstack)
      event.add_uint64(TrackEvent::callstack, callstack);
  });
}

void EventTracks::describe(Track track) {
  if (!described_.insert(track.uuid()).second)
    return;
  const Track above = parent(track);
  if (above.kind != kNoKind)
    describe(above);
  file_.packet([&](PacketBuilder &packet) {
    protozero::pbf_builder<TrackDescriptor> descriptor(packet, Packet::track_descriptor);
    descriptor.add_uint64(TrackDescriptor::uuid, track.uuid());
    if (track.kind == TrackKind::process) {
      protozero::pbf_builder<ProcessDescriptor> process(descriptor, TrackDescriptor::process);
      process.add_int32(ProcessDescriptor::pid, int32_t(track.index));
    } else if (track.kind == TrackKind::thread) {
      const ThreadInfo &info = catalog_.threads[track.index];
      protozero::pbf_builder<ThreadDescriptor> thread(descriptor, TrackDescriptor::thread);
      thread.add_int32(ThreadDescriptor::pid, int32_t(info.pid));
      thread.add_int64(ThreadDescriptor::tid, info.tid);
    } else {
      descriptor.add_string(TrackDescriptor::name, name(track));
      if (above.kind != kNoKind)
        descriptor.add_uint64(TrackDescriptor::parent_uuid, above.uuid());
      if (track.kind == TrackKind::frequency || track.kind == TrackKind::stolen_time) {
        protozero::pbf_builder<CounterDescriptor> counter(descriptor, TrackDescriptor::counter);
        counter.add_string(CounterDescriptor::unit_name,
                           track.kind == TrackKind::frequency ? "kHz" : "us");
      }
    }
  });
}

Track EventTracks::parent(Track track) const {
  switch (const TrackKind above = info_of(track.kind).parent; above) {
  case TrackKind::process:
    return {above, track.index};
  case TrackKind::thread:
    return {above, track.kind == TrackKind::mark ? track.index / kMarkTypes : track.index};
  default:
    return {above};
  }
}

std::string EventTracks::name(Track track) const {
  if (track.kind == TrackKind::mark) {
    for (const MarkType &mark : catalog_.marks)
      if (mark.type == track.index % kMarkTypes && !mark.title.empty())
        return printable_line(mark.title);
    return fmt::format("mark {}", track.index % kMarkTypes);
  }
  const std::string_view name = info_of(track.kind).name;
  return name == kCpu ? fmt::format("{} {}", name, catalog_.cpus[track.index].index)
                      : std::string(name);
}

} // namespace ovnitrace::perfetto
