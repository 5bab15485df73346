// SPDX-License-Identifier: BSD-2-Clause
// Lists the field numbers of Perfetto's trace format that are written, by message. The format adds
// numbers and never changes one.
#pragma once

#include <protozero/data_view.hpp>
#include <protozero/types.hpp>

#include <string_view>

namespace ovnitrace::perfetto {

inline protozero::data_view view(std::string_view text) {
  return {text.data(), text.size()};
}

/// The file consists of packets, each as this field.
inline constexpr protozero::pbf_tag_type kTracePacket = 1;

enum class Packet : protozero::pbf_tag_type {
  ftrace_events = 1,
  process_tree = 2,
  clock_snapshot = 6,
  timestamp = 8, ///< ns
  sequence = 10,
  track_event = 11,
  interned_data = 12,
  sequence_flags = 13,
  system_info = 45,
  track_descriptor = 60,
};

enum class ClockSnapshot : protozero::pbf_tag_type { clocks = 1, primary_trace_clock = 2 };
enum class Clock : protozero::pbf_tag_type { id = 1, timestamp = 2 };

enum class SystemInfo : protozero::pbf_tag_type { utsname = 1, cpus = 8 };
enum class Utsname : protozero::pbf_tag_type { sysname = 1, release = 3, machine = 4 };

enum class Tree : protozero::pbf_tag_type { processes = 1, threads = 2 };
enum class Process : protozero::pbf_tag_type { pid = 1, cmdline = 3 };
enum class TreeThread : protozero::pbf_tag_type { tid = 1, name = 2, tgid = 3 };

enum class Bundle : protozero::pbf_tag_type {
  cpu = 1,
  event = 2,
  lost_events = 3,
  compact_sched = 4,
};

/// Columns: an entry for each switch, then one for each waking. Times are differences to the entry
/// before.
enum class CompactSched : protozero::pbf_tag_type {
  switch_timestamp = 1,
  switch_prev_state = 2,
  switch_next_pid = 3,
  switch_next_prio = 4,
  intern_table = 5,
  switch_next_comm_index = 6,
  waking_timestamp = 7,
  waking_pid = 8,
  waking_target_cpu = 9,
  waking_prio = 10,
  waking_comm_index = 11,
  waking_common_flags = 12,
};

enum class FtraceEvent : protozero::pbf_tag_type {
  timestamp = 1,
  pid = 2, ///< a tid: who ran there
  sched_blocked_reason = 18,
  sched_waking = 20,
  task_newtask = 235,
  task_rename = 236,
};
enum class BlockedReason : protozero::pbf_tag_type { pid = 1, caller = 2 };
enum class SchedWaking : protozero::pbf_tag_type {
  comm = 1,
  pid = 2,
  prio = 3,
  success = 4,
  target_cpu = 5,
};
enum class TaskNewtask : protozero::pbf_tag_type { pid = 1, comm = 2, clone_flags = 3 };
enum class TaskRename : protozero::pbf_tag_type { pid = 1, newcomm = 3 };

enum class InternedData : protozero::pbf_tag_type {
  function_names = 5,
  frames = 6,
  callstacks = 7,
  source_paths = 18,
  kernel_symbols = 26,
};
enum class InternedString : protozero::pbf_tag_type { iid = 1, str = 2 };
enum class Frame : protozero::pbf_tag_type {
  iid = 1,
  function_name = 2,
  source_path = 5,
  line_number = 6,
};
enum class Callstack : protozero::pbf_tag_type { iid = 1, frames = 2 };

enum class TrackDescriptor : protozero::pbf_tag_type {
  uuid = 1,
  name = 2,
  process = 3,
  thread = 4,
  parent_uuid = 5,
  counter = 8,
};
enum class CounterDescriptor : protozero::pbf_tag_type { unit_name = 6 };
enum class ProcessDescriptor : protozero::pbf_tag_type { pid = 1 };
enum class ThreadDescriptor : protozero::pbf_tag_type { pid = 1, tid = 2 };

enum class TrackEvent : protozero::pbf_tag_type {
  debug_annotations = 4,
  type = 9,
  track_uuid = 11,
  name = 23,
  counter_value = 30,
  callstack = 56, ///< a Callstack::iid
};
enum class Annotation : protozero::pbf_tag_type { int_value = 4, string_value = 6, name = 10 };

} // namespace ovnitrace::perfetto
