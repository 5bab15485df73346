// SPDX-License-Identifier: BSD-2-Clause
// Describes threads: their processes, names and creators.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/perfetto/packet_file.h"
#include "emulator/perfetto/sched_tracks.h"
#include "emulator/perfetto/task_names.h"

#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace::perfetto {

/// Writes each thread once: with the event of its creation or, without one, as existing.
class ProcessTree {
public:
  /// Borrows all but the range.
  ProcessTree(const Catalog &catalog, TimeRange range, const std::vector<uint8_t> &kept,
              const TaskNames &names, SchedTracks &sched, PacketFile &file);

  /// Writes the threads that exist at the start, and untraced threads with names.
  void start();
  /// Takes an event in the range.
  void event(const Event &event);
  /// Writes a thread, unless it is written. To be called before it is shown.
  void introduce(uint32_t thread) {
    if (!known_[thread])
      write_late(thread);
  }

private:
  bool is_there(uint32_t thread) const;
  uint32_t main_of(uint32_t first, uint32_t end) const;
  std::string name_of_process(uint32_t pid, uint32_t main) const;
  void write_process(uint32_t first, uint32_t end);
  void write_untraced();
  void write_late(uint32_t thread);
  void write_command_line(const Event &event);
  void create(const Event &event);

  const Catalog &catalog_;
  TimeRange range_;
  const std::vector<uint8_t> &kept_;
  const TaskNames &names_;
  const std::vector<std::string_view> lines_; ///< by thread: the command line of its process
  SchedTracks &sched_;
  PacketFile &file_;
  std::vector<uint8_t> known_; ///< by thread
};

} // namespace ovnitrace::perfetto
