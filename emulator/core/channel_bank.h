// SPDX-License-Identifier: BSD-2-Clause
// Keeps all channels of all threads and CPUs, follows threads as they move, and emits changes.
#pragma once

#include "emulator/core/channel.h"
#include "emulator/core/channel_def.h"
#include "emulator/core/dirty_rows.h"
#include "emulator/core/row_sink.h"
#include "emulator/core/thread.h"

#include <array>
#include <functional>
#include <memory>
#include <vector>

namespace ovnitrace {

using ChannelId = uint32_t;

/// The most punctual events, and the most arrows, of one instant. A trace may have any number of
/// events at one time, and these are kept until the instant ends.
inline constexpr size_t kMostOfAnInstant = 1 << 20;

/// All channels: a column for each, with the channels of one thread (or CPU) side by side. A column
/// gets its place and its dirty bit when it is first used, so unused declarations cost nothing.
/// Models set channels and never see thread switches: tracking is done here (docs/models.md,
/// "Channels").
///
/// All events of one time are one instant. A channel is emitted at most once in an instant, with
/// its last value, so no state has a length of zero. Punctual events of an instant are emitted
/// before its states, 1 ns earlier.
class ChannelBank {
public:
  /// `threads` and `cpus` must outlive the bank. `cpus` keeps its size.
  ChannelBank(const std::vector<Thread> &threads, const std::vector<Cpu> &cpus);
  ChannelBank(const ChannelBank &) = delete;
  ChannelBank &operator=(const ChannelBank &) = delete;

  ChannelId declare(ChannelDef def);
  /// Adds the channels of the last thread of `threads`.
  void add_thread();
  const ChannelDef &def(ChannelId id) const { return defs_[id]; }
  uint32_t size() const { return uint32_t(columns_.size()); }
  bool used(ChannelId id) const { return columns_[id].place != kNoPlace; }
  /// Returns the value of a channel of a thread, or of a CPU by its scope, whether enabled or not.
  int64_t value(ChannelId id, uint32_t row) const {
    const Column &column = columns_[id];
    return used(id) ? column.table->at(row, column.place)->value : 0;
  }
  /// Returns its pushed states, bottom first.
  std::vector<int64_t> stack(ChannelId id, uint32_t row) const;

  /// Shows a channel from now on, even if nothing has set it.
  void use(ChannelId id) {
    if (!used(id))
      first_use(id);
  }
  void set(ChannelId id, uint32_t row, int64_t value) {
    const Column &column = columns_[id];
    if (!column.plain) [[unlikely]]
      return set_other(id, row, value);
    Channel &channel = *column.table->at(row, column.place);
    if (channel.value == value)
      return;
    channel.value = value;
    column.table->dirty.mark(row, column.rank);
  }
  ChannelFault push(ChannelId id, uint32_t row, int64_t value);
  ChannelFault pop(ChannelId id, uint32_t row, int64_t expected);
  /// Shows a value for 1 ns, as ovni's chan_ev(): the value 1 ns before this time, and the value
  /// from before it at this time. Not shown while the channel is disabled, or beyond
  /// kMostOfAnInstant.
  void punctual(ChannelId id, uint32_t row, int64_t value);

  /// Notes that a thread is tracked from now on, or no longer.
  void thread_changed(Track mode, uint32_t thread) { threads().mark_all(thread, track_[mode]); }
  /// Notes that the set of tracked threads of a CPU has changed.
  void set_changed(Track mode, uint32_t cpu) { cpus().mark_all(cpu, copy_[mode]); }
  /// Sets the channels about a thread's scheduling to 0: nothing about it is known any more.
  void forget(uint32_t thread);

  /// Accepts pops of what is not on the stack from now on: pushes may have been missed.
  void miss_pushes() { lost_ = true; }
  /// Drops what was pushed on a channel.
  void forget_stack(ChannelId id, uint32_t row);
  /// Drops the contents of all stacks of a host (kNone: of all hosts): events were lost, so they
  /// are not known any more.
  void forget_stacks(uint32_t host);

  /// Prefetches the channels of a thread. Always inline: GCC would drop a call, as it has no
  /// effect.
  [[gnu::always_inline]] void prefetch(uint32_t thread) const {
    const Table &table = tables_[size_t(Scope::thread)];
    for (uint32_t place = 0; place < table.places; place += kLine)
      __builtin_prefetch(table.at(thread, place), 1);
    table.dirty.prefetch(thread);
  }

