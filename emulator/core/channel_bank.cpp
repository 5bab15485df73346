// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/core/channel_bank.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace ovnitrace {

ChannelBank::ChannelBank(const std::vector<Thread> &threads, const std::vector<Cpu> &cpus)
    : threads_(threads), cpus_(cpus), tables_{Table(threads.size()), Table(cpus.size())} {
  describe_used();
}

ChannelId ChannelBank::declare(ChannelDef def) {
  columns_.push_back({.table = &table(def.scope)});
  defs_.push_back(std::move(def));
  stacks_.emplace_back();
  line_.resize(size() + 1); // what did not change is written behind the others
  return size() - 1;
}

/// Adds a channel to each row.
uint32_t ChannelBank::Table::add_place() {
  if (places == room) {
    std::vector<Channel> wider(count * (room + kLine));
    for (size_t row = 0; row < count; row++)
      std::copy_n(channels.data() + row * room, room, wider.data() + row * (room + kLine));
    channels.swap(wider);
    room += kLine;
  }
  return places++;
}

void ChannelBank::Table::add_row() {
  count++;
  channels.resize(count * room);
  dirty.add_row();
}

void ChannelBank::add_thread() {
  Table &table = tables_[size_t(Scope::thread)];
  const auto row = uint32_t(table.count);
  table.add_row();
  for (uint32_t rank = 0; rank < used_.size(); rank++) {
    const ChannelId id = used_[rank];
    if (columns_[id].table != &table)
      continue;
    if (columns_[id].stacked)
      stacks_[id].resize(table.count);
    if (defs_[id].bad)
      table.dirty.mark(row, rank);
  }
}

void ChannelBank::first_use(ChannelId id) {
  Column &column = columns_[id];
  const ChannelDef &def = defs_[id];
  column.place = column.table->add_place();
  column.plain = true;
  if (def.scope == Scope::thread && def.cpu_track != Track::none)
    column.copy = table(Scope::cpu).add_place();
  const auto at = std::upper_bound(used_.begin(), used_.end(), id);
  const uint32_t rank = uint32_t(at - used_.begin());
  used_.insert(at, id);
  for (Table &table : tables_)
    table.dirty.insert(rank, uint32_t(used_.size()));
  describe_used();
  if (def.scope == Scope::cpu)
    return;
  if (def.bad)
    for (uint32_t t = 0; t < threads_.size(); t++)
      threads().mark(t, rank);
  if (def.scheduling)
    scheduling_.push_back(id);
  if (def.cpu_track != Track::none)
    for (uint32_t c = 0; c < cpus_.size(); c++)
      cpus().mark(c, rank);
}

/// Updates what is kept by rank, after a channel was used for the first time.
void ChannelBank::describe_used() {
  const ChannelBits none(threads().words());
  const auto set_bit = [](ChannelBits &bits, uint32_t rank) {
    bits[rank / 64] |= uint64_t(1) << rank % 64;
  };
  for (Table &table : tables_)
    table.shown.assign(used_.size(), {});
  for (const Track mode : {Track::none, Track::running, Track::active})
    track_[mode] = copy_[mode] = none;
  disabled_.fill(none);
  for (uint32_t rank = 0; rank < used_.size(); rank++) {
    const ChannelDef &def = defs_[used_[rank]];
    Column &column = columns_[used_[rank]];
    column.rank = rank;
    if (def.scope == Scope::cpu) {
      table(Scope::cpu).shown[rank] = {column.place, def.cpu_type, def.bad};
      continue;
    }
    table(Scope::thread).shown[rank] = {column.place, def.thread_type, def.bad};
    set_bit(track_[def.thread_track], rank);
    for (uint32_t state = 0; state < kThreadStates; state++)
      if (!is_tracked(def.thread_track, ThreadState(state)))
        set_bit(disabled_[state], rank);
    if (def.cpu_track == Track::none)
      continue;
    table(Scope::cpu).shown[rank] = {column.copy, def.cpu_type, def.bad, column.place,
                                     def.cpu_track};
    set_bit(copy_[def.cpu_track], rank);
  }
}

