// SPDX-License-Identifier: BSD-2-Clause
// The meaning of chains of --control, written as the manual says: threads are in a list, and a
// broadcast visits each. The BPF programs must do the same.
#pragma once

#include <ovnitrace/control.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace ovnitrace {

class ControlModel {
public:
  ControlModel(std::vector<control_chain> chains, std::vector<control_alarm> alarms)
      : chains_(std::move(chains)), alarms_(std::move(alarms)), latest_(chains_.size()),
        global_(alarms_.size()) {
    for (size_t c = 0; c < chains_.size(); c++)
      latest_[c].at = chains_[c].waits ? CONTROL_WAITING : 0;
  }

  /// Its number. The first one makes a uniform that waits for nothing start.
  size_t add_thread() {
    threads_.push_back(latest_);
    if (threads_.size() == 1)
      start_uniforms(0);
    return threads_.size() - 1;
  }

  /// One hit of what is armed for the thread now, if it is in `mask`. Returns what fired, a bit
  /// each.
  uint64_t hit(size_t thread, uint64_t mask) {
    fired_ = 0;
    uint64_t armed = 0;
    for (size_t c = 0; c < chains_.size(); c++)
      if (threads_[thread][c].at < chains_[c].alarms)
        armed |= 1ull << (chains_[c].first + threads_[thread][c].at);
    for (size_t c = 0; c < chains_.size(); c++)
      count(thread, c, mask & armed);
    if (fired_)
      start_uniforms(thread);
    return fired_;
  }

  /// Events that a handler got, in order.
  std::vector<uint32_t> take_events() { return std::exchange(events_, {}); }

  struct Place {
    uint32_t at = 0;      ///< index in the chain, or waiting, or finished
    uint64_t hits = 0;    ///< of what is armed
    uint32_t rounds = 0;  ///< of repeat
    uint32_t samples = 0; ///< of the uniform, in this round
  };
  const Place &place(size_t thread, size_t chain) const { return threads_[thread][chain]; }

private:
  void count(size_t thread, size_t c, uint64_t mask) {
    Place &place = threads_[thread][c];
    if (place.at >= chains_[c].alarms)
      return;
    const size_t a = chains_[c].first + place.at;
    const control_alarm &alarm = alarms_[a];
    if (!(mask >> a & 1) || ((alarm.flags & CONTROL_ONE_TID) && alarm.tid != thread))
      return;
    uint64_t &hits = alarm.flags & CONTROL_GLOBAL ? global_[a] : place.hits;
    if (++hits >= alarm.count)
      fire(thread, c);
  }

  void fire(size_t thread, size_t c) {
    Place next = threads_[thread][c];
    const size_t a = chains_[c].first + next.at;
    const bool all = alarms_[a].flags & (CONTROL_BCAST | CONTROL_GLOBAL);
    fired_ |= 1ull << a;
    events_.push_back(uint32_t(a));
    global_[a] = 0;
    next.hits = 0;
    if (chains_[c].loops > 1 && next.at == chains_[c].loop + 1 &&
        ++next.samples < chains_[c].loops) {
      next.at--;
    } else if (++next.at == chains_[c].alarms) {
      next.samples = 0;
      next.at = chains_[c].repeat && ++next.rounds == chains_[c].repeat ? CONTROL_FINISHED : 0;
    }
    move(thread, c, next, all);
    for (size_t w = 0; next.at == CONTROL_FINISHED && w < chains_.size(); w++)
      if (chains_[c].waiters >> w & 1)
        move(thread, w, {}, all);
  }

  void move(size_t thread, size_t c, const Place &place, bool all) {
    if (all) {
      latest_[c] = place;
      for (size_t n = 0; n < chains_[c].alarms; n++)
        global_[chains_[c].first + n] = 0;
    }
    for (size_t t = 0; t < threads_.size(); t++)
      if (all || t == thread)
        threads_[t][c] = place;
  }

  void start_uniforms(size_t thread) {
    for (size_t c = 0; c < chains_.size(); c++) {
      const Place &place = threads_[thread][c];
      if (place.at >= chains_[c].alarms)
        continue;
      const control_alarm &alarm = alarms_[chains_[c].first + place.at];
      const bool first = place.samples == 0;
      if ((alarm.flags & CONTROL_IMMEDIATE) && (first || alarm.count == 0))
        fire(thread, c);
    }
  }

  const std::vector<control_chain> chains_;
  const std::vector<control_alarm> alarms_;
  std::vector<std::vector<Place>> threads_; ///< by thread, then chain
  std::vector<Place> latest_;               ///< where a new thread is
  std::vector<uint64_t> global_;
  std::vector<uint32_t> events_;
  uint64_t fired_ = 0;
};

} // namespace ovnitrace
