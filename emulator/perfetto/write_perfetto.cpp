// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/perfetto/write_perfetto.h"

#include "emulator/base/error.h"
#include "emulator/base/printable.h"
#include "emulator/core/model.h"
#include "emulator/critical/path_text.h"
#include "emulator/input/call_name.h"
#include "emulator/perfetto/callstacks.h"
#include "emulator/perfetto/family_tracks.h"
#include "emulator/perfetto/power_tracks.h"
#include "emulator/perfetto/process_tree.h"
#include "emulator/slices/slicer.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

namespace ovnitrace::perfetto {

namespace {

constexpr uint32_t kMostCpus = 1024; ///< Perfetto refuses a trace with a higher number

enum ClockId : uint32_t { kRealtime = 1, kMonotonic = 3, kBoottime = 6 };

/// Sets the clocks. Events of ftrace are on BOOTTIME and have no field to say otherwise. Ours are
/// on MONOTONIC. The difference is the time for which the machine slept, which no trace says, so
/// both get the same number.
void write_clocks(PacketFile &file, uint64_t time, int64_t to_wall_ns) {
  const auto add = [](protozero::pbf_builder<ClockSnapshot> &snapshot, uint32_t id, uint64_t ns) {
    protozero::pbf_builder<Clock> clock(snapshot, ClockSnapshot::clocks);
    clock.add_uint32(Clock::id, id);
    clock.add_uint64(Clock::timestamp, ns);
  };
  file.packet([&](PacketBuilder &packet) {
    packet.add_uint32(Packet::sequence_flags, kStartsIncrementalState);
    protozero::pbf_builder<ClockSnapshot> snapshot(packet, Packet::clock_snapshot);
    add(snapshot, kBoottime, time);
    add(snapshot, kMonotonic, time);
    if (to_wall_ns)
      add(snapshot, kRealtime, time + uint64_t(to_wall_ns));
    snapshot.add_enum(ClockSnapshot::primary_trace_clock, kBoottime);
  });
}

/// Says that thread states are numbered as in Linux since 4.14: Perfetto checks it.
std::string release_of(const TraceInfo &info) {
  unsigned major = 0, minor = 0;
  const bool known = std::sscanf(info.kernel.c_str(), "%u.%u", &major, &minor) == 2;
  return known && std::pair(major, minor) >= std::pair(4u, 14u) ? printable_line(info.kernel)
                                                                : std::string("4.14");
}

void write_system(PacketFile &file, const TraceInfo &info) {
  file.packet([&](PacketBuilder &packet) {
    protozero::pbf_builder<SystemInfo> system(packet, Packet::system_info);
    {
      protozero::pbf_builder<Utsname> utsname(system, SystemInfo::utsname);
      utsname.add_string(Utsname::sysname, "Linux");
      utsname.add_string(Utsname::release, release_of(info));
      if (!info.machine.empty())
        utsname.add_string(Utsname::machine, printable_line(info.machine));
    }
    if (info.cpus)
      system.add_uint32(SystemInfo::cpus, info.cpus);
  });
}

/// Writes a slice of the whole length: Perfetto's timeline is as long as its contents.
void write_range(EventTracks &tracks, TimeRange range, const TraceInfo &info) {
  std::string command;
  for (const std::string &word : info.command)
    command += (command.empty() ? "" : " ") + printable_line(word);
  const std::string host = printable_line(info.host), tracer = printable_line(info.tracer);
  tracks.slice({TrackKind::trace}, range.from, range.to, command.empty() ? "trace" : command,
               {{"host", 0, host.empty() ? "not known" : host},
                {"ovnitrace", 0, tracer.empty() ? "not known" : tracer}});
}

/// Writes the marks of `ovnitrace ctl` in the range.
void write_marks(EventTracks &tracks, const Catalog &catalog, TimeRange range) {
  for (const HostInfo &host : catalog.hosts)
    for (const CaptureMark &mark : host.marks)
      if (mark.time_ns >= range.from && mark.time_ns <= range.to)
        tracks.instant({TrackKind::trace}, mark.time_ns, mark.text);
}

/// Writes a slice for each segment: "worker (12): waiting for a CPU".
void write_path(EventTracks &tracks, const Catalog &catalog, CriticalPath &path) {
  path.for_each([&](const PathSegment &segment) {
    const std::string name =
        printable_line(thread_name(catalog, segment.thread)) + ": " + cause_text(segment, catalog);
    const std::string_view call = call_text(segment, catalog);
    const Track track = {TrackKind::critical_path};
    if (const std::string holder = holder_text(segment, catalog); !holder.empty())
      tracks.slice(track, segment.from, segment.to, name, {{"holder", 0, holder}});
    else if (!call.empty())
      tracks.slice(track, segment.from, segment.to, name, {{"call", 0, call}});
    else
      tracks.slice(track, segment.from, segment.to, name);
  });
}

/// Passes the stream on to the tracks.
class Distributor final : public SliceSink {
public:
  Distributor(const Catalog &catalog, TimeRange range, ProcessTree &tree, SchedTracks &sched,
              EventTracks &tracks, FamilyTracks &families, PowerTracks &power,
              const StackTable *stacks, PacketFile &file)
      : catalog_(catalog), range_(range), tree_(tree), sched_(sched), tracks_(tracks),
        families_(families), power_(power), stacks_(stacks), shown_(catalog.threads.size()) {
    if (stacks)
      callstacks_.emplace(*stacks, file);
  }

