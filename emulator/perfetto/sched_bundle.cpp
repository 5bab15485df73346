// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/perfetto/sched_bundle.h"

#include "emulator/format/event.h"

#include <protozero/varint.hpp>

#include <utility>

namespace ovnitrace::perfetto {

namespace {

void add(std::string &column, uint64_t value) {
  protozero::add_varint_to_buffer(&column, value);
}

/// Encodes as int32 and int64: a negative number takes 64 bits.
void add_signed(std::string &column, int64_t value) {
  add(column, uint64_t(value));
}

} // namespace

void SchedBundle::Times::add(uint64_t time) {
  perfetto::add(bytes, time - last);
  last = time;
}

void SchedBundle::add_switch(uint64_t time, uint32_t prev_state, const Task &next) {
  switch_time_.add(time);
  add(prev_state_, prev_state);
  add_signed(next_pid_, int32_t(next.tid));
  add_signed(next_prio_, next.priority);
  add(next_comm_, name_index(next));
  entries_++;
}

void SchedBundle::add_waking(uint64_t time, const Task &task, uint32_t target_cpu, uint32_t flags) {
  waking_time_.add(time);
  add_signed(waking_pid_, int32_t(task.tid));
  add(waking_cpu_, target_cpu);
  add_signed(waking_prio_, task.priority);
  add(waking_comm_, name_index(task));
  add(waking_flags_, flags);
  entries_++;
}

void SchedBundle::add_event(std::string_view fields) {
  protozero::pbf_builder<Bundle>(events_).add_bytes(Bundle::event, view(fields));
  entries_++;
}

uint32_t SchedBundle::name_index(const Task &task) {
  Seen &seen = seen_[task.key % seen_.size()];
  if (seen.key != task.key) {
    protozero::pbf_builder<CompactSched>(names_).add_string(CompactSched::intern_table,
                                                            view(task.name));
    seen = {task.key, names_count_++};
  }
  return seen.index;
}

std::string SchedBundle::compact() const {
  using Field = CompactSched;
  std::string message = names_;
  protozero::pbf_builder<Field> fields(message);
  fields.add_bytes(Field::switch_timestamp, switch_time_.bytes);
  fields.add_bytes(Field::switch_prev_state, prev_state_);
  fields.add_bytes(Field::switch_next_pid, next_pid_);
  fields.add_bytes(Field::switch_next_prio, next_prio_);
  fields.add_bytes(Field::switch_next_comm_index, next_comm_);
  fields.add_bytes(Field::waking_timestamp, waking_time_.bytes);
  fields.add_bytes(Field::waking_pid, waking_pid_);
  fields.add_bytes(Field::waking_target_cpu, waking_cpu_);
  fields.add_bytes(Field::waking_prio, waking_prio_);
  fields.add_bytes(Field::waking_comm_index, waking_comm_);
  fields.add_bytes(Field::waking_common_flags, waking_flags_);
  return message;
}

void SchedBundle::write(PacketFile &file) {
  if (entries_ == 0 && !lost_)
    return;
  std::string bundle = std::exchange(events_, {});
  protozero::pbf_builder<Bundle> fields(bundle);
  fields.add_uint32(Bundle::cpu, cpu_);
  if (std::exchange(lost_, false))
    fields.add_bool(Bundle::lost_events, true);
  fields.add_bytes(Bundle::compact_sched, compact());
  file.packet([&](PacketBuilder &packet) { packet.add_bytes(Packet::ftrace_events, bundle); });
  clear();
}

void SchedBundle::clear() {
  entries_ = names_count_ = 0;
  switch_time_.last = waking_time_.last = 0; // the first of a packet is absolute
  for (std::string *column : {&switch_time_.bytes, &waking_time_.bytes, &prev_state_, &next_pid_,
                              &next_prio_, &next_comm_, &waking_pid_, &waking_cpu_, &waking_prio_,
                              &waking_comm_, &waking_flags_, &names_, &events_})
    column->clear();
  seen_.fill({kNone, 0});
}

} // namespace ovnitrace::perfetto