  /// Emits all changes at `time`, ns from the start of the trace.
  void emit(uint64_t time, RowSink &threads, RowSink &cpus);
  /// Ends the instant without emitting: states stay dirty, punctual events are dropped.
  void skip() { punctual_.clear(); }

  /// Calls `f` for each stack that is not empty.
  void for_each_left(
      const std::function<void(ChannelId, uint32_t row, const std::vector<int64_t> &)> &f) const;

private:
  static constexpr uint32_t kNoPlace = UINT32_MAX;
  static constexpr uint32_t kLine = 64 / sizeof(Channel); ///< rows are whole cache lines

  /// How a used channel appears in the lines of one of the traces.
  struct Shown {
    uint32_t place = kNoPlace;  ///< of its cell in a row of this table
    uint32_t type = 0;          ///< PRV type, 0: not written
    int64_t bad = 0;            ///< value while it is disabled
    uint32_t source = kNoPlace; ///< of a copy: the place of the original in the rows of threads
    Track track = Track::none;  ///< of a copy: which threads it follows
  };
  /// The channels of all threads, or of all CPUs and of what each has shown of its thread.
  struct Table {
    explicit Table(size_t count) : count(count), dirty(count) {}
    Channel *at(uint32_t row, uint32_t place) {
      return channels.data() + size_t(row) * room + place;
    }
    const Channel *at(uint32_t row, uint32_t place) const {
      return channels.data() + size_t(row) * room + place;
    }
    uint32_t add_place();
    void add_row();

    size_t count; ///< rows
    DirtyRows dirty;
    std::vector<Channel> channels; ///< by row, then place
    uint32_t places = 0, room = 0; ///< per row: used, and allocated
    std::vector<Shown> shown;      ///< by rank
  };
  /// What setting a channel needs to know.
  struct Column {
    Table *table;              ///< of its scope
    uint32_t place = kNoPlace; ///< in the rows of that table
    uint32_t copy = kNoPlace;  ///< of its copy on CPUs, if any
    uint32_t rank = 0;
    bool plain = false;   ///< used, and nothing was ever pushed
    bool stacked = false; ///< something was pushed
  };
  struct Punctual {
    ChannelId id;
    uint32_t row;
    int64_t value;
    bool on_cpu;
  };
  using Stacks = std::vector<std::unique_ptr<ChannelStack>>; ///< by row, empty without a push

  Table &table(Scope scope) { return tables_[size_t(scope)]; }
  DirtyRows &threads() { return table(Scope::thread).dirty; }
  DirtyRows &cpus() { return table(Scope::cpu).dirty; }
  Channel &touch(ChannelId id, uint32_t row) {
    use(id);
    return *columns_[id].table->at(row, columns_[id].place);
  }
  void mark(ChannelId id, uint32_t row) { columns_[id].table->dirty.mark(row, columns_[id].rank); }
  void first_use(ChannelId id);
  void describe_used();
  void set_other(ChannelId id, uint32_t row, int64_t value);
  bool enabled(ChannelId id, uint32_t row) const;
  /// Returns the channels of word `w` that the state of a thread disables.
  uint64_t disabled(uint32_t thread, uint32_t w) const {
    return disabled_[size_t(threads_[thread].state)][w];
  }
  void emit_punctual(uint64_t time, RowSink &threads, RowSink &cpus);
  void emit_threads(uint64_t time, RowSink &sink);
  void emit_cpus(uint64_t time, RowSink &sink);

  const std::vector<Thread> &threads_;
  const std::vector<Cpu> &cpus_;
  std::vector<ChannelDef> defs_;
  std::vector<Column> columns_;
  std::array<Table, 2> tables_; ///< by Scope
  std::vector<Stacks> stacks_;  ///< by channel
  std::vector<ChannelId> used_; ///< by rank
  /// Channels of threads that a change of tracked threads affects, and their copies.
  ByTrack<ChannelBits> track_, copy_;
  std::array<ChannelBits, kThreadStates> disabled_; ///< channels of threads, by the thread's state
  std::vector<ChannelId> scheduling_;               ///< used channels that forget() clears
  std::vector<Punctual> punctual_;
  std::vector<TypedValue> line_; ///< being emitted; has room for all channels
  bool lost_ = false;            ///< pushes may have been lost
};

} // namespace ovnitrace
