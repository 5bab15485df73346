// SPDX-License-Identifier: BSD-2-Clause
// A trace directory (docs/format.md): its chunk files and what trace.json says.
#pragma once

#include "emulator/input/host_input.h"
#include "emulator/input/source.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ovnitrace {

/// Beyond this it is no trace.json: it holds no events, and there are no more than 4 million tids.
inline constexpr uint64_t kMaxDescriptionBytes = 2ull << 30;

/// How many stacks a capture took.
struct StackCounts {
  uint64_t all = 0; ///< as often as they were taken
  uint64_t distinct = 0;
  uint64_t with_program = 0; ///< of all, with frames of a program
  uint64_t cut = 0;          ///< of those, that end before the first function of their thread
  uint64_t lost = 0;         ///< that were taken and found no room

  /// In one line, with what to do about it.
  std::string text() const;
};

/// What trace.json says of a capture. A text is empty and a number 0 where it does not.
struct TraceInfo {
  std::string host;
  std::string kernel;
  std::string machine;                 ///< architecture
  std::vector<std::string> command;    ///< the program and its arguments
  std::string tracer;                  ///< version of ovnitrace
  std::string ended;                   ///< how the capture ended, in words
  uint32_t program_pid = 0;            ///< of `command`; 0: none, or not known
  std::vector<uint32_t> attached_pids; ///< processes that were alive already
  bool with_children = true;           ///< of these
  std::string families;                ///< of events that were asked for
  std::string buffer;                  ///< kind of buffer, and its bytes where it has any
  std::string stacks;                  ///< that were asked for, "kernel,user"; empty: none
  StackCounts stack_counts;            ///< of them
  std::string user;                    ///< that the program was to run as
  uint32_t cpus = 0;                   ///< CPUs of the host: one more than the highest number
  std::vector<uint16_t> topology;      ///< numbers of those that were there; empty: not known
  int64_t to_wall_ns = 0;              ///< what its clock lacks to CLOCK_REALTIME
  uint64_t began_ns = 0;               ///< when the capture began, by its clock; 0: not known
  bool start_lost = false;             ///< the files may lack what says that it began
  uint64_t end_ns = 0;                 ///< when the capture ended, by its clock; 0: not known
  std::map<uint16_t, uint64_t>
      written; ///< by CPU: records in its file; none where the capture did not end

  /// What was captured on a CPU and could not be written.
  struct Unwritten {
    uint64_t records = 0, events = 0;
  };
  std::map<uint16_t, Unwritten> unwritten; ///< by CPU
  bool write_failed = false;               ///< so a CPU without file need not have had nothing
  std::vector<PeerName> peers;             ///< by tid, then by time
  std::vector<CommandLine> command_lines;  ///< by process, then by time
  std::vector<std::string> chains;         ///< of --control: what each is called
  std::vector<std::string> idle_states;    ///< by number: the kernel's names
  std::vector<DeviceName> devices;         ///< that woke threads
  bool sees_refills = false;               ///< as HostInfo has it
  bool all_threads = false;                ///< every transition of every thread was captured
  bool cpu_holders = false;                ///< as in HostInfo
};

/// Whether a path looks like a trace directory: it holds a chunk file or a trace.json.
bool is_trace_dir(const std::string &path);

/// The names of the chunk files of a directory, plain (cpuNNNN.ftr) or compressed
/// (cpuNNNN.ftr.zst), by CPU. A compressed one of which the plain one is there too is left out: it
/// is what an interrupted compression left. Throws Error if the directory cannot be read.
std::vector<std::string> chunk_files(const std::string &path, bool compressed);

/// Reads trace.json. That it is missing, or wrong, is only reported to `sink`, as the chunks
/// suffice; throws Error if it is of a newer version.
TraceInfo read_trace_info(const std::string &path, DiagnosticSink &sink);

/// Opens the chunk files of a trace directory, in the order of their CPUs, those that are missing
/// among them. Throws Error where there is no such directory, no chunk file, nothing in any of
/// them, or one cannot be opened.
HostInput open_trace_dir(const std::string &path, const TraceInfo &info, int64_t clock_offset_ns);

} // namespace ovnitrace
