// SPDX-License-Identifier: BSD-2-Clause
// Writes trace.json, which describes a capture for people and for other programs.
#pragma once

#include "emulator/input/trace_info.h"
#include "user/chunk/buffer_kind.h"
#include "user/chunk/thread_registry.h"
#include "user/chunk/trace_directory.h"
#include "user/record/command_lines.h"
#include "user/record/host.h"
#include "user/record/recorder.h"
#include "user/stacks/name_stacks.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace {

/// Everything that trace.json has. The second part is known only at the end.
struct TraceDescription {
  Host host;
  uint32_t possible_cpus = 0;
  std::vector<std::string> command; ///< empty: the whole machine, or a process that was alive
  uint32_t program_pid = 0;         ///< of `command`; 0: none, or not known
  std::vector<uint32_t> attached_pids;
  std::vector<std::string> filters; ///< options that chose threads; empty: none did
  bool with_children = true;        ///< of those
  bool all_threads = false;         ///< every transition of every thread of the machine is captured
  bool cpu_holders = false;         ///< who has a CPU for which a traced thread waits is captured
  std::vector<std::string> idle_states; ///< by number; empty: none is recorded, or no names
  std::vector<DeviceName> devices;      ///< that woke threads
  std::vector<std::string> cgroups;     ///< paths by number less 1; empty: not known
  bool sees_refills = false;            ///< it is recorded when a throttled thread may run again
  std::string user;
  FamilySet families;
  std::string stacks_option; ///< "kernel,user"; "none"
  uint64_t ring_bytes = 0, chunk_bytes = 0;
  BufferKind buffer;
  int compress_level = 0;     ///< 0: plain files
  uint64_t begin = 0;         ///< ns, CLOCK_MONOTONIC
  int64_t offset_to_wall = 0; ///< ns to add to get CLOCK_REALTIME

  std::vector<std::pair<std::string, std::string>> control; ///< chains: name and text
  bool region_by_thread = false;
  std::vector<CaptureMark> marks;  ///< of `ovnitrace ctl mark`
  CommandLines command_lines;      ///< of processes that were alive before the capture
  uint64_t command_lines_lost = 0; ///< not recorded for want of room

  bool finished = false;
  uint64_t end = 0; ///< ns
  std::string how;  ///< how it ended, in words; before, what is being done
  int exit_status = 0;
  std::vector<CpuCount> counts; ///< by CPU
  uint64_t life_lost = 0;
  uint64_t skipped_runs = 0;
  uint64_t user_refused = 0; ///< events that the program logged and may not
  uint64_t records = 0;
  std::vector<uint64_t> written;      ///< records in the file of each CPU; empty: not known yet
  std::vector<EventLoss> not_written; ///< of each CPU: what its file lacks; empty: not known yet
  EventLoss dropped;                  ///< blackouts stand in its place, as the output was too slow
  uint64_t events = 0;                ///< in the trace, as `info` and `dump` count them
  uint64_t forgotten = 0;             ///< of them, by a flight recorder
  uint64_t tracer_cpu = 0;            ///< ns of CPU time that capturing took in this process
  uint64_t records_dropped = 0;       ///< not written, because the disk failed
  std::string write_error;
  std::shared_ptr<const NamedStacks> stacks; ///< null: none were taken, or they are not written
  uint64_t stacks_lost = 0;                  ///< taken, but with no room for them
};

/// Counts all lost events, except those that the kernel's skipped runs would have logged.
uint64_t events_lost(const TraceDescription &trace);

/// Counts trace.stacks, which must not be null.
StackCounts stack_counts(const TraceDescription &trace);

/// Writes the text of trace.json, in pieces. `threads` may be null before the end.
void write_json(const TraceDescription &trace, const ThreadsSoFar *threads, const Put &put);

} // namespace ovnitrace
