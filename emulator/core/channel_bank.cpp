// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/core/channel_bank.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace ovnitrace {

ChannelBank::ChannelBank(const std::vector<Thread> &threads, const std::vector<Cpu> &cpus)
    : threads_(threads), cpus_(cpus), tables_{Table(threads.size()), Table(cpus.size())} {}

ChannelId ChannelBank::declare(ChannelDef def) {
  columns_.push_back({.thread_type = def.thread_type,
                      .cpu_type = def.cpu_type,
                      .bad = def.bad,
                      .scope = def.scope,
                      .thread_track = def.thread_track,
                      .cpu_track = def.cpu_track});
  defs_.push_back(std::move(def));
  stacks_.emplace_back();
  line_.resize(size());
  for (Table &table : tables_)
    table.dirty.grow(size());
  for (const Track mode : {Track::none, Track::running, Track::active}) {
    track_[mode].resize(threads().words());
    copy_[mode].resize(threads().words());
  }
  return size() - 1;
}

/// A new channel in each row.
uint32_t ChannelBank::Table::add_place() {
  constexpr uint32_t kLine = 64 / sizeof(Channel); // rows are of whole cache lines
  if (places == room) {
    std::vector<Channel> wider(count * (room + kLine));
    for (size_t row = 0; row < count; row++)
      std::copy_n(channels.data() + row * room, room, wider.data() + row * (room + kLine));
    channels.swap(wider);
    room += kLine;
  }
  return places++;
}

void ChannelBank::first_use(ChannelId id) {
  Column &column = columns_[id];
  column.place = tables_[size_t(column.scope)].add_place();
  if (column.scope == Scope::cpu)
    return;
  const uint32_t word = id / 64;
  const uint64_t bit = uint64_t(1) << id % 64;
  if (column.bad)
    for (uint32_t t = 0; t < threads_.size(); t++)
      threads().mark(t, id);
  track_[column.thread_track][word] |= bit;
  if (def(id).scheduling)
    scheduling_.push_back(id);
  if (column.cpu_track == Track::none)
    return;
  column.copy = tables_[size_t(Scope::cpu)].add_place();
  copy_[column.cpu_track][word] |= bit;
  for (uint32_t c = 0; c < cpus_.size(); c++)
    cpus().mark(c, id);
}

std::vector<int64_t> ChannelBank::stack(ChannelId id, uint32_t row) const {
  const bool any = columns_[id].stacked && stacks_[id][row];
  return any ? stacks_[id][row]->pushed() : std::vector<int64_t>();
}

