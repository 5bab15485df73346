// SPDX-License-Identifier: BSD-2-Clause
// Runs one capture, from loading the programs to the finished trace directory.
#pragma once

#include "user/bpf/family_set.h"
#include "user/chunk/buffer_kind.h"
#include "user/chunk/rotation.h"
#include "user/record/live_view.h"
#include "user/select/selection.h"

#include <ovnitrace/capture.h>
#include <ovnitrace/selection.h>
#include <ovnitrace/trigger.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace {

/// A --trigger that the kernel side decides.
struct RuleOption {
  std::string text; ///< as it was given
  trigger_rule rule;
};

struct RecordOptions {
  std::vector<std::string> command; ///< the program to trace; may be empty with `all` or `pids`
  bool all = false;                 ///< the whole machine
  std::vector<uint32_t> pids;       ///< processes that are alive
  std::vector<uint32_t> named_pids; ///< those of them that a name found: they may end meanwhile
  Selection selection;              ///< filters that their threads must pass
  bool children = true;             ///< of `pids`: with their living and future descendants
  uint64_t duration = 0;            ///< ns, 0: until the end of the program or a signal
  std::string directory;            ///< empty: default_trace_name()
  bool force = false;
  std::string send;     ///< to a collector, tcp://HOST:PORT; empty: to `directory`
  std::string key_file; ///< with `send`: the secret shared with the collector; empty: none
  bool quiet = false;   ///< no summary on stderr
  std::string user;     ///< run the program as; empty: the user who called sudo
  FamilySet families = default_families();
  bool cmdlines = true; ///< the command lines of traced processes are recorded
  uint32_t stacks = 0;  ///< enum stack_choice: which are taken; 0: none
  /// Most frames of the program's part of a stack: 1 to CAPTURE_STACK_DEPTH.
  uint32_t stack_depth = CAPTURE_STACK_DEPTH;
  bool debuginfod = false; ///< debug data is fetched from servers
  std::vector<std::string>
      probe_files;         ///< files with user events, beside the program and its libraries
  uint64_t ring_bytes = 0; ///< per CPU; 0: to be chosen
  BufferKind buffer;
  Rotation rotation;        ///< of the trace into parts
  uint64_t chunk_bytes = 0; ///< 0: to be chosen
  uint64_t spare_chunks =
      0; ///< on their way to the disk, beside the one that each CPU fills; 0: to be chosen
  int compress_level = 0;           ///< of zstd; 0: plain files
  std::vector<std::string> control; ///< chains; empty: all is recorded
  bool region_by_thread = false;    ///< a region is a thread's, and not its process's
  bool early_out = false;           ///< the program is ended when all chains have finished
  bool save_on_region_stop = false; ///< with a flight recorder: the trigger is that a region stops
  /// With a flight recorder: codes of events. It is saved when one of them comes.
  std::vector<uint16_t> trigger_events;
  std::vector<RuleOption> rules; ///< with a flight recorder: it is saved when one of them hits
  uint64_t trigger_saves = 0;    ///< how often all of these may save it
  std::string on_save;           ///< a command of the shell: runs after each save; empty: none
  bool opens_browser = false;    ///< at the end: --open
  LiveView *live = nullptr;      ///< looks at a flight recorder's capture while it goes on, or null
};

inline constexpr const char *kBySignal = "stopped by a signal"; ///< a RecordResult::how

struct RecordResult {
  std::string directory; ///< or, sent to a collector, in words where
  /// The program's; kExitFailure if that was 0 but the trace could not be written whole. Without a
  /// program: kExitIncomplete if events are missing.
  int exit_status = 0;
  bool no_region = false; ///< with `control`: none started, so nothing was recorded
  uint64_t events = 0;    ///< in the trace
  std::string how;        ///< how the capture ended, in words
  std::string missing;    ///< what is missing in the trace, for the last line; empty: nothing
};

/// Returns the living threads that `options` would record now, by process. Throws Error.
std::vector<listed_thread> list_threads(const RecordOptions &options);

/// Runs a capture. Call it on the main thread, before any other thread is created. When it returns,
/// the process is the user of the trace and no longer root. Throws Error.
RecordResult record(const RecordOptions &options);

} // namespace ovnitrace
