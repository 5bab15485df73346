// SPDX-License-Identifier: BSD-2-Clause
// Says what trace.json has about a capture (docs/format.md), and reads it.
#pragma once

#include "emulator/input/source.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ovnitrace {

/// A larger trace.json is refused: it holds no events, and there are at most 4 million tids.
inline constexpr uint64_t kMaxDescriptionBytes = 2ull << 30;

/// Most bytes of the text of a mark.
inline constexpr size_t kLongestMark = 100;
/// Most marks of a trace: a record has the number of its mark in 16 bits.
inline constexpr size_t kMostTraceMarks = UINT16_MAX;

/// How many stacks a capture took.
struct StackCounts {
  uint64_t all = 0; ///< taken in total
  uint64_t distinct = 0;
  uint64_t with_program = 0; ///< of all: with frames of a program
  uint64_t cut = 0;          ///< of those: end before the first function of their thread
  uint64_t gapped = 0;       ///< of the others: frames may be missing between two others
  uint64_t lost = 0;         ///< found no room

  /// Returns all of it in one line, with what to do about it.
  std::string text() const;
};

/// The counts by their names in JSON.
inline constexpr std::pair<const char *, uint64_t StackCounts::*> kStackCounts[] = {
    {"all", &StackCounts::all},
    {"distinct", &StackCounts::distinct},
    {"with_program", &StackCounts::with_program},
    {"cut", &StackCounts::cut},
    {"gapped", &StackCounts::gapped},
    {"lost", &StackCounts::lost}};

/// What trace.json says about a capture. Unknown texts are empty, unknown numbers 0.
struct TraceInfo {
  std::string host;
  std::string kernel;
  std::string machine;                 ///< architecture
  std::string boot_id;                 ///< one for each machine and boot
  std::vector<std::string> command;    ///< the program and its arguments
  std::string tracer;                  ///< version of ovnitrace
  std::string ended;                   ///< how the capture ended, in words
  uint32_t program_pid = 0;            ///< of `command`; 0: none, or not known
  std::vector<uint32_t> attached_pids; ///< processes that ran before the capture
  std::vector<std::string> filters;    ///< options that chose threads; empty: none did
  bool with_children = true;           ///< their children were traced, too
  std::string families;                ///< of events that were asked for
  std::string buffer;                  ///< kind of the buffer, and its bytes if it has any
  std::string stacks;                  ///< those asked for, "kernel,user"; empty: none
  StackCounts stack_counts;            ///< of the stacks
  std::string user;                    ///< as which the program was to run
  uint32_t cpus = 0;                   ///< CPUs of the host: one more than the highest number
  std::vector<uint16_t> topology;      ///< numbers of the CPUs that existed; empty: not known
  int64_t to_wall_ns = 0;              ///< CLOCK_REALTIME minus its clock
  uint64_t began_ns = 0;               ///< when the capture began, by its clock; 0: not known
  bool start_lost = false;             ///< the files may lack the start of the capture
  uint64_t end_ns = 0;                 ///< when the capture ended, by its clock; 0: not known
  /// By CPU: records in its file; empty if the capture was killed.
  std::map<uint16_t, uint64_t> written;

  /// What was captured on a CPU and could not be written.
  struct Unwritten {
    uint64_t records = 0, events = 0;
  };
  std::map<uint16_t, Unwritten> unwritten; ///< by CPU
  bool write_failed = false;              ///< a CPU without a file may have had something to record
  std::vector<PeerName> peers;            ///< by tid, then by time
  std::vector<CommandLine> command_lines; ///< by process, then by time
  std::vector<std::string> chains;        ///< of --control: the name of each
  bool region_by_thread = false;          ///< --region thread
  std::vector<std::string> idle_states;   ///< by number: the kernel's names
  std::vector<DeviceName> devices;        ///< that woke threads
  std::vector<std::string> cgroups;       ///< paths by number less 1; empty: not known
  std::vector<CaptureMark> marks;         ///< of `ovnitrace ctl mark`, by number
  bool sees_refills = false;              ///< as HostInfo has it
  bool all_threads = false;               ///< every transition of every thread was captured
  bool cpu_holders = false;               ///< as in HostInfo
};

/// Returns whether events of a family were asked for. False too if the trace does not say so.
bool has_family(const TraceInfo &info, std::string_view family);

/// Returns the kind of the buffer as --buffer has it, for example last:64M; trace.json has the
/// names of S.Ha.R.K. and bytes. Empty if it is not known.
std::string buffer_option(const TraceInfo &info);

/// Reads trace.json. If it is missing or wrong, that is only reported to `sink`, as the chunks
/// suffice. Throws Error if it is of a newer version.
TraceInfo read_trace_info(const std::string &path, DiagnosticSink &sink);

} // namespace ovnitrace
