// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/slices/idle_watch.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <utility>

namespace ovnitrace {

namespace {

bool has(const std::vector<uint64_t> &cpus, uint32_t cpu) {
  return cpus[cpu / 64] >> cpu % 64 & 1;
}

/// Returns whether a blackout can hide a change of affinity, which is not a transition of one CPU.
bool hides_affinity(const Event &event) {
  return event.par1 != FTRACE_BLACKOUT_TRANSITIONS;
}

} // namespace

void IdleWatch::on_event(const Event &event, const System &system) {
  prepare(system);
  now_ = std::max(now_, event.time);
  if (event.kind == FTrace_EXT_affinity)
    return take_affinity(event, system);
  if (event.cpu >= cpus_.size())
    return;
  if (event.kind == FTrace_EVT_blackout_start || event.kind == FTrace_EVT_blackout_end)
    return take_blackout(event, system);
  take_idle(event, system);
  if (event.thread >= threads_.size())
    return;
  const Thread &thread = system.threads()[event.thread];
  if (event.kind == FTrace_EVT_task_end)
    end(event.thread);
  else if (event.kind == FTrace_EVT_task_epilogue) {
    threads_[event.thread].may_run = !ftrace_offcpu_is_throttled(event.reason());
    start_wait(event.thread, thread, event.cpu);
  } else if (event.kind == FTrace_EXT_refill && thread.state == ThreadState::Cooling) {
    if (!std::exchange(threads_[event.thread].may_run, true))
      start_wait(event.thread, thread, thread.cpu);
  } else if (event.kind == FTrace_EVT_task_activate && is_legal(thread.state, ThreadAction::warm)) {
    threads_[event.thread].may_run = !event.held_back();
    start_wait(event.thread, thread, thread.cpu);
  } else if (event.kind == FTrace_EXT_migrate)
    move_wait(event.thread, system.find_cpu(thread.host, event.par2));
}

/// Notes that a CPU is busy. Each later idle state is an event.
void IdleWatch::see(uint32_t cpu, uint32_t host) {
  if (!std::exchange(cpus_[cpu].seen, true) && --unseen_[host] == 0)
    says_idle_[host] = true;
}

void IdleWatch::take_idle(const Event &event, const System &system) {
  const uint32_t host = system.cpus()[event.cpu].host;
  const bool all = system.catalog().hosts[host].all_threads;
  switch (event.kind) {
  case FTrace_EXT_steal: // of a timer interrupt: a CPU that it wakes has an idle_end next
    return see(event.cpu, host);
  case FTrace_EVT_task_dispatch:
    see(event.cpu, host);
    return set_idle(event.cpu, false);
  case FTrace_EVT_task_epilogue:
  case FTrace_EVT_task_sleep:
    return set_idle(event.cpu, all && event.named().tid == 0);
  case FTrace_EVT_task_end: // does not name a successor, who is dispatched at this time
    return set_idle(event.cpu, all);
  case FTrace_EXT_idle_start:
  case FTrace_EXT_idle_end:
    says_idle_[host] = true;
    if (!all)
      set_idle(event.cpu, event.kind == FTrace_EXT_idle_start);
  }
}

IdleElsewhere IdleWatch::of(const Slice &slice) {
  if (slice.thread >= threads_.size() || ftrace_offcpu_is_throttled(slice.reason))
    return {};
  const Affinity &thread = threads_[slice.thread];
  const Wait &wait = thread.wait;
  if (!wait.known || wait.start != slice.start || slice.end < now_)
    return {};
  IdleElsewhere found{.known = true};
  const uint64_t allowed = idle_time(thread.mask, kNone, slice.end) - wait.any_allowed;
  const uint64_t any = idle_time(all_cpus_[thread.host], kNone, slice.end) - wait.any;
  const uint64_t in_flight = wait.in_flight + idle_here(thread, slice.end);
  found.causes = {{in_flight, allowed - in_flight, any - allowed}};
  found.ns = idle_time(thread.mask, wait.cpu, slice.end) - wait.allowed;
  found.forbidden_ns = idle_time(all_cpus_[thread.host], wait.cpu, slice.end) - wait.all - found.ns;
  for (uint32_t cpu = 0; cpu < cpus_.size() && found.ns + found.forbidden_ns; cpu++) {
    if (cpu == wait.cpu || !has(masks_[all_cpus_[thread.host]].cpus, cpu))
      continue;
    const uint64_t idle = cpus_[cpu].idle.at(slice.end) - wait.idle[cpu];
    const bool may_use = has(masks_[thread.mask].cpus, cpu);
    uint64_t &most = may_use ? found.cpu_ns : found.forbidden_cpu_ns;
    if (idle <= most)
      continue;
    most = idle;
    (may_use ? found.cpu : found.forbidden_cpu) = cpu;
  }
  return found;
}

/// Returns how long a CPU of the mask was idle up to `until`, except while only `without` was.
uint64_t IdleWatch::idle_time(uint32_t mask, uint32_t without, uint64_t until) const {
  const Mask &of = masks_[mask];
  return of.any.at(until) - (without == kNone ? 0 : of.only[without].at(until));
}

void IdleWatch::prepare(const System &system) {
  if (!cpus_.empty() || system.catalog().cpus.empty())
    return;
  cpus_.resize(system.catalog().cpus.size());
  threads_.resize(system.threads().size());
  for (uint32_t thread = 0; thread < threads_.size(); thread++)
    threads_[thread].host = system.threads()[thread].host;
  for (uint32_t host = 0; host < system.catalog().hosts.size(); host++) {
    std::vector<uint64_t> cpus(words());
    for (uint32_t cpu = 0; cpu < cpus_.size(); cpu++)
      cpus[cpu / 64] |= uint64_t(system.cpus()[cpu].host == host) << cpu % 64;
    const auto count =
        uint32_t(std::ranges::count(system.cpus(), host, [](const auto &cpu) { return cpu.host; }));
    unseen_.push_back(count + !system.catalog().hosts[host].sees_idle);
    all_cpus_.push_back(use_mask(std::move(cpus)));
    says_idle_.push_back(system.catalog().hosts[host].all_threads);
  }
  most_masks_ = masks_.size() + room_ / cpus_.size();
}

void IdleWatch::set_idle(uint32_t cpu, bool idle) {
  Cpu &at = cpus_[cpu];
  if (at.idle.on == idle)
    return;
  at.idle.set(idle, now_);
  for (const uint32_t mask : at.masks)
    count(masks_[mask], cpu, idle);
}

/// Notes that a CPU of the mask becomes idle, or is no longer.
void IdleWatch::count(Mask &mask, uint32_t cpu, bool idle) {
  if (mask.idle == 1)
    mask.only[mask.sum].set(false, now_);
  mask.idle += idle ? 1 : -1;
  mask.sum += idle ? cpu : -cpu;
  if (mask.idle == 1)
    mask.only[mask.sum].set(true, now_);
  mask.any.set(mask.idle > 0, now_);
}

void IdleWatch::start_wait(uint32_t thread, const Thread &of, uint32_t cpu) {
  Wait &wait = threads_[thread].wait;
  wait.start = now_;
  wait.known = threads_[thread].mask != kNone && says_idle_[of.host];
  if (wait.known && wait.idle.empty()) {
    wait.known = waits_ < room_ / cpus_.size();
    waits_ += wait.known;
  }
  if (!wait.known)
    return;
  wait.cpu = cpu < cpus_.size() ? cpu : kNone;
  wait.allowed = idle_time(threads_[thread].mask, wait.cpu, now_);
  wait.all = idle_time(all_cpus_[of.host], wait.cpu, now_);
  wait.idle.resize(cpus_.size());
  for (uint32_t n = 0; n < cpus_.size(); n++)
    wait.idle[n] = cpus_[n].idle.at(now_);
  wait.any_allowed = idle_time(threads_[thread].mask, kNone, now_);
  wait.any = idle_time(all_cpus_[of.host], kNone, now_);
  wait.in_flight = 0;
  wait.here = wait.cpu;
  wait.here_idle = wait.here == kNone ? 0 : wait.idle[wait.here];
}

/// Takes a move to another CPU. A thread that does not wait has no wait to move.
void IdleWatch::move_wait(uint32_t thread, uint32_t cpu) {
  Wait &wait = threads_[thread].wait;
  if (!wait.known)
    return;
  wait.in_flight += idle_here(threads_[thread], now_);
  wait.here = cpu < cpus_.size() ? cpu : kNone;
  wait.here_idle = wait.here == kNone ? 0 : cpus_[wait.here].idle.at(now_);
}

/// Returns how long the CPU was idle on which the thread waits now. A CPU that the thread may not
/// use does not count.
uint64_t IdleWatch::idle_here(const Affinity &thread, uint64_t until) const {
  const uint32_t here = thread.wait.here;
  if (here == kNone || !has(masks_[thread.mask].cpus, here))
    return 0;
  return cpus_[here].idle.at(until) - thread.wait.here_idle;
}

bool IdleWatch::add_allowed(uint32_t thread, std::vector<uint8_t> &cpus) const {
  if (thread >= threads_.size() || threads_[thread].mask == kNone)
    return false;
  cpus.resize(cpus_.size());
  for (uint32_t cpu = 0; cpu < cpus_.size(); cpu++)
    cpus[cpu] |= has(masks_[threads_[thread].mask].cpus, cpu);
  return true;
}

void IdleWatch::take_affinity(const Event &event, const System &system) {
  if (event.thread >= threads_.size())
    return;
  const uint32_t host = system.threads()[event.thread].host;
  const uint32_t index = event.par2 >> FTRACE_AFFINITY_SHIFT, old = threads_[event.thread].mask;
  std::vector<uint64_t> cpus(words());
  if (index > 0) {
    if (old == kNone)
      return; // its first word is missing
    cpus = masks_[old].cpus;
  }
  for (uint32_t bit = 0; bit < FTRACE_AFFINITY_CPUS; bit++) {
    const uint32_t cpu = system.find_cpu(host, index * FTRACE_AFFINITY_CPUS + bit);
    if (event.par2 >> bit & 1 && cpu < cpus_.size())
      cpus[cpu / 64] |= uint64_t(1) << cpu % 64;
  }
  if (old != kNone && masks_[old].cpus == cpus)
    return;
  drop_mask(event.thread);
  threads_[event.thread].mask = use_mask(std::move(cpus));
}

uint32_t IdleWatch::use_mask(std::vector<uint64_t> cpus) {
  uint32_t at = uint32_t(masks_.size());
  for (uint32_t n = 0; n < masks_.size(); n++) {
    if (masks_[n].threads == 0)
      at = n;
    else if (masks_[n].cpus == cpus) {
      masks_[n].threads++;
      return n;
    }
  }
  if (at >= most_masks_)
    return kNone;
  if (at == masks_.size())
    masks_.emplace_back();
  Mask &mask = masks_[at];
  mask = {};
  mask.cpus = std::move(cpus);
  mask.threads = 1;
  mask.only.resize(cpus_.size());
  for (uint32_t cpu = 0; cpu < cpus_.size(); cpu++) {
    if (!has(mask.cpus, cpu))
      continue;
    cpus_[cpu].masks.push_back(at);
    if (cpus_[cpu].idle.on)
      count(mask, cpu, true);
  }
  return at;
}

void IdleWatch::drop_mask(uint32_t thread) {
  const uint32_t old = std::exchange(threads_[thread].mask, kNone);
  threads_[thread].wait.known = false;
  if (old == kNone || --masks_[old].threads > 0)
    return;
  for (Cpu &cpu : cpus_)
    std::erase(cpu.masks, old);
}

/// Frees the room of a thread that ends.
void IdleWatch::end(uint32_t thread) {
  drop_mask(thread);
  waits_ -= !threads_[thread].wait.idle.empty();
  threads_[thread].wait = {};
}

void IdleWatch::take_blackout(const Event &event, const System &system) {
  if (event.par1 == FTRACE_BLACKOUT_FAMILIES)
    return;
  set_idle(event.cpu, false);
  const uint32_t host = system.cpus()[event.cpu].host;
  for (uint32_t thread = 0; thread < threads_.size() && hides_affinity(event); thread++)
    if (threads_[thread].host == host)
      drop_mask(thread);
}

} // namespace ovnitrace
