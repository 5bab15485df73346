// SPDX-License-Identifier: BSD-2-Clause
// Reads chunk files for the first time, and finds which threads, CPUs and times they hold.
#pragma once

#include "emulator/format/frame_reader.h"
#include "emulator/format/thread_identity.h"
#include "emulator/input/cgroup_history.h"
#include "emulator/input/cut_plan.h"
#include "emulator/input/host_input.h"
#include "emulator/input/name_history.h"
#include "emulator/input/thread_table.h"
#include "emulator/input/tick_clock.h"

#include <optional>
#include <set>
#include <vector>

namespace ovnitrace {

/// One chunk file and its host.
struct HostFile {
  const HostInput *host;
  uint32_t host_index;
  ChunkInput *chunk;
};

/// A thread, as all chunks of its host describe it.
struct KnownThread {
  ThreadIdentity identity;
  NameHistory names;
  CgroupHistory cgroups;
  uint64_t executed = 0; ///< ns: when it last executed a program; 0: never
  uint64_t ended = 0;    ///< ns: when it ended; 0: not known
};

/// The threads of a host, by tid and birth.
class KnownThreads {
public:
  /// In the order in which they were first seen.
  const std::vector<KnownThread> &all() const { return all_; }
  /// Returns the thread, which may be new. Valid until the next call.
  KnownThread &of(uint32_t tid, uint64_t birth) {
    const uint32_t number = table_.find_or_add(tid, birth, uint32_t(all_.size()));
    if (number == all_.size())
      all_.push_back({.identity = {.tid = tid, .birth = birth}, .names = {}, .cgroups = {}});
    return all_[number];
  }

private:
  ThreadTable table_; ///< numbers: places in all_
  std::vector<KnownThread> all_;
};

/// A tid that a thread had until it executed a program: then it took that of its main thread.
struct GivenAwayTid {
  uint32_t host, tid, pid;
  uint64_t time; ///< ns
};

/// What some files hold. Times are ns, on the clock of the trace.
struct ScanResult {
  std::vector<KnownThreads> threads;            ///< by host
  std::vector<HostTimes> times;                 ///< by host
  std::set<std::pair<uint32_t, uint32_t>> cpus; ///< host, number
  std::vector<GivenAwayTid> given_away;

  /// Adds what `later` files hold.
  void join(ScanResult &&later);
};

/// Scans some files, one after another. It reads the codes of all records, and the contents of
/// those that describe threads, CPUs and clocks.
class FileScan {
public:
  FileScan(const CutPlanner &planner, size_t hosts) : planner_(planner) {
    found_.threads.resize(hosts);
    found_.times.resize(hosts);
  }

  /// Scans the next file. Sets its CPU, and counts its records. Throws Error if it is of a newer
  /// version.
  void file(const HostFile &file);
  /// Appends the results of `later`, whose files follow.
  void join(FileScan &&later);
  const ScanResult &found() const { return found_; }
  CutPlanner &planner() { return planner_; }

private:
  /// A thread as a chunk describes it. A second name in the chunk renames the thread.
  struct Introduced {
    ThreadIdentity identity = {};
    bool renamed = false;
    uint64_t executed = 0; ///< ns: when it last executed a program
    uint64_t ended = 0;    ///< ns: when it ended
  };

  void control(const ftrace_record &record, uint8_t code, uint64_t offset, ChunkInput &chunk);
  void plan(const ftrace_record &record, uint8_t code);
  bool is_bound(uint16_t context) const {
    return context < identities_.size() && identities_[context];
  }
  void plan_cpu(const ftrace_record &record, uint8_t code, uint64_t time);
  void plan_chunk(uint64_t offset);
  ThreadKey key_of(uint16_t context) const {
    const ThreadIdentity &identity = identities_[context]->identity;
    return {host_, identity.tid, identity.birth};
  }
  void note_name(const Introduced &thread);
  void event(const ftrace_record &record);
  void note_life(const ftrace_record &record, uint8_t code);
  void begin_identity(const ftrace_record &id);
  void end_identity(uint16_t context);
  void end_identities();
  void note_last();

  CutPlanner planner_;
  ScanResult found_;

  // About the current file:
  uint32_t host_ = 0;
  TickClock clock_;
  bool any_format_ = false;
  bool any_chunk_ = false;
  bool any_event_ = false;
  std::optional<uint64_t> next_number_; ///< of the chunk that should follow
  const std::vector<FrameReader::Start> *frames_ =
      nullptr;                                        ///< in this block; null: it is a plain file
  std::optional<uint64_t> last_tsc_;                  ///< of the last event at this clock rate
  std::vector<std::optional<Introduced>> identities_; ///< by context
  std::vector<uint16_t> used_;                        ///< contexts of this chunk
};

} // namespace ovnitrace