ChannelFault ChannelBank::push(ChannelId id, uint32_t row, int64_t value) {
  Channel &channel = touch(id, row);
  if (!columns_[id].stacked) {
    columns_[id].stacked = true;
    stacks_[id].resize(tables_[size_t(columns_[id].scope)].count);
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

/// set() of a channel to which something was pushed, once: the top, or what is below.
void ChannelBank::set_top(ChannelId id, uint32_t row, int64_t value) {
  if (stacks_[id][row])
    stacks_[id][row]->set(value);
}

void ChannelBank::forget_stacks() {
  miss_pushes();
  for (ChannelId id = 0; id < size(); id++)
    for (uint32_t row = 0; row < stacks_[id].size(); row++)
      if (ChannelStack *stack = stacks_[id][row].get(); stack && stack->depth()) {
        stack->forget();
        touch(id, row).value = stack->top();
        mark(id, row);
      }
}

void ChannelBank::enable(ChannelId id, uint32_t row, bool on) {
  use(id);
  columns_[id].switched = true;
  const uint64_t key = uint64_t(id) << 32 | row;
  if (on)
    off_.erase(key);
  else
    off_.insert(key);
  mark(id, row);
}

/// Where it is tracked, the state that the thread has now counts.
inline bool ChannelBank::enabled(ChannelId id, const Column &column, uint32_t row) const {
  if (column.scope == Scope::thread && column.thread_track != Track::none)
    return kTracksOf[size_t(threads_[row].state)] >> uint32_t(column.thread_track) & 1;
  return !column.switched || !off_.contains(uint64_t(id) << 32 | row);
}

void ChannelBank::punctual(ChannelId id, uint32_t row, int64_t value) {
  use(id);
  const Column &column = columns_[id];
  if (!enabled(id, column, row))
    return;
  punctual_.push_back({id, row, value, column.scope == Scope::cpu});
  if (column.scope == Scope::cpu || column.cpu_track == Track::none)
    return;
  const uint32_t cpu = threads_[row].cpu;
  if (cpu != kNone && cpus_[cpu].shown[column.cpu_track].is_only(row))
    punctual_.push_back({id, cpu, value, true});
}

void ChannelBank::forget(uint32_t thread) {
  for (ChannelId id : scheduling_)
    set(id, thread, 0);
}

/// 0 without a thread to follow, ST_BAD if the channel of the one is disabled, ST_TOO_MANY_TH if
/// there are several (docs/models.md, "Channels").
inline int64_t ChannelBank::copied(ChannelId id, const Column &column, uint32_t cpu) const {
  const ThreadSet &set = cpus_[cpu].shown[column.cpu_track];
  if (set.count() == 0)
    return 0;
  if (set.count() > 1)
    return kStateTooManyThreads;
  const uint32_t thread = set.only();
  return enabled(id, column, thread)
             ? tables_[size_t(Scope::thread)].at(thread, column.place)->value
             : kStateBad;
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
    const Column &column = columns_[p.id];
    const bool is_copy = p.on_cpu && column.scope == Scope::thread;
    if (const uint32_t type = p.on_cpu ? column.cpu_type : column.thread_type)
      (p.on_cpu ? cpus : threads).punctual(before, p.row, {p.value, type});
    Table &table = tables_[size_t(p.on_cpu ? Scope::cpu : Scope::thread)];
    table.at(p.row, is_copy ? column.copy : column.place)->shown = p.value;
    table.dirty.mark(p.row, p.id);
  }
  punctual_.clear();
}

/// "A channel emits only if it changed": if what is to be seen differs from what was shown.
void ChannelBank::emit_threads(uint64_t time, RowSink &sink) {
  Table &table = tables_[size_t(Scope::thread)];
  const uint32_t words = table.dirty.words();
  for (const uint32_t row : table.dirty.rows()) {
    const Thread &thread = threads_[row];
    Channel *channels = table.at(row, 0);
    uint64_t *dirty = table.dirty.row(row);
    size_t changed = 0;
    for (uint32_t w = 0; w < words; w++) {
      uint64_t left = std::exchange(dirty[w], 0);
      if (left && thread.cpu != kNone)
        for (const Track mode : {Track::running, Track::active})
          if (cpus_[thread.cpu].shown[mode].is_only(row) && (left & copy_[mode][w]))
            cpus().mark(thread.cpu, w, left & copy_[mode][w]);
      for (; left; left &= left - 1) {
        const ChannelId id = w * 64 + uint32_t(std::countr_zero(left));
        const Column &column = columns_[id];
        Channel &channel = channels[column.place];
        const int64_t value = enabled(id, column, row) ? channel.value : column.bad;
        if (value == channel.shown)
          continue;
        channel.shown = value;
        if (column.thread_type)
          line_[changed++] = {value, column.thread_type};
      }
    }
    if (changed)
      sink.line(time, row, thread.cpu, {line_.data(), changed});
  }
  table.dirty.clear();
}

void ChannelBank::emit_cpus(uint64_t time, RowSink &sink) {
  Table &table = tables_[size_t(Scope::cpu)];
  const uint32_t words = table.dirty.words();
  for (const uint32_t row : table.dirty.rows()) {
    Channel *channels = table.at(row, 0);
    uint64_t *dirty = table.dirty.row(row);
    size_t changed = 0;
    for (uint32_t w = 0; w < words; w++)
      for (uint64_t left = std::exchange(dirty[w], 0); left; left &= left - 1) {
        const ChannelId id = w * 64 + uint32_t(std::countr_zero(left));
        const Column &column = columns_[id];
        const bool is_copy = column.scope == Scope::thread;
        Channel &channel = channels[is_copy ? column.copy : column.place];
        const int64_t value = is_copy                    ? copied(id, column, row)
                              : enabled(id, column, row) ? channel.value
                                                         : column.bad;
        if (value == channel.shown)
          continue;
        channel.shown = value;
        if (column.cpu_type)
          line_[changed++] = {value, column.cpu_type};
      }
    if (changed)
      sink.line(time, row, kNone, {line_.data(), changed});
  }
  table.dirty.clear();
}

void ChannelBank::for_each_left(
    const std::function<void(ChannelId, uint32_t, const std::vector<int64_t> &)> &f) const {
  for (ChannelId id = 0; id < size(); id++)
    for (uint32_t row = 0; row < stacks_[id].size(); row++)
      if (stacks_[id][row] && stacks_[id][row]->depth())
        f(id, row, stack(id, row));
}

} // namespace ovnitrace