  void on_event(const Event &event, const System &system) override {
    tree_.event(event);
    sched_.event(event, system);
    if (event.time < range_.from)
      return;
    families_.event(event, system);
    power_.event(event, system);
  }
  void on_slice(const Slice &slice) override {
    tree_.introduce(slice.thread);
    if (slice.state == ThreadState::Running)
      sched_.run(slice);
    else if (is_blocked(slice.state))
      blocked(slice);
    else if (slice.state == ThreadState::Unknown && shown_[slice.thread] && slice.length())
      tracks_.slice({TrackKind::unknown, slice.thread}, slice.start, slice.end, "state not known");
    shown_[slice.thread] |= slice.state != ThreadState::Unknown;
    if (slice.then == ThreadState::Unknown || slice.then == ThreadState::Dead)
      families_.end_sections(slice.thread, slice.end);
  }
  void on_cpu(const CpuSpan &span) override {
    if (span.what != CpuSpan::What::dark)
      return;
    sched_.lose(span.cpu);
    tracks_.slice({TrackKind::blackout, span.cpu}, span.start, span.end,
                  span.counted ? "events are missing"
                               : "events are missing, nobody knows how many");
  }

private:
  void blocked(const Slice &slice) {
    const std::string where = blocked_in(slice);
    if (slice.ends && !where.empty())
      sched_.blocked(slice, where);
    if (!stacks_ || !slice.length())
      return;
    const std::string_view call = call_name(catalog_, slice.thread, slice.call);
    if (const uint64_t callstack = callstacks_->write(slice.stack))
      tracks_.slice({TrackKind::blocked, slice.thread}, slice.start, slice.end,
                    call.empty() ? "blocked" : call, {}, callstack);
  }
  /// Returns "read: t_read < main", the innermost function first; "read" without a stack.
  std::string blocked_in(const Slice &slice) const {
    constexpr size_t kMost = 1024; // bytes
    std::string text(call_name(catalog_, slice.thread, slice.call));
    if (!stacks_)
      return text;
    const char *before = text.empty() ? "" : ": ";
    for (const uint32_t frame : stacks_->frames(slice.stack))
      if (!stacks_->frame(frame).kernel && text.size() < kMost)
        text += std::exchange(before, " < ") + stacks_->name(frame);
    return text;
  }

  const Catalog &catalog_;
  TimeRange range_;
  ProcessTree &tree_;
  SchedTracks &sched_;
  EventTracks &tracks_;
  FamilyTracks &families_;
  PowerTracks &power_;
  const StackTable *stacks_; ///< null: there are none
  std::optional<Callstacks> callstacks_;
  std::vector<uint8_t> shown_; ///< by thread: was in a known state
};

void check_fits(const Catalog &catalog) {
  if (catalog.hosts.size() > 1)
    throw UsageError("the trace has {} hosts, but a Perfetto file has the threads and CPUs of one: "
                     "export each host by itself",
                     catalog.hosts.size());
  for (const CpuInfo &cpu : catalog.cpus)
    if (cpu.index >= kMostCpus)
      throw Error("the trace has a CPU {}: Perfetto opens none with a number above {}", cpu.index,
                  kMostCpus - 1);
}

} // namespace

WriteResult write_perfetto(EventSource &source, const TraceInfo &info, const Cut &cut,
                           const OutputPlace &place, CriticalPath *path, const Stacks *stacks) {
  const Catalog &catalog = source.catalog();
  check_fits(catalog);
  check_cut(cut, catalog);
  const TimeRange range = range_of(cut, catalog);
  const std::vector<uint8_t> kept = kept_threads(cut, catalog);

  PacketFile file(place);
  write_clocks(file, range.from, info.to_wall_ns);
  write_system(file, info);
  TaskNames names(catalog);
  EventTracks tracks(catalog, file);
  SchedTracks sched(catalog, range, kept, names, tracks, file);
  ProcessTree tree(catalog, range, kept, names, sched, file);
  FamilyTracks families(catalog, kept, tracks);
  PowerTracks power(catalog, tracks);
  tree.start();
  write_range(tracks, range, info);
  write_marks(tracks, catalog, range);
  // The trace is of one host.
  const StackTable *table = stacks && !catalog.hosts.empty() && !stacks->of_host(0).empty()
                                ? &stacks->of_host(0)
                                : nullptr;
  Distributor distributor(catalog, range, tree, sched, tracks, families, power, table, file);
  replay_slices(source, cut, distributor);
  if (path)
    write_path(tracks, catalog, *path);
  sched.finish();
  file.close();
  return {sched.counts(), tracks.count() - 1, // without the slice of write_range()
          uint64_t(std::count(kept.begin(), kept.end(), uint8_t(1))), file.bytes()};
}

} // namespace ovnitrace::perfetto
