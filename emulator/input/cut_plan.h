// SPDX-License-Identifier: BSD-2-Clause
// What of a trace need not be read to know in which state each thread is at a time.
#pragma once

#include "emulator/format/code_kind.h"
#include "emulator/format/event.h"
#include "emulator/input/host_input.h"
#include "emulator/input/thread_key.h"

#include <ovnitrace/ftrace_record.h>

#include <cstdint>
#include <map>
#include <vector>

namespace ovnitrace {

/// Whether an event matters only to the state of its thread, until that thread leaves a CPU again:
/// switches, wakeups and migrations, with their stacks.
bool is_scheduling(uint8_t code);

/// Whether a snapshot says that its thread has a CPU. Whether that is believed depends on who else
/// was seen on that CPU.
bool is_running_snapshot(const ftrace_record &record);

/// Collects, while the files of a trace are looked through, what the states of its threads at
/// `from` come from.
///
/// The rule: to know the state of a thread at `from`, it is enough to replay its events since it
/// left a CPU for the last time before, or was first seen. So each thread has a time since which
/// its scheduling events matter; a run of chunks is left out if it has none of those, of any
/// thread, and no other event. All threads are replayed as from the start of a trace then, and
/// never with a gap.
class CutPlanner {
public:
  /// `from`: ns on the clock of the trace. 0: nothing is left out, and nothing collected.
  explicit CutPlanner(uint64_t from) : from_(from) {}

  bool wanted() const { return from_ != 0; }

  /// The calls of who looks through the files, in their order.
  void start_file();
  /// A chunk starts at byte `offset` of the plain file, and at byte `place` of the file itself.
  void start_chunk(uint64_t offset, uint64_t place);
  /// A record of the chunk, whose first event is at `first` and whose last at `time`. Gives up
  /// where it cannot be right.
  void record(const ftrace_record &record, uint8_t code, uint64_t first, uint64_t time);
  /// The same record says that a thread gets the CPU of the file, or leaves it. Gives up where
  /// another one has it still: that one left by a switch that the kernel did not show, and what is
  /// known of it then comes from the events of other threads.
  void takes_cpu(const ThreadKey &thread, uint64_t time);
  void leaves_cpu(const ThreadKey &thread);
  /// A snapshot says that the thread has a CPU.
  void runs_at_start(const ThreadKey &thread) { at_start_.push_back(thread); }
  /// Nobody knows who has it.
  void forget_cpu() { on_cpu_ = {}; }
  /// A context of the chunk was a thread, and is that no longer.
  void end_context(uint16_t context, const ThreadKey &thread);
  /// The files of `later`, which was fresh as this was, follow.
  void join(CutPlanner &&later);
  /// No file follows. Gives up if a thread that had a CPU at the start has not left it since.
  void finish_files();
  /// Something is wrong with the files, so all must be read to say what.
  void give_up() { from_ = 0; }

  /// What must be read of each file, of which the first was `files[0]`, in the order of
  /// start_file(): sets ChunkInput::parts where something can be left out.
  void set_parts(const std::vector<ChunkInput *> &files) const;
  /// Since when the events of a thread matter, ns.
  uint64_t since(const ThreadKey &thread) const;

private:
  /// Some chunks of a file that follow one another.
  struct Run {
    uint64_t offset, place; ///< where they start: in the plain file, in the file itself
    uint64_t first = UINT64_MAX, last = 0; ///< times of their events, ns
    bool needed = false;                   ///< there is an event that is not about scheduling
  };
  struct File {
    std::vector<Run> runs;
    uint64_t last = 0; ///< time of the last event, ns
  };
  /// Where a thread's events are, in one file, since the last time that it left a CPU there.
  struct Seen {
    uint32_t file;
    bool left = false; ///< the first of the runs has that
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
  std::vector<ThreadKey> at_start_; ///< had a CPU then
  std::vector<Mark> marks_;         ///< by context, in this chunk
  ThreadKey on_cpu_{};              ///< who has the CPU of the file; tid 0: nobody, or not known

  // Of the chunk:
  bool in_chunk_ = false;
  uint64_t records_ = 0;          ///< so far
  uint32_t declared_records_ = 0; ///< by its numevents, 0: not given
  uint8_t last_code_ = 0;
};

} // namespace ovnitrace
