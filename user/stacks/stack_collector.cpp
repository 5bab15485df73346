// SPDX-License-Identifier: BSD-2-Clause
#include "user/stacks/stack_collector.h"

#include "emulator/base/clock.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace ovnitrace {

size_t StackCollector::HashKey::operator()(const Key &key) const {
  const uint64_t mixed = (uint64_t(key.kernel) << 48 ^ uint64_t(key.user) << 32 ^ key.life ^
                          uint64_t(key.epoch) << 40) *
                         0x9e3779b97f4a7c15ull;
  return size_t(mixed ^ mixed >> 32);
}

uint32_t StackCollector::number(const SchedTransition &record) {
  const auto part = [&](int shift, uint32_t mask) { return uint32_t(record.word >> shift) & mask; };
  const uint32_t pid = part(SCHED_STACK_PID_SHIFT, FTRACE_TID_MASK);
  Key key = {.kernel = part(SCHED_STACK_KERNEL_SHIFT, 0xffff),
             .user = part(SCHED_STACK_USER_SHIFT, 0xffff),
             .life = Mappings::kNoLife,
             .epoch = 0,
             .in_call = (record.word & SCHED_STACK_IN_CALL) != 0,
             .doubtful = false};
  const std::lock_guard lock(lock_);
  if (key.user) {
    key.life = mappings_.life(pid, record.time);
    key.epoch = mappings_.replacements(key.life, record.time);
    const auto image = images_.find(key.life);
    key.doubtful = (key.epoch && image != images_.end() && record.time < image->second.settled) ||
                   mappings_.is_doubtful(key.life);
  }
  uint32_t number;
  if (key.user >= STACK_COPY_FIRST) {
    number = collect_copy(key, pid, record.time);
  } else if (const auto found = known_.find(key); found != known_.end()) {
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

void StackCollector::keep(const void *message, size_t bytes) {
  const auto &copy = *static_cast<const stack_copy *>(message);
  constexpr size_t kHead = offsetof(stack_copy, memory), kPage = STACK_COPY_PAGE;
  if (bytes < kHead || (bytes - kHead) / kPage < copy.pages)
    return;
  UnfinishedStack stack;
  const size_t before = copy.state.sp % kPage;
  const size_t pages = std::min<size_t>(copy.pages, STACK_COPY_PAGES);
  stack.head.image = copy.image;
  stack.head.pid = copy.pid;
  stack.head.absent = copy.absent;
  stack.head.count = std::min(copy.count, CAPTURE_STACK_DEPTH + 0u);
  stack.head.state = copy.state;
  std::copy_n(copy.addresses, stack.head.count, stack.head.addresses);
  stack.start = copy.state.sp;
  if (pages)
    stack.memory.assign(copy.memory + before, copy.memory + pages * kPage);
  const std::lock_guard lock(lock_);
  copies_[copy.id] = std::move(stack);
  if (copies_.size() > kMostCopies) { // their transitions were lost, or are not wanted: a pause
    const auto oldest = copies_.upper_bound(copy.id); // after the last id comes the first again
    copies_.erase(oldest == copies_.end() ? copies_.begin() : oldest);
  }
}

void StackCollector::replace(const Replaced &replaced) {
  const std::lock_guard lock(lock_);
  for (const auto &[life, start, end] : mappings_.newly_replaced())
    if (const auto found = images_.find(life); found != images_.end()) {
      replaced(found->second.image, mappings_.replacements(life, UINT64_MAX), start, end);
      found->second.settled = monotonic_ns();
    }
}

uint32_t StackCollector::collect(const Key &key, uint32_t pid, uint64_t time) {
  const stack_slot *kernel = key.kernel ? slot_(key.kernel) : nullptr;
  const stack_slot *user = key.user ? slot_(key.user) : nullptr;
  CapturedStacks::Stack stack;
  stack_.clear();
  if (all_.frames.size() + 2 * CAPTURE_STACK_DEPTH > kMostFrames ||
      all_.stacks.size() == kMostStacks || known_.size() == kMostKnown)
    return 0;
  if (kernel)
    add_kernel(*kernel);
  stack.kernel = uint32_t(stack_.size());
  if (user)
    add_user(std::span(user->addresses, user->count), key, pid, time, stack);
  if (stack_.empty() || all_.places.size() + stack_.size() > kMostPlaces)
    return 0;
  const auto [at, added] =
      stack_numbers_.try_emplace({stack.kernel, stack_}, uint32_t(all_.stacks.size() + 1));
  if (added) {
    add_stack(stack);
    all_.stacks.push_back(stack);
  }
  return at->second;
}

/// Gives the stack a number of its own. What is on it comes later, by complete().
uint32_t StackCollector::collect_copy(const Key &key, uint32_t pid, uint64_t time) {
  auto found = copies_.extract(key.user);
  if (found.empty() || found.mapped().head.pid != pid || all_.stacks.size() == kMostStacks)
    return 0;
  UnfinishedStack &copy = found.mapped();
  const uint32_t number = uint32_t(all_.stacks.size() + 1);
  copy.number = number;
  copy.time = time;
  copy.epoch = key.epoch;
  copy.mappings = mappings_.code(key.life);
  images_[key.life].image = copy.head.image;
  pending_[number] = {key, pid, time};
  if (!unwind_ || !unwind_(std::move(copy))) {
    pending_.erase(number);
    return 0;
  }
  all_.stacks.emplace_back();
  return number;
}

void StackCollector::complete(uint32_t number, const std::vector<__u64> &addresses) {
  const std::lock_guard lock(lock_);
  const auto found = pending_.extract(number);
  if (found.empty() || all_.frames.size() + 2 * CAPTURE_STACK_DEPTH > kMostFrames ||
      all_.places.size() + 2 * CAPTURE_STACK_DEPTH > kMostPlaces)
    return;
  const Pending &pending = found.mapped();
  CapturedStacks::Stack stack;
  stack_.clear();
  if (const stack_slot *kernel = pending.key.kernel ? slot_(pending.key.kernel) : nullptr)
    add_kernel(*kernel);
  stack.kernel = uint32_t(stack_.size());
  add_user(addresses, pending.key, pending.pid, pending.time, stack);
  add_stack(stack);
  stack.taken = all_.stacks[number - 1].taken;
  all_.stacks[number - 1] = stack;
  stack_numbers_.try_emplace({stack.kernel, stack_}, number);
}

/// Appends the frames in `stack_` to all places, and sets where `stack` has them.
void StackCollector::add_stack(CapturedStacks::Stack &stack) {
  stack.first = all_.places.size();
  stack.user = uint32_t(stack_.size()) - stack.kernel;
  all_.places.insert(all_.places.end(), stack_.begin(), stack_.end());
}

void StackCollector::add_kernel(const stack_slot &slot) {
  for (uint64_t n = 0; n < slot.count; n++)
    stack_.push_back(frame({CapturedFrame::kernel, 0, slot.addresses[n] - (n > 0)}));
}

/// Shows where frames may be missing. A frame without code shows that the walk went wrong before
/// it.
void StackCollector::add_user(std::span<const __u64> addresses, const Key &key, uint32_t pid,
                              uint64_t time, CapturedStacks::Stack &stack) {
  const CapturedFrame missing = {CapturedFrame::missing, 0, 0};
  bool guessed = false;
  addresses = addresses.first(std::min<size_t>(addresses.size(), depth_));
  stack.deep = addresses.size() == depth_ && !(addresses.back() & STACK_LAST);
  for (size_t n = 0; n < addresses.size(); n++) {
    const uint64_t mark = addresses[n];
    const bool exact = n == 0 ? !key.in_call : (mark & STACK_EXACT) != 0;
    const uint64_t address = STACK_ADDRESS(mark) - !exact;
    const Mappings::Place place = mappings_.find(key.life, time, address);
    if (n > 0 && !place.known) {
      stack.whole = false;
      stack.stuck = true;
      break;
    }
    if (guessed) {
      stack_.push_back(frame(missing));
      stack.gap = true;
    }
    if (place.known && place.file != Mappings::kNoFile)
      stack_.push_back(frame({CapturedFrame::file, place.file, place.offset}));
    else
      stack_.push_back(
          frame({place.known ? CapturedFrame::process : CapturedFrame::unknown, pid, address}));
    guessed = mark & STACK_GUESSED || key.doubtful;
    stack.whole = mark & STACK_LAST && !key.doubtful;
    stack.stuck = (mark & STACK_CUT) != 0;
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
  copy.files.assign(mappings_.files().begin(), mappings_.files().end());
  copy.first_uses = mappings_.first_uses();
  return copy;
}

} // namespace ovnitrace
