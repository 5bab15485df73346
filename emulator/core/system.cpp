// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/core/system.h"

namespace ovnitrace {

namespace {

uint64_t key(uint32_t host, uint32_t number) {
  return uint64_t(host) << 32 | number;
}

std::vector<Cpu> make_cpus(const Catalog &catalog, bool virtual_cpus) {
  std::vector<Cpu> cpus;
  for (const CpuInfo &info : catalog.cpus) {
    cpus.emplace_back();
    cpus.back().host = info.host;
    cpus.back().index = info.index;
  }
  for (uint32_t host = 0; virtual_cpus && host < catalog.hosts.size(); host++) {
    cpus.emplace_back();
    cpus.back().host = host;
    cpus.back().index = kNone;
  }
  return cpus;
}

} // namespace

System::System(const Catalog &catalog, const SystemOptions &options)
    : catalog_(catalog), cpus_(make_cpus(catalog, options.virtual_cpus)), known_(0),
      virtual_cpus_(options.virtual_cpus), dark_(catalog.hosts.size()), channels_(threads_, cpus_) {
  for (uint32_t c = 0; c < catalog.cpus.size(); c++)
    cpu_by_number_.emplace(key(cpus_[c].host, cpus_[c].index), c);
  threads_.reserve(catalog.threads.size());
  while (threads_.size() < catalog.threads.size())
    add_thread();
  for (size_t t = 0; t < options.left_out.size(); t++)
    threads_[t].shown = !options.left_out[t];
}

void System::add_thread() {
  const auto index = uint32_t(threads_.size());
  const ThreadInfo &info = catalog_.threads[index];
  threads_.emplace_back();
  threads_.back().host = info.host;
  known_.grow();
  channels_.add_thread();
  thread_by_tid_.emplace(key(info.host, info.tid), index);
}

void System::free_tid(uint32_t thread) {
  auto [at, end] =
      thread_by_tid_.equal_range(key(threads_[thread].host, catalog_.threads[thread].tid));
  while (at != end && at->second != thread)
    ++at;
  if (at != end)
    thread_by_tid_.erase(at);
}

uint32_t System::find_cpu(uint32_t host, uint32_t index) const {
  auto at = cpu_by_number_.find(key(host, index));
  return at == cpu_by_number_.end() ? kNone : at->second;
}

uint32_t System::virtual_cpu(uint32_t host) const {
  return virtual_cpus_ && host < catalog_.hosts.size() ? uint32_t(catalog_.cpus.size()) + host
                                                       : kNone;
}

uint32_t System::find_thread(uint32_t host, uint32_t tid, uint64_t time) const {
  auto [at, end] = thread_by_tid_.equal_range(key(host, tid));
  uint32_t found = kNone;
  for (; at != end; ++at) {
    uint32_t t = at->second;
    if (catalog_.threads[t].birth > time)
      continue; // it will have the tid later
    bool dead = threads_[t].state == ThreadState::Dead;
    bool found_dead = found != kNone && threads_[found].state == ThreadState::Dead;
    if (found == kNone || (found_dead && !dead) ||
        (found_dead == dead && catalog_.threads[t].birth > catalog_.threads[found].birth))
      found = t;
  }
  return found;
}

/// Adds a thread to sets of its CPU, or removes it from them.
template <bool joins>
void System::list(uint32_t cpu_index, const Thread &thread, uint32_t index, uint32_t tracks) {
  if (cpu_index == kNone)
    return;
  const auto put = [index](auto &set) { joins ? set.add(index) : set.remove(index); };
  Cpu &cpu = cpus_[cpu_index];
  if (tracks & track_bit(Track::running))
    put(cpu.running);
  if (thread.shown)
    for_each_track(tracks, [&](Track mode) {
      put(cpu.shown[mode]);
      channels_.set_changed(mode, cpu_index);
    });
}

void System::change(uint32_t index, ThreadState state, uint32_t cpu) {
  Thread &thread = threads_[index];
  bool moved = thread.cpu != cpu;
  ThreadState from = thread.state;
  uint32_t old_cpu = thread.cpu;

  const uint32_t was = kTracksOf[size_t(from)], is = kTracksOf[size_t(state)];
  list<false>(old_cpu, thread, index, moved ? was : was & ~is);
  thread.state = state;
  thread.cpu = cpu;
  known_.put(index, (state != ThreadState::Unknown && state != ThreadState::Dead) || cpu != kNone);
  list<true>(cpu, thread, index, moved ? is : is & ~was);
  for_each_track(was ^ is, [&](Track mode) { channels_.thread_changed(mode, index); });
  if (from != state) {
    transition_ = {index, from, state};
    if (state == ThreadState::Unknown)
      channels_.forget(index);
  }
  if (observer_ && (from != state || moved))
    observer_->on_change(index, {from, state, old_cpu, cpu});
}

void System::set_blackout(uint32_t cpu, Blackout blackout) {
  Dark &dark = dark_[cpus_[cpu].host];
  dark.changed = now_;
  const auto count = [&](uint32_t one) {
    if (cpus_[cpu].blackout != Blackout::none)
      (cpus_[cpu].blackout == Blackout::lost ? dark.lost : dark.forgotten) += one;
  };
  count(uint32_t(-1));
  cpus_[cpu].blackout = blackout;
  count(1);
}

bool System::may_have_left(uint32_t thread, ThreadState state, uint32_t cpu) const {
  const uint32_t host = threads_[thread].host;
  if (!any_blackout(host) || state == ThreadState::Dead)
    return false;
  if (state == ThreadState::Running && (cpu == kNone || cpus_[cpu].blackout == Blackout::none))
    return false;
  return dark_[host].lost || !threads_[thread].whole;
}

} // namespace ovnitrace
