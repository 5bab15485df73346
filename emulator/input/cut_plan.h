// SPDX-License-Identifier: BSD-2-Clause
// Decides which parts of a trace must be read to know the state of each thread at a time.
#pragma once

#include "emulator/format/code_kind.h"
#include "emulator/format/event.h"
#include "emulator/input/host_input.h"

#include <ovnitrace/ftrace_record.h>

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

namespace ovnitrace {

/// Identifies a thread while the files of a trace are scanned.
struct ThreadKey {
  uint32_t host, tid;
  uint64_t birth; ///< ns, on the clock of the trace
  auto operator<=>(const ThreadKey &) const = default;
};

/// Returns whether an event matters only to the state of its thread, and only until that thread
/// next leaves a CPU: switches, wakeups and migrations, with their stacks.
bool is_scheduling(uint8_t code);

/// Returns whether a snapshot says that its thread has a CPU. The caller decides by the other
/// threads seen on that CPU whether to believe it.
bool is_running_snapshot(const ftrace_record &record);

/// Collects, while the files of a trace are scanned, where the states of its threads at `from` come
/// from.
///
/// To know a thread's state at `from`, it is enough to replay its events since it last left a CPU
/// before `from`, or since it was first seen. Therefore each thread has a time since which its
/// scheduling events matter. A run of chunks is skipped if it has only scheduling events that do
/// not matter. All threads are then replayed as from the start of a trace, and never with a gap.
class CutPlanner {
public:
  /// `from`: ns on the clock of the trace. 0: everything is read, and nothing is collected.
  explicit CutPlanner(uint64_t from) : from_(from) {}

  bool wanted() const { return from_ != 0; }

  /// Starts the next file. The following functions are called by the scan, in the order of the
  /// files.
  void start_file();
  /// Starts a chunk at byte `offset` of the plain file, byte `place` of the file itself.
  void start_chunk(uint64_t offset, uint64_t place);
  /// Takes a record of the chunk, with its first event at `first` and its last one at `time`. Gives
  /// up if the record makes a plan unsafe.
  void record(const ftrace_record &record, uint8_t code, uint64_t first, uint64_t time);
  /// Notes that the thread of the last record gets or leaves the CPU of the file. Gives up if
  /// another thread still has the CPU: the kernel did not show when that thread left, so its state
  /// comes from events of other threads.
  void takes_cpu(const ThreadKey &thread, uint64_t time);
  void leaves_cpu(const ThreadKey &thread);
  /// Notes a snapshot of a thread that has a CPU.
  void runs_at_start(const ThreadKey &thread) { at_start_.push_back(thread); }
  /// Forgets who has the CPU.
  void forget_cpu() { on_cpu_ = {}; }
  /// Notes that a context of the chunk no longer is this thread.
  void end_context(uint16_t context, const ThreadKey &thread);
  /// Appends the files of `later`, a plan that was made with the same `from`.
  void join(CutPlanner &&later);
  /// Ends the scan. Gives up if a thread that had a CPU at the start never left it.
  void finish_files();
  /// Reads everything: something is wrong with the files, and only reading all of it shows what.
  void give_up() { from_ = 0; }

  /// Sets ChunkInput::parts of each file of which something can be skipped. `files`: in the order
  /// of start_file().
  void set_parts(const std::vector<ChunkInput *> &files) const;
  /// Returns since when the events of a thread matter, ns.
  uint64_t since(const ThreadKey &thread) const;

private:
  /// Some successive chunks of a file.
  struct Run {
    uint64_t offset, place;                ///< its start: in the plain file, in the file itself
    uint64_t first = UINT64_MAX, last = 0; ///< times of their events, ns
    bool needed = false;                   ///< it has an event that is not about scheduling
  };
  struct File {
    std::vector<Run> runs;
    uint64_t last = 0; ///< time of the last event, ns
  };
  /// The runs of a file with events of a thread, from the last one in which it left a CPU.
  struct Seen {
    uint32_t file;
    bool left = false; ///< it left a CPU in the first of the runs
    std::vector<uint32_t> runs;
  };
  struct Mark {
    bool any = false, left = false;
  };

  void check_chunk(const ftrace_record &record, uint8_t code);
  Run &run() { return files_.back().runs.back(); }
  void mark(uint16_t context, bool left);
  uint64_t since(const std::vector<Seen> &seen) const;

  uint64_t from_;
  std::vector<File> files_;
  std::map<ThreadKey, std::vector<Seen>> threads_;
  std::vector<ThreadKey> at_start_; ///< had a CPU at the start
  std::vector<Mark> marks_;         ///< by context, in this chunk
  ThreadKey on_cpu_{}; ///< the thread that has the CPU of the file; tid 0: none, or not known

  // About the current chunk:
  bool in_chunk_ = false;
  uint64_t records_ = 0;          ///< so far
  uint32_t declared_records_ = 0; ///< by its numevents, 0: not given
  uint8_t last_code_ = 0;
};

} // namespace ovnitrace
