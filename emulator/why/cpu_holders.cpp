// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/cpu_holders.h"

#include <algorithm>

namespace ovnitrace {

CpuHolders::CpuHolders(const Catalog &catalog, uint64_t from, const std::vector<uint8_t> &shown,
                       Taker &taker)
    : catalog_(catalog), from_(from), shown_(shown), place_(catalog.threads.size()),
      cpus_(catalog.cpus.size() + 1), dark_(catalog.hosts.size()), holders_{Culprit::Kind::others},
      hosts_(1), numbers_(catalog.hosts.size()), totals_(1), taker_(taker) {
  for (size_t cpu = 0; cpu < catalog.cpus.size(); cpu++) {
    Held &held = cpus_[cpu];
    held.host = catalog.cpus[cpu].host;
    const HostInfo &host = catalog.hosts[held.host];
    held.exact = host.all_threads || host.cpu_holders;
    held.told = host.cpu_holders && !host.all_threads;
    held.nobody = host.all_threads   ? Culprit::Kind::idle
                  : host.cpu_holders ? Culprit::Kind::not_known
                                     : Culprit::Kind::unseen;
    held.turn.holder = number_of(held.culprit, held.host);
  }
}

void CpuHolders::change(uint32_t thread, const StateChange &change, uint64_t time, Culprit next,
                        WaitKind kind) {
  if (is_waiting(change.from)) {
    if (change.old_cpu == kNone && change.to == ThreadState::Running)
      place(thread, change.cpu, time);
    stop_waiting(thread, time);
  }
  if (change.from == ThreadState::Running && change.old_cpu < cpus_.size() - 1 &&
      cpus_[change.old_cpu].culprit.is_thread(thread)) {
    // A traced next thread is dispatched at this very time, or its dispatch was not seen.
    Held &held = cpus_[change.old_cpu];
    held.running = false;
    const bool named = held.exact && (next.kind() == Culprit::Kind::untraced ||
                                      next.kind() == Culprit::Kind::idle);
    const bool known = change.to != ThreadState::Unknown && !held.dark;
    give(change.old_cpu, !known ? Culprit() : named ? next : held.nobody, time);
  }
  if (change.to == ThreadState::Running && change.cpu < cpus_.size() - 1) {
    give(change.cpu, Culprit(Culprit::Kind::thread, thread), time);
    cpus_[change.cpu].running = true;
  }
  if (is_waiting(change.from))
    count_waiter(change.old_cpu, false, time);
  if (is_waiting(change.to)) {
    count_waiter(change.cpu, true, time);
    wait(thread, change.cpu, time, kind);
  }
}

void CpuHolders::rename(uint32_t cpu, uint32_t thread, uint64_t time) {
  if (cpu < cpus_.size() - 1 && cpus_[cpu].culprit.is_thread(thread))
    give(cpu, cpus_[cpu].culprit, time);
}

void CpuHolders::hold(uint32_t cpu, Culprit culprit, uint64_t time) {
  if (cpu < cpus_.size() - 1 && !cpus_[cpu].dark && !cpus_[cpu].running)
    give(cpu, culprit, time);
}

/// Counts the threads that wait for a CPU, shown or not. If a thread comes to a CPU for which
/// nobody waited, the holder may be in a record of another CPU, which may be lost.
void CpuHolders::count_waiter(uint32_t cpu, bool more, uint64_t time) {
  if (cpu >= cpus_.size() - 1)
    return;
  Held &held = cpus_[cpu];
  if (more && held.waiters++ == 0 && dark_[held.host])
    forget_untold(cpu, time);
  else if (!more && held.waiters)
    held.waiters--;
}

/// Forgets who has a CPU that nobody waits for: its switches are not recorded.
void CpuHolders::forget_untold(uint32_t cpu, uint64_t time) {
  if (cpus_[cpu].told && !cpus_[cpu].running)
    give(cpu, Culprit(), time);
}

void CpuHolders::forget_unwaited(uint32_t host, uint64_t time) {
  for (uint32_t cpu = 0; cpu < cpus_.size() - 1; cpu++)
    if (cpus_[cpu].host == host && !cpus_[cpu].waiters)
      forget_untold(cpu, time);
}

/// Starts or ends a time in which events are missing. change() is also called for a thread that ran
/// there until now.
void CpuHolders::set_dark(uint32_t cpu, bool dark, uint64_t time) {
  const uint32_t host = cpus_[cpu].host;
  dark_[host] += uint32_t(dark && !cpus_[cpu].dark);
  dark_[host] -= uint32_t(!dark && cpus_[cpu].dark);
  cpus_[cpu].dark = dark;
  if (!dark)
    forget_unwaited(host, time);
  if (!cpus_[cpu].running)
    give(cpu, Culprit(), time);
}

void CpuHolders::give(uint32_t cpu, Culprit culprit, uint64_t time) {
  if (cpu >= cpus_.size() - 1)
    return;
  Held &held = cpus_[cpu];
  culprit = culprit.named_at(catalog_, held.host, time);
  if (held.culprit == culprit)
    return;
  if (held.turn.start < time) {
    held.turn.end = time;
    held.past.push_back(held.turn);
    if (turn_taker_)
      turn_taker_->turn(cpu, holders_[held.turn.holder], held.turn.start, time);
  }
  held.culprit = culprit;
  held.turn = {.holder = number_of(culprit, held.host), .start = time};
  if (held.past.size() >= 2 * kMostPast)
    forget(held, time);
}

uint32_t CpuHolders::number_of(Culprit culprit, uint32_t host) {
  const auto [at, is_new] = numbers_[host].try_emplace(culprit.code(), uint32_t(holders_.size()));
  if (is_new) {
    holders_.push_back(culprit);
    hosts_.push_back(host);
    totals_.emplace_back();
  }
  return at->second;
}

/// Forgets all turns but the last kMostPast. `time`: the end of the last one.
void CpuHolders::forget(Held &held, uint64_t time) {
  for (size_t n = 0; n < held.waiting.size() && n < kMostWaiting; n++) {
    add_turns(held, held.waiting[n], time);
    hand_over(held.waiting[n], uint32_t(&held - cpus_.data()));
  }
  if (held.waiting.size() > kMostWaiting)
    add_rest(held, time);
  const auto old = held.past.end() - kMostPast;
  std::for_each(held.past.begin(), old, [&](const Turn &turn) { add_total(totals_, turn); });
  held.past.erase(held.past.begin(), old);
}

/// Adds the totals of threads beyond kMostWaiting: a step for each turn, not one for each thread
/// too.
void CpuHolders::add_rest(Held &held, uint64_t time) {
  std::vector<std::array<uint64_t, kWaitKinds>> more(held.past.size() + 1); // wait all of this turn
  for (size_t n = kMostWaiting; n < held.waiting.size(); n++) {
    Waiting &waiting = held.waiting[n];
    if (waiting.since >= time)
      continue;
    const auto turn = first_turn(held, waiting);
    sums_.of({.holder = kOthers}).ns = time - waiting.since;
    turn->waiter = waiting.thread;
    turn->waited[size_t(waiting.kind)] += turn->end - std::max(turn->start, waiting.since);
    more[size_t(turn - held.past.begin()) + 1][size_t(waiting.kind)]++;
    waiting.since = time;
    hand_over(waiting, uint32_t(&held - cpus_.data()));
  }
  std::array<uint64_t, kWaitKinds> threads = {};
  for (size_t n = 0; n < held.past.size(); n++)
    for (size_t kind = 0; kind < kWaitKinds; kind++) {
      Turn &turn = held.past[n];
      threads[kind] += more[n][kind];
      turn.waited[kind] += threads[kind] * (turn.end - turn.start);
      if (threads[kind])
        turn.waiter = held.waiting.back().thread;
    }
}

void CpuHolders::add_total(std::vector<Total> &totals, const Turn &turn) {
  Total &total = totals[turn.holder];
  if (turn.waiter != kNone)
    total.waiter = turn.waiter;
  for (size_t kind = 0; kind < kWaitKinds; kind++)
    total.ns[kind] += turn.waited[kind];
}

std::vector<CpuHolders::Total> CpuHolders::totals() const {
  std::vector<Total> totals = totals_;
  for (const Held &held : cpus_) {
    for (const Turn &turn : held.past)
      add_total(totals, turn);
    add_total(totals, held.turn);
  }
  return totals;
}

/// Adds the part of a wait, up to `until`, that is in this turn.
void CpuHolders::add(Turn &turn, const Waiting &waiting, uint64_t until) {
  const uint64_t start = std::max(turn.start, waiting.since), end = std::min(turn.end, until);
  if (start >= end)
    return;
  turn.waiter = waiting.thread;
  turn.waited[size_t(waiting.kind)] += end - start;
  sums_.of({.holder = turn.holder}).ns += end - start;
}

/// Returns the first past turn that overlaps the wait.
std::vector<CpuHolders::Turn>::iterator CpuHolders::first_turn(Held &held, const Waiting &waiting) {
  return std::partition_point(held.past.begin(), held.past.end(),
                              [&](const Turn &past) { return past.end <= waiting.since; });
}

/// Adds the whole wait since `waiting.since`.
void CpuHolders::add_turns(Held &held, Waiting &waiting, uint64_t time) {
  for (auto turn = first_turn(held, waiting); turn != held.past.end(); ++turn)
    add(*turn, waiting, time);
  add(held.turn, waiting, time);
  waiting.since = std::max(waiting.since, time);
}

void CpuHolders::hand_over(const Waiting &waiting, uint32_t cpu) {
  if (!sums_.all().empty())
    taker_.held(waiting.thread, cpu < cpus_.size() - 1 ? cpu : kNone, waiting.kind, sums_);
  sums_.clear();
}

void CpuHolders::end_turns(uint64_t time) {
  for (uint32_t cpu = 0; turn_taker_ && cpu < cpus_.size() - 1; cpu++)
    turn_taker_->turn(cpu, holders_[cpus_[cpu].turn.holder], cpus_[cpu].turn.start, time);
}

/// Returns the turn of an unknown holder, which depends only on the host of the thread.
CpuHolders::Turn &CpuHolders::nobody_knows(uint32_t thread) {
  Held &nowhere = cpus_.back();
  const uint32_t holder = number_of(Culprit(), catalog_.threads[thread].host);
  if (nowhere.turn.holder != holder) {
    add_total(totals_, nowhere.turn);
    nowhere.turn = {.holder = holder};
  }
  return nowhere.turn;
}

/// Moves a thread that waited on no known CPU to this one.
void CpuHolders::place(uint32_t thread, uint32_t cpu, uint64_t time) {
  if (cpu >= cpus_.size() - 1 || place_[thread].cpu == kNone)
    return;
  Held &held = cpus_[cpu];
  Waiting &waiting = cpus_[place_[thread].cpu].waiting[place_[thread].index];
  const size_t old = held.past.size() - std::min(held.past.size(), kMostPast);
  const uint64_t known = old < held.past.size() ? held.past[old].start : held.turn.start;
  add(nobody_knows(thread), waiting, known);
  waiting.since = std::max(waiting.since, known);
  add_turns(held, waiting, time);
  hand_over(waiting, cpu);
}

void CpuHolders::wait(uint32_t thread, uint32_t cpu, uint64_t time, WaitKind kind) {
  if (!shown_[thread])
    return;
  const uint32_t at = std::min(cpu, uint32_t(cpus_.size() - 1));
  place_[thread] = {at, uint32_t(cpus_[at].waiting.size())};
  const uint64_t since = std::max({time, from_, catalog_.threads[thread].birth});
  cpus_[at].waiting.push_back({thread, kind, since});
}

void CpuHolders::settle(uint32_t thread, uint64_t time) {
  const Place &place = place_[thread];
  if (place.cpu == kNone)
    return;
  if (place.cpu == cpus_.size() - 1)
    nobody_knows(thread);
  Held &held = cpus_[place.cpu];
  Waiting &waiting = held.waiting[place.index];
  add_turns(held, waiting, time);
  hand_over(waiting, place.cpu);
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
