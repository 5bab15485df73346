// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/core/channel_bank.h"

namespace ovnitrace {

namespace {

void set_bit(std::vector<uint64_t> &mask, uint32_t bit) {
  if (mask.size() <= bit / 64)
    mask.resize(bit / 64 + 1);
  mask[bit / 64] |= uint64_t(1) << bit % 64;
}

} // namespace

ChannelBank::ChannelBank(const std::vector<Thread> &threads, const std::vector<Cpu> &cpus)
    : threads_(threads), cpus_(cpus), thread_dirty_(uint32_t(threads.size())),
      cpu_dirty_(uint32_t(cpus.size())) {}

ChannelId ChannelBank::declare(ChannelDef def) {
  Column column{{},          {}, {}, def.scope, def.thread_track, def.cpu_track, def.thread_type,
                def.cpu_type};
  column.def = std::move(def);
  columns_.push_back(std::move(column));
  thread_dirty_.grow(size());
  cpu_dirty_.grow(size());
  line_.resize(size());
  return size() - 1;
}

const Channel &ChannelBank::at(ChannelId id, uint32_t row) const {
  static const Channel untouched;
  return used(id) ? columns_[id].rows[row] : untouched;
}

void ChannelBank::first_use(ChannelId id) {
  Column &column = columns_[id];
  size_t rows = column.scope == Scope::thread ? threads_.size() : cpus_.size();
  column.rows.reserve(rows);
  for (size_t row = 0; row < rows; row++)
    column.rows.emplace_back(column.def.bad);
  if (column.scope == Scope::cpu)
    return;
  for (uint32_t t = 0; t < rows; t++)
    column.rows[t].enable(is_tracked(column.thread_track, threads_[t].state));
  if (column.def.bad)
    for (uint32_t t = 0; t < rows; t++)
      thread_dirty_.mark(t, id);
  set_bit(track_[column.thread_track], id);
  if (column.def.scheduling)
    scheduling_.push_back(id);
  if (column.cpu_track == Track::none)
    return;
  column.copies.assign(cpus_.size(), 0);
  set_bit(copy_[column.cpu_track], id);
  for (uint32_t c = 0; c < cpus_.size(); c++)
    cpu_dirty_.mark(c, id);
}

ChannelFault ChannelBank::push(ChannelId id, uint32_t row, int64_t value) {
  ChannelFault fault = touch(id, row).push(value);
  columns_[id].stacked = true;
  mark(id, row);
  return fault;
}

ChannelFault ChannelBank::pop(ChannelId id, uint32_t row, int64_t expected) {
  Channel &channel = touch(id, row);
  const size_t depth = channel.depth();
  ChannelFault fault = channel.pop(expected);
  mark(id, row);
  if (lost_ && channel.depth() == depth)
    return {}; // it was nowhere
  return fault;
}

void ChannelBank::forget_stacks() {
  miss_pushes();
  for (ChannelId id = 0; id < size(); id++)
    for (uint32_t row = 0; columns_[id].stacked && row < columns_[id].rows.size(); row++)
      if (columns_[id].rows[row].depth()) {
        columns_[id].rows[row].forget_stack();
        mark(id, row);
      }
}

void ChannelBank::enable(ChannelId id, uint32_t row, bool on) {
  touch(id, row).enable(on);
  mark(id, row);
}

void ChannelBank::punctual(ChannelId id, uint32_t row, int64_t value) {
  bool enabled = touch(id, row).enabled();
  const Column &column = columns_[id];
  if (column.scope == Scope::cpu) {
    if (enabled)
      punctual_.push_back({id, row, value, true});
    return;
  }
  // The state that the thread has now counts, not the one of the last emission.
  const Thread &thread = threads_[row];
  if (column.thread_track == Track::none ? !enabled
                                         : !is_tracked(column.thread_track, thread.state))
    return;
  punctual_.push_back({id, row, value, false});
  if (column.cpu_track != Track::none && thread.cpu != kNone &&
      cpus_[thread.cpu].shown[column.cpu_track].is_only(row))
    punctual_.push_back({id, thread.cpu, value, true});
}

void ChannelBank::forget(uint32_t thread) {
  for (ChannelId id : scheduling_)
    set(id, thread, 0);
}

/// 0 without a thread to follow, ST_BAD if the channel of the one is disabled, ST_TOO_MANY_TH if
/// there are several (docs/models.md, "Channels").
int64_t ChannelBank::copied(const Column &column, uint32_t cpu) const {
  const ThreadSet &set = cpus_[cpu].shown[column.cpu_track];
  if (set.count() == 0)
    return 0;
  if (set.count() > 1)
    return kStateTooManyThreads;
  const Channel &channel = column.rows[set.only()];
  return channel.enabled() ? channel.value() : kStateBad;
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
    Column &column = columns_[p.id];
    bool is_copy = p.on_cpu && column.scope == Scope::thread;
    uint32_t type = p.on_cpu ? column.cpu_type : column.thread_type;
    if (type)
      (p.on_cpu ? cpus : threads).punctual(before, p.row, {p.value, type});
    if (is_copy)
      column.copies[p.row] = p.value;
    else
      column.rows[p.row].showed(p.value);
    (p.on_cpu ? cpu_dirty_ : thread_dirty_).mark(p.row, p.id);
  }
  punctual_.clear();
}

void ChannelBank::emit_threads(uint64_t time, RowSink &sink) {
  for (uint32_t row : thread_dirty_.rows()) {
    const Thread &thread = threads_[row];
    size_t changed = 0;
    thread_dirty_.take(row, [&](ChannelId id) {
      Column &column = columns_[id];
      Channel &channel = column.rows[row];
      if (column.thread_track != Track::none)
        channel.enable(is_tracked(column.thread_track, thread.state));
      int64_t value;
      if (channel.emit(value) && column.thread_type)
        line_[changed++] = {value, column.thread_type};
      if (column.cpu_track != Track::none && thread.cpu != kNone &&
          cpus_[thread.cpu].shown[column.cpu_track].is_only(row))
        cpu_dirty_.mark(thread.cpu, id);
    });
    if (changed)
      sink.line(time, row, thread.cpu, {line_.data(), changed});
  }
  thread_dirty_.clear();
}

void ChannelBank::emit_cpus(uint64_t time, RowSink &sink) {
  for (uint32_t row : cpu_dirty_.rows()) {
    size_t changed = 0;
    cpu_dirty_.take(row, [&](ChannelId id) {
      Column &column = columns_[id];
      int64_t value;
      if (column.scope == Scope::cpu) {
        if (!column.rows[row].emit(value))
          return;
      } else {
        value = copied(column, row);
        if (value == column.copies[row])
          return;
        column.copies[row] = value;
      }
      if (column.cpu_type)
        line_[changed++] = {value, column.cpu_type};
    });
    if (changed)
      sink.line(time, row, kNone, {line_.data(), changed});
  }
  cpu_dirty_.clear();
}

void ChannelBank::for_each_left(
    const std::function<void(ChannelId, uint32_t, const std::vector<int64_t> &)> &f) const {
  for (ChannelId id = 0; id < size(); id++)
    for (uint32_t row = 0; row < columns_[id].rows.size(); row++)
      if (columns_[id].rows[row].depth())
        f(id, row, columns_[id].rows[row].stack());
}

} // namespace ovnitrace
