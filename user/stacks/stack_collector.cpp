// SPDX-License-Identifier: BSD-2-Clause
#include "user/stacks/stack_collector.h"

#include <ovnitrace/ftrace_codes.h>

#include <utility>

namespace ovnitrace {

size_t StackCollector::HashKey::operator()(const Key &key) const {
  const uint64_t mixed =
      (uint64_t(key.kernel) << 48 ^ uint64_t(key.user) << 32 ^ key.life) * 0x9e3779b97f4a7c15ull;
  return size_t(mixed ^ mixed >> 32);
}

uint32_t StackCollector::number(const SchedTransition &record) {
  const auto part = [&](int shift, uint32_t mask) { return uint32_t(record.word >> shift) & mask; };
  const uint32_t pid = part(SCHED_STACK_PID_SHIFT, FTRACE_TID_MASK);
  Key key = {part(SCHED_STACK_KERNEL_SHIFT, 0xffff), part(SCHED_STACK_USER_SHIFT, 0xffff),
             Mappings::kNoLife, (record.word & SCHED_STACK_IN_CALL) != 0};
  const std::lock_guard lock(lock_);
  if (key.user)
    key.life = mappings_.life(pid, record.time);
  uint32_t number;
  if (const auto found = known_.find(key); found != known_.end()) {
    number = found->second;
  } else {
    number = collect(key, pid, record.time);
    if (number)
      known_.emplace(key, number);
  }
  if (number)
    all_.stacks[number - 1].taken++;
  else
    left_out_++;
  return number;
}

void StackCollector::learn(MappingEvents &events) {
  const std::lock_guard lock(lock_);
  events.read(mappings_);
}

uint32_t StackCollector::collect(const Key &key, uint32_t pid, uint64_t time) {
  const stack_slot *kernel = key.kernel ? slot_(key.kernel) : nullptr;
  const stack_slot *user = key.user ? slot_(key.user) : nullptr;
  stack_.clear();
  if (all_.frames.size() + 2 * CAPTURE_STACK_DEPTH > kMostFrames || known_.size() == kMostStacks)
    return 0;
  if (kernel)
    add_kernel(*kernel);
  const auto kernel_frames = uint32_t(stack_.size());
  if (user)
    add_user(*user, key, pid, time);
  if (stack_.empty() || all_.places.size() + stack_.size() > kMostPlaces)
    return 0;
  const auto [at, added] =
      stack_numbers_.try_emplace({kernel_frames, stack_}, uint32_t(all_.stacks.size() + 1));
  if (added) {
    all_.stacks.push_back({.first = all_.places.size(),
                           .kernel = kernel_frames,
                           .user = uint32_t(stack_.size()) - kernel_frames,
                           .deep = user && user->count == CAPTURE_STACK_DEPTH});
    all_.places.insert(all_.places.end(), stack_.begin(), stack_.end());
  }
  return at->second;
}

void StackCollector::add_kernel(const stack_slot &slot) {
  for (uint64_t n = 0; n < slot.count; n++)
    stack_.push_back(frame({CapturedFrame::kernel, 0, slot.addresses[n] - (n > 0)}));
}

void StackCollector::add_user(const stack_slot &slot, const Key &key, uint32_t pid, uint64_t time) {
  for (uint64_t n = 0; n < slot.count; n++) {
    const uint64_t address = slot.addresses[n] - (n > 0 || key.in_call);
    const Mappings::Place place = mappings_.find(key.life, time, address);
    if (place.known && place.file != Mappings::kNoFile)
      stack_.push_back(frame({CapturedFrame::file, place.file, place.offset}));
    else
      stack_.push_back(
          frame({place.known ? CapturedFrame::process : CapturedFrame::unknown, pid, address}));
  }
}

uint32_t StackCollector::frame(const CapturedFrame &frame) {
  const auto [at, added] = frame_numbers_.try_emplace(frame, uint32_t(all_.frames.size()));
  if (added)
    all_.frames.push_back(frame);
  return at->second;
}

uint64_t StackCollector::left_out() const {
  const std::lock_guard lock(lock_);
  return left_out_;
}

CapturedStacks StackCollector::captured() const {
  const std::lock_guard lock(lock_);
  CapturedStacks copy = all_;
  copy.files = mappings_.files();
  return copy;
}

} // namespace ovnitrace