std::vector<int64_t> ChannelBank::stack(ChannelId id, uint32_t row) const {
  const bool any = columns_[id].stacked && stacks_[id][row];
  return any ? stacks_[id][row]->pushed() : std::vector<int64_t>();
}

ChannelFault ChannelBank::push(ChannelId id, uint32_t row, int64_t value) {
  Channel &channel = touch(id, row);
  if (!columns_[id].stacked) {
    columns_[id].stacked = true;
    columns_[id].plain = false;
    stacks_[id].resize(columns_[id].table->count);
  }
  std::unique_ptr<ChannelStack> &stack = stacks_[id][row];
  if (!stack)
    stack = std::make_unique<ChannelStack>(channel.value);
  const ChannelFault fault = stack->push(value);
  channel.value = stack->top();
  mark(id, row);
  return fault;
}

ChannelFault ChannelBank::pop(ChannelId id, uint32_t row, int64_t expected) {
  Channel &channel = touch(id, row);
  mark(id, row);
  ChannelStack none(0);
  ChannelStack &stack = columns_[id].stacked && stacks_[id][row] ? *stacks_[id][row] : none;
  const size_t depth = stack.depth();
  const ChannelFault fault = stack.pop(expected);
  if (stack.depth() != depth)
    channel.value = stack.top();
  else if (lost_)
    return {}; // it was nowhere
  return fault;
}

/// Sets a channel that is not used yet, or that has a stack: its top, or the state below the first
/// push.
void ChannelBank::set_other(ChannelId id, uint32_t row, int64_t value) {
  if (!used(id) && value == 0)
    return; // as every channel is 0 at first, this is no use of it
  Channel &channel = touch(id, row);
  if (channel.value == value)
    return;
  channel.value = value;
  if (columns_[id].stacked && stacks_[id][row])
    stacks_[id][row]->set(value);
  mark(id, row);
}

void ChannelBank::forget_stack(ChannelId id, uint32_t row) {
  ChannelStack *stack = columns_[id].stacked ? stacks_[id][row].get() : nullptr;
  if (!stack || !stack->depth())
    return;
  stack->forget();
  touch(id, row).value = stack->top();
  mark(id, row);
}

void ChannelBank::forget_stacks(uint32_t host) {
  miss_pushes();
  const auto is_of_host = [&](ChannelId id, uint32_t row) {
    return host == kNone ||
           host == (defs_[id].scope == Scope::thread ? threads_[row].host : cpus_[row].host);
  };
  for (ChannelId id = 0; id < size(); id++)
    for (uint32_t row = 0; row < stacks_[id].size(); row++)
      if (is_of_host(id, row))
        forget_stack(id, row);
}

bool ChannelBank::enabled(ChannelId id, uint32_t row) const {
  const uint32_t rank = columns_[id].rank;
  return defs_[id].scope == Scope::cpu || !(disabled(row, rank / 64) >> rank % 64 & 1);
}

void ChannelBank::punctual(ChannelId id, uint32_t row, int64_t value) {
  use(id);
  if (!enabled(id, row) || punctual_.size() >= kMostOfAnInstant)
    return;
  const ChannelDef &def = defs_[id];
  punctual_.push_back({id, row, value, def.scope == Scope::cpu});
  if (def.scope == Scope::cpu || def.cpu_track == Track::none)
    return;
  const uint32_t cpu = threads_[row].cpu;
  if (cpu != kNone && cpus_[cpu].shown[def.cpu_track].is_only(row))
    punctual_.push_back({id, cpu, value, true});
}

void ChannelBank::forget(uint32_t thread) {
  for (ChannelId id : scheduling_)
    set(id, thread, 0);
}

void ChannelBank::emit(uint64_t time, RowSink &threads, RowSink &cpus) {
  if (!punctual_.empty())
    emit_punctual(time, threads, cpus);
  emit_threads(time, threads);
  emit_cpus(time, cpus);
}

void ChannelBank::emit_punctual(uint64_t time, RowSink &threads, RowSink &cpus) {
  uint64_t before = time ? time - 1 : 0; // nothing is before the start of the trace
  for (const Punctual &p : punctual_) {
    Table &of = table(p.on_cpu ? Scope::cpu : Scope::thread);
    const uint32_t rank = columns_[p.id].rank;
    const Shown &shown = of.shown[rank];
    if (shown.type)
      (p.on_cpu ? cpus : threads).punctual(before, p.row, {p.value, shown.type});
    of.at(p.row, shown.place)->shown = p.value;
    of.dirty.mark(p.row, rank);
  }
  punctual_.clear();
}

