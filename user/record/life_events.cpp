// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/life_events.h"

#include <ovnitrace/control.h>

#include <cstring>
#include <string_view>

namespace ovnitrace {

void LifeEvents::take(life_record record) {
  if (record.time > end_)
    return;
  record.cgroup = cgroups_.number(record.cgroup);
  if (record.kind == LIFE_CGROUP) {
    move_threads(record);
    return;
  }
  if (record.kind == LIFE_REGION) {
    take_region(record);
    return;
  }
  take_thread(record);
}

void LifeEvents::take_thread(life_record record) {
  const bool renames = registry_.renames(record);
  if (registry_.learn(record))
    for (CpuStream &cpu : cpus_)
      cpu.expire(record.tid, record.time);
  if (!ThreadRegistry::is_written(record) || record.cpu >= cpus_.size())
    return;
  if (renames || record.kind != LIFE_RENAME)
    cpus_[record.cpu].add_life(record);
  if (renames && record.kind != LIFE_RENAME) {
    record.kind = LIFE_RENAME;
    record.has_cpus = 0;
    cpus_[record.cpu].add_life(record);
  }
}

/// Notes that threads were moved. A thread that is already in the cgroup was not moved: it was in
/// another hierarchy, or it was created there.
void LifeEvents::move_threads(const life_record &record) {
  const auto move = [&](const TracedThread &thread) {
    if (thread.cgroup == record.cgroup || thread.account)
      return;
    life_record one = record;
    one.tid = thread.tid;
    const std::string_view name = thread.name->raw();
    std::memset(one.comm, 0, sizeof one.comm);
    name.copy(one.comm, sizeof one.comm);
    take_thread(one);
  };
  if (!record.cgroup)
    return;
  if (const auto found = registry_.all().find(record.tid);
      !record.arg && found != registry_.all().end())
    move(found->second);
  if (record.arg)
    for (const auto &[tid, thread] : registry_.all())
      if (thread.pid == record.pid)
        move(thread);
}

/// Notes the start or the stop of a region. After a stop, it is not known who has a CPU until the
/// next region.
void LifeEvents::take_region(const life_record &record) {
  const uint32_t event = record.arg >> FTRACE_REGION_EVENT_SHIFT & 3;
  const bool again = record.arg & FTRACE_REGION_AGAIN; // it is open already
  regions_ += event == CONTROL_START && !again;
  if (record.cpu < cpus_.size())
    cpus_[record.cpu].add_life(record);
  for (CpuStream &cpu : cpus_)
    if (event == CONTROL_STOP)
      cpu.add_region_stop(record.time);
  if (on_region_ && !again && (event == CONTROL_START || event == CONTROL_STOP))
    on_region_(event == CONTROL_START);
}

} // namespace ovnitrace
