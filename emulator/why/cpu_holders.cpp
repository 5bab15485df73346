// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/cpu_holders.h"

#include <algorithm>

namespace ovnitrace {

CpuHolders::CpuHolders(const Catalog &catalog, Taker &taker)
    : place_(catalog.threads.size()), cpus_(catalog.cpus.size() + 1), taker_(taker) {
  for (size_t cpu = 0; cpu < catalog.cpus.size(); cpu++)
    cpus_[cpu].nobody =
        catalog.nodes[catalog.cpus[cpu].node].all_threads ? Who::Kind::idle : Who::Kind::unseen;
}

void CpuHolders::change(uint32_t thread, const StateChange &change, uint64_t time, Who next) {
  if (is_waiting(change.from)) {
    if (change.old_cpu == kNone && change.to == ThreadState::Running)
      place(thread, change.cpu, time);
    stop_waiting(thread, time);
  }
  if (change.from == ThreadState::Running && change.old_cpu < cpus_.size() - 1 &&
      cpus_[change.old_cpu].who == Who(Who::Kind::thread, thread)) {
    // A next one that is traced is dispatched at this very time, or it was not seen.
    const bool named = next.kind() == Who::Kind::untraced;
    const Held &held = cpus_[change.old_cpu];
    const bool known = change.to != ThreadState::Unknown && !held.dark;
    give(change.old_cpu, !known ? Who() : named ? next : held.nobody, time);
  }
  if (change.to == ThreadState::Running && change.cpu < cpus_.size() - 1)
    give(change.cpu, Who(Who::Kind::thread, thread), time);
  if (is_waiting(change.to))
    wait(thread, change.cpu, time);
}

/// A thread that ran there until now is reported by change() too, where that is not known any more.
void CpuHolders::set_dark(uint32_t cpu, bool dark, uint64_t time) {
  cpus_[cpu].dark = dark;
  if (cpus_[cpu].who.kind() != Who::Kind::thread)
    give(cpu, Who(), time);
}

void CpuHolders::give(uint32_t cpu, Who who, uint64_t time) {
  if (cpu >= cpus_.size() - 1 || cpus_[cpu].who == who)
    return;
  Held &held = cpus_[cpu];
  remember(held, time);
  for (const Waiting &waiting : held.waiting)
    if (const uint64_t start = std::max(waiting.since, held.since); start < time)
      taker_.held(waiting.thread, held.who, start, time);
  held.who = who;
  held.since = time;
}

void CpuHolders::remember(Held &held, uint64_t time) {
  if (held.since == time)
    return;
  const Past past{held.who, held.since, time};
  if (held.past.size() < kMostPast) {
    held.past.push_back(past);
    return;
  }
  held.past[held.oldest] = past;
  held.oldest = (held.oldest + 1) % kMostPast;
}

/// A thread that waited on no known CPU gets this one.
void CpuHolders::place(uint32_t thread, uint32_t cpu, uint64_t time) {
  if (cpu >= cpus_.size() - 1 || place_[thread].cpu == kNone)
    return;
  const Held &held = cpus_[cpu];
  uint64_t &since = cpus_[place_[thread].cpu].waiting[place_[thread].index].since;
  const auto give_part = [&](Who who, uint64_t start, uint64_t end) {
    if (since < start)
      taker_.held(thread, Who(), since, start); // before what is remembered
    if (start = std::max(start, since); start < end) {
      taker_.held(thread, who, start, end);
      since = end;
    }
  };
  for (size_t n = 0; n < held.past.size(); n++) {
    const Past &past = held.past[(held.oldest + n) % held.past.size()];
    if (past.until > since)
      give_part(past.who, past.since, past.until);
  }
  give_part(held.who, held.since, time);
}

void CpuHolders::wait(uint32_t thread, uint32_t cpu, uint64_t time) {
  const uint32_t at = std::min(cpu, uint32_t(cpus_.size() - 1));
  place_[thread] = {at, uint32_t(cpus_[at].waiting.size())};
  cpus_[at].waiting.push_back({thread, time});
}

void CpuHolders::settle(uint32_t thread, uint64_t time) {
  const Place &place = place_[thread];
  if (place.cpu == kNone)
    return;
  const Held &held = cpus_[place.cpu];
  Waiting &waiting = cpus_[place.cpu].waiting[place.index];
  if (const uint64_t start = std::max(waiting.since, held.since); start < time)
    taker_.held(thread, held.who, start, time);
  waiting.since = time;
}

void CpuHolders::stop_waiting(uint32_t thread, uint64_t time) {
  settle(thread, time);
  Place &place = place_[thread];
  if (place.cpu == kNone)
    return;
  std::vector<Waiting> &waiting = cpus_[place.cpu].waiting;
  waiting[place.index] = waiting.back();
  place_[waiting.back().thread].index = place.index;
  waiting.pop_back();
  place = {};
}

} // namespace ovnitrace
