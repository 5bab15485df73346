// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/perfetto/event_tracks.h"

#include "emulator/base/printable.h"

#include <fmt/format.h>

namespace ovnitrace::perfetto {

namespace {

enum Type : int32_t { kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4 };

constexpr Track kNoParent{TrackKind(0)};

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
                        Notes notes) {
  begin(track, start, name, notes);
  this->end(track, end);
}

void EventTracks::slice_at(Track track, uint64_t start, uint64_t end, std::string_view name,
                           uint64_t callstack) {
  count_++;
  put(track, start, kBegin, name, {}, callstack);
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
        annotation.add_uint64(Annotation::uint_value, note.number);
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
  if (above.kind != kNoParent.kind)
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
      if (above.kind != kNoParent.kind)
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
  switch (track.kind) {
  case TrackKind::process_region:
    return {TrackKind::process, track.index};
  case TrackKind::thread_region:
  case TrackKind::mutex:
  case TrackKind::unknown:
  case TrackKind::blocked:
    return {TrackKind::thread, track.index};
  case TrackKind::mark:
    return {TrackKind::thread, track.index / kMarkTypes};
  case TrackKind::interrupt:
    return {TrackKind::interrupts};
  case TrackKind::blackout:
    return {TrackKind::blackouts};
  case TrackKind::idle_state:
    return {TrackKind::idle_states};
  case TrackKind::frequency:
    return {TrackKind::frequencies};
  case TrackKind::stolen_time:
    return {TrackKind::stolen_times};
  default:
    return kNoParent;
  }
}

std::string EventTracks::name(Track track) const {
  switch (track.kind) {
  case TrackKind::trace:
    return "ovnitrace";
  case TrackKind::process_region:
  case TrackKind::thread_region:
    return "region";
  case TrackKind::mutex:
    return "mutex";
  case TrackKind::unknown:
    return "unknown";
  case TrackKind::blocked:
    return "blocked";
  case TrackKind::mark:
    for (const MarkType &mark : catalog_.marks)
      if (mark.type == track.index % kMarkTypes && !mark.title.empty())
        return printable_line(mark.title);
    return fmt::format("mark {}", track.index % kMarkTypes);
  case TrackKind::interrupts:
    return "Interrupts";
  case TrackKind::blackouts:
    return "Blackouts";
  case TrackKind::idle_states:
    return "Idle states";
  case TrackKind::frequencies:
    return "Frequencies";
  case TrackKind::stolen_times:
    return "Stolen time";
  case TrackKind::interrupt:
  case TrackKind::blackout:
  case TrackKind::idle_state:
  case TrackKind::frequency:
  case TrackKind::stolen_time:
    return fmt::format("CPU {}", catalog_.cpus[track.index].index);
  case TrackKind::user_events:
    return "User events of unknown threads";
  case TrackKind::critical_path:
    return "Critical path";
  case TrackKind::outside_wakers:
    return "Wakers that are not traced";
  default:
    return {};
  }
}

} // namespace ovnitrace::perfetto
