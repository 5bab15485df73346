// SPDX-License-Identifier: BSD-2-Clause
// Packs the switches and wakeups of one CPU as columns of small numbers, until they fill a packet.
#pragma once

#include "emulator/perfetto/packet_file.h"

#include <array>
#include <string>
#include <string_view>

namespace ovnitrace::perfetto {

/// A thread as the scheduler's events name it.
struct Task {
  uint32_t tid = 0;
  int32_t priority = 0;
  uint32_t key = 0; ///< unique for this name
  std::string_view name;
};

class SchedBundle {
public:
  explicit SchedBundle(uint32_t cpu) : cpu_(cpu) { clear(); }

  /// Adds a switch: `next` gets the CPU. `prev_state` is the state of the former thread, as the
  /// kernel writes it since Linux 4.14. Times of switches increase.
  void add_switch(uint64_t time, uint32_t prev_state, const Task &next);
  /// Adds a wakeup of `task` by the thread that runs on this CPU or, as `flags` say, by an
  /// interrupt there. Times of wakeups increase.
  void add_waking(uint64_t time, const Task &task, uint32_t target_cpu, uint32_t flags);
  /// Adds any event, made by ftrace_event().
  void add_event(std::string_view fields);
  /// Notes that events are missing before the next ones.
  void set_lost() { lost_ = true; }

  bool full() const { return entries_ >= kMostEntries; }
  /// Appends everything to a packet, and starts again.
  void write(PacketFile &file);

private:
  static constexpr uint32_t kMostEntries = 2048; ///< limits the memory of a CPU

  /// A column, and the time of its last entry.
  struct Times {
    std::string bytes;
    uint64_t last;
    void add(uint64_t time);
  };
  struct Seen {
    uint32_t key, index;
  };

  std::string compact() const;
  void clear();
  uint32_t name_index(const Task &task);

  uint32_t cpu_;
  uint32_t entries_;
  bool lost_ = false;
  Times switch_time_, waking_time_;
  std::string prev_state_, next_pid_, next_prio_, next_comm_;
  std::string waking_pid_, waking_cpu_, waking_prio_, waking_comm_, waking_flags_;
  std::string names_, events_; ///< encoded fields
  uint32_t names_count_;
  /// Where the name of a key is, by the key's low bits. A name that was replaced is written again.
  /// That costs some bytes, while memory does not grow with threads.
  std::array<Seen, 64> seen_;
};

/// Returns an event of the kernel's trace for a bundle. `tid`: the thread that ran where it was
/// logged. `fill` gets a builder for its fields. These two fields come first: Perfetto reads that
/// fastest.
template <class Fields, class Fill>
std::string ftrace_event(uint64_t time, uint32_t tid, FtraceEvent kind, Fill fill) {
  std::string event;
  protozero::pbf_builder<FtraceEvent> builder(event);
  builder.add_uint64(FtraceEvent::timestamp, time);
  builder.add_uint32(FtraceEvent::pid, tid);
  protozero::pbf_builder<Fields> fields(builder, kind);
  fill(fields);
  return event;
}

} // namespace ovnitrace::perfetto