/// Emits only changes: "A channel emits only if it changed". A value counts as changed if it
/// differs from the shown one.
void ChannelBank::emit_threads(uint64_t time, RowSink &sink) {
  Table &threads = table(Scope::thread);
  const uint32_t words = threads.dirty.words();
  TypedValue *const line = line_.data();
  for (const uint32_t row : threads.dirty.rows()) {
    const Thread &thread = threads_[row];
    Channel *channels = threads.at(row, 0);
    uint64_t *dirty = threads.dirty.row(row);
    TypedValue *end = line;
    for (uint32_t w = 0; w < words; w++) {
      uint64_t left = std::exchange(dirty[w], 0);
      if (thread.cpu != kNone)
        for (const Track mode : {Track::running, Track::active})
          if (const uint64_t copies = left & copy_[mode][w];
              copies && cpus_[thread.cpu].shown[mode].is_only(row))
            cpus().mark(thread.cpu, w, copies);
      const uint64_t off = disabled(row, w);
      const Shown *const all_shown = &threads.shown[size_t(w) * 64];
      for (; left; left &= left - 1) {
        const uint32_t bit = uint32_t(std::countr_zero(left));
        const Shown &shown = all_shown[bit];
        Channel &channel = channels[shown.place];
        const int64_t value = off >> bit & 1 ? shown.bad : channel.value;
        *end = {value, shown.type}; // no branch: which ones have changed can hardly be predicted
        end += (value != channel.shown) & (shown.type != 0);
        channel.shown = value;
      }
    }
    if (end != line)
      sink.line(time, row, thread.cpu, {line, end});
  }
  threads.dirty.clear();
}

/// Emits the copies on CPUs. A copy is disabled if there is no thread to follow. It is ST_BAD if
/// the channel of its thread is disabled, and ST_TOO_MANY_TH if there are several threads
/// (docs/models.md, "Channels").
void ChannelBank::emit_cpus(uint64_t time, RowSink &sink) {
  const Table &threads = table(Scope::thread);
  Table &cpus = table(Scope::cpu);
  const uint32_t words = cpus.dirty.words();
  TypedValue *const line = line_.data();
  for (const uint32_t row : cpus.dirty.rows()) {
    const ByTrack<ThreadSet> &sets = cpus_[row].shown;
    Channel *channels = cpus.at(row, 0);
    uint64_t *dirty = cpus.dirty.row(row);
    TypedValue *end = line;
    for (uint32_t w = 0; w < words; w++) {
      uint64_t left = std::exchange(dirty[w], 0);
      const Shown *const all_shown = &cpus.shown[size_t(w) * 64];
      for (; left; left &= left - 1) {
        const uint32_t bit = uint32_t(std::countr_zero(left));
        const Shown &shown = all_shown[bit];
        Channel &channel = channels[shown.place];
        int64_t value = channel.value;
        if (shown.track != Track::none) {
          const ThreadSet &set = sets[shown.track];
          if (set.count() != 1)
            value = set.count() ? kStateTooManyThreads : shown.bad;
          else if (disabled(set.only(), w) >> bit & 1)
            value = kStateBad;
          else
            value = threads.at(set.only(), shown.source)->value;
        }
        *end = {value, shown.type}; // no branch: which ones have changed can hardly be predicted
        end += (value != channel.shown) & (shown.type != 0);
        channel.shown = value;
      }
    }
    if (end != line)
      sink.line(time, row, kNone, {line, end});
  }
  cpus.dirty.clear();
}

void ChannelBank::for_each_left(
    const std::function<void(ChannelId, uint32_t, const std::vector<int64_t> &)> &f) const {
  for (ChannelId id = 0; id < size(); id++)
    for (uint32_t row = 0; row < stacks_[id].size(); row++)
      if (stacks_[id][row] && stacks_[id][row]->depth())
        f(id, row, stack(id, row));
}

} // namespace ovnitrace
