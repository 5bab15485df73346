// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/slices/long_sections.h"

#include "emulator/models/user_thread.h"

#include <algorithm>
#include <utility>

namespace ovnitrace {

namespace {

constexpr size_t kMostNested = 512; // a program can log any number

} // namespace

LongSections::LongSections(uint32_t number, size_t most, std::vector<uint8_t> kept)
    : number_(number), most_(most), kept_(std::move(kept)) {}

void LongSections::on_event(const Event &event, const System &system) {
  const bool starts = event.kind == FTrace_EVT_user_event_13;
  if ((!starts && event.kind != FTrace_EVT_user_event_14) || event.by_manual ||
      event.par2 != number_)
    return;
  const uint32_t thread = thread_of(event, system);
  if (thread == kNone || !kept_[thread])
    return;
  Open &open = open_[thread];
  if (starts && open.starts.size() < kMostNested) {
    open.starts.push_back(event.time);
  } else if (starts) {
    open.ignored++;
  } else if (open.ignored) {
    open.ignored--;
  } else if (!open.starts.empty()) {
    add({thread, open.starts.back(), event.time});
    open.starts.pop_back();
  }
}

void LongSections::on_slice(const Slice &slice) {
  if (slice.then == ThreadState::Unknown || slice.then == ThreadState::Dead)
    open_.erase(slice.thread); // the end of a section may be lost
}

void LongSections::add(LongSection section) {
  const auto shorter = std::upper_bound(
      found_.begin(), found_.end(), section,
      [](const LongSection &a, const LongSection &b) { return a.length() > b.length(); });
  if (found_.size() == most_ && shorter == found_.end())
    return;
  found_.insert(shorter, section);
  found_.resize(std::min(found_.size(), most_));
}

} // namespace ovnitrace
