// SPDX-License-Identifier: BSD-2-Clause
// All channels of all threads and CPUs, what they show at any time, and their emission.
#pragma once

#include "emulator/core/channel.h"
#include "emulator/core/channel_def.h"
#include "emulator/core/dirty_rows.h"
#include "emulator/core/row_sink.h"
#include "emulator/core/thread.h"

#include <functional>
#include <vector>

namespace ovnitrace {

using ChannelId = uint32_t;

/// The channels, one column each: a column has a value for each thread (or CPU) from its first use
/// on, so that what is declared but never used costs nothing. Tracking is done here:
/// a model sets channels and never sees a thread switch (docs/models.md, "Channels").
///
/// An instant is a step: however many events happen at one time, a channel is emitted once, with
/// what it is in the end, so no state has a length of zero. Before the states of an instant come
/// its punctual events, 1 ns earlier.
class ChannelBank {
public:
  /// `threads` and `cpus` must outlive the bank and keep their sizes.
  ChannelBank(const std::vector<Thread> &threads, const std::vector<Cpu> &cpus);

  ChannelId declare(ChannelDef def);
  const ChannelDef &def(ChannelId id) const { return columns_[id].def; }
  uint32_t size() const { return uint32_t(columns_.size()); }
  bool used(ChannelId id) const { return !columns_[id].rows.empty(); }
  /// The channel of a thread, or of a CPU where its scope is that.
  const Channel &at(ChannelId id, uint32_t row) const;

  /// Shows a channel from now on, also while nothing has set it.
  void use(ChannelId id) {
    if (!used(id))
      first_use(id);
  }
  void set(ChannelId id, uint32_t row, int64_t value) {
    if (value == 0 && !used(id))
      return; // as every channel is 0 at first, this is no use of it
    Channel &channel = touch(id, row);
    if (channel.value() == value)
      return;
    channel.set(value);
    mark(id, row);
  }
  ChannelFault push(ChannelId id, uint32_t row, int64_t value);
  ChannelFault pop(ChannelId id, uint32_t row, int64_t expected);
  /// chan_ev(): "it will first output the new state at the current time minus 1 ns, then restore
  /// the previous channel state and emit it at the current time". Not seen where the channel is
  /// disabled.
  void punctual(ChannelId id, uint32_t row, int64_t value);
  /// For channels of no tracking: "the channels can be enabled or disabled as to only provide
  /// information when it is necessary".
  void enable(ChannelId id, uint32_t row, bool on);

  /// A thread is tracked from now on, or no longer.
  void thread_changed(Track mode, uint32_t thread) { thread_dirty_.mark_all(thread, track_[mode]); }
  /// The set of tracked threads of a CPU has changed.
  void set_changed(Track mode, uint32_t cpu) { cpu_dirty_.mark_all(cpu, copy_[mode]); }
  /// Nothing is known of the thread any more: channels about its scheduling become 0.
  void forget(uint32_t thread);

  /// Pushes may have been missed: from now on to pop what is not there is no fault.
  void miss_pushes() { lost_ = true; }
  /// Events were lost: pushes may have been, and what is on the stacks is not known any more.
  void forget_stacks();

  /// Whether there is anything to emit.
  bool dirty() const { return !thread_dirty_.empty() || !cpu_dirty_.empty() || !punctual_.empty(); }
  /// The emit phase: what has changed goes to the traces, at `time`.
  void emit(uint64_t time, RowSink &threads, RowSink &cpus);
  /// Instead of an emit phase: states stay dirty, punctual events are gone.
  void skip() { punctual_.clear(); }

  /// Calls back for each stack that is not empty.
  void for_each_left(
      const std::function<void(ChannelId, uint32_t row, const std::vector<int64_t> &)> &f) const;

private:
  struct Column {
    ChannelDef def;
    std::vector<Channel> rows;   ///< by thread or CPU; empty until used
    std::vector<int64_t> copies; ///< thread scope with a copy: what each CPU has shown last
    Scope scope;
    Track thread_track, cpu_track;
    uint32_t thread_type, cpu_type;
    bool stacked = false; ///< something was pushed, once
  };
  struct Punctual {
    ChannelId id;
    uint32_t row;
    int64_t value;
    bool on_cpu;
  };

  Channel &touch(ChannelId id, uint32_t row) {
    Column &column = columns_[id];
    if (column.rows.empty())
      first_use(id);
    return column.rows[row];
  }
  void mark(ChannelId id, uint32_t row) {
    (columns_[id].scope == Scope::thread ? thread_dirty_ : cpu_dirty_).mark(row, id);
  }
  void first_use(ChannelId id);
  int64_t copied(const Column &column, uint32_t cpu) const;
  void emit_punctual(uint64_t time, RowSink &threads, RowSink &cpus);
  void emit_threads(uint64_t time, RowSink &sink);
  void emit_cpus(uint64_t time, RowSink &sink);

  const std::vector<Thread> &threads_;
  const std::vector<Cpu> &cpus_;
  std::vector<Column> columns_;
  DirtyRows thread_dirty_, cpu_dirty_;
  /// The used channels that each change concerns, a bit each.
  ByTrack<std::vector<uint64_t>> track_, copy_;
  std::vector<ChannelId> scheduling_; ///< the used ones that forget() clears
  std::vector<Punctual> punctual_;
  std::vector<TypedValue> line_; ///< being emitted; it has room for all channels
  bool lost_ = false;            ///< pushes may have been lost
};

} // namespace ovnitrace
