// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/summary/frequency_times.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>

namespace ovnitrace {

void FrequencyTimes::event(const Event &event, const System &system) {
  if (event.cpu >= now_.size())
    return;
  if (event.kind == FTrace_EVT_blackout_start || event.kind == FTrace_EVT_blackout_end)
    return lose(event, system);
  if (event.kind != FTrace_EXT_frequency)
    return;
  const uint32_t cpu = system.find_cpu(system.cpus()[event.cpu].host, event.par1);
  if (cpu >= now_.size())
    return; // one CPU sets another's, which may have no file
  set(cpu, event.par2, event.time);
  CpuFrequency &sum = summary_.cpus[cpu].frequency;
  sum.changes++;
  sum.least = sum.least ? std::min(sum.least, event.par2) : event.par2;
  sum.most = std::max(sum.most, event.par2);
}

/// Notes that events were lost: any CPU may have set the frequency of another one of its host.
void FrequencyTimes::lose(const Event &event, const System &system) {
  for (uint32_t cpu = 0; cpu < now_.size(); cpu++)
    if (system.cpus()[cpu].host == system.cpus()[event.cpu].host)
      set(cpu, 0, event.time);
}

void FrequencyTimes::set(uint32_t cpu, uint32_t khz, uint64_t time) {
  Now &now = now_[cpu];
  if (now.khz && time > now.since) {
    summary_.cpus[cpu].frequency.known += time - now.since;
    summary_.cpus[cpu].frequency.khz_ns += double(now.khz) * double(time - now.since);
  }
  now = {khz, time};
}

void FrequencyTimes::finish() {
  for (uint32_t cpu = 0; cpu < now_.size(); cpu++)
    set(cpu, 0, summary_.to);
}

} // namespace ovnitrace
