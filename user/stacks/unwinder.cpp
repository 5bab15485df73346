// SPDX-License-Identifier: BSD-2-Clause
#include "user/stacks/unwinder.h"

#include "emulator/base/confined.h"
#include "emulator/symbols/call_frames.h"
#include "user/chunk/service_thread.h"

#include <fcntl.h>

#include <cstring>
#include <latch>
#include <map>
#include <tuple>
#include <utility>

namespace ovnitrace {

namespace {

constexpr uint64_t kMostMemory = 512u << 20;
constexpr unsigned kMostSeconds = 10;

/// Reads a word of the memory that was copied. `memory` is an UnfinishedStack.
long read_copied(void *memory, __u64 address, __u64 *to) {
  const auto &stack = *static_cast<const UnfinishedStack *>(memory);
  const uint64_t at = address - stack.start;
  if (stack.memory.size() < sizeof(*to) || at > stack.memory.size() - sizeof(*to))
    return -1;
  const auto page_of = [&](uint64_t where) {
    return where / STACK_COPY_PAGE - stack.start / STACK_COPY_PAGE;
  };
  if ((stack.head.absent >> page_of(address) | stack.head.absent >> page_of(address + 7)) & 1)
    return -1;
  std::memcpy(to, stack.memory.data() + at, sizeof(*to));
  return 0;
}

/// Walks the rest of a stack. `rule_at` gives the rule for a frame, UNWIND_UNKNOWN to stop there.
/// Returns the addresses of all its frames, with marks.
std::vector<__u64> walk_stack(const UnfinishedStack &stack,
                              const std::function<uint64_t(const unwind_state &)> &rule_at) {
  const stack_copy &head = stack.head;
  std::vector<__u64> addresses(head.addresses, head.addresses + head.count);
  unwind_state state = head.state;
  for (;;) {
    const uint64_t rule = rule_at(state);
    const uint64_t marks =
        rule == UNWIND_UNKNOWN
            ? STACK_CUT
            : unwind_step(rule, &state, read_copied, const_cast<UnfinishedStack *>(&stack));
    addresses.back() |= marks;
    if (marks & (STACK_LAST | STACK_CUT) || addresses.size() == CAPTURE_STACK_DEPTH)
      return addresses;
    addresses.push_back(state.pc | (state.exact ? STACK_EXACT : 0));
  }
}

using OpenFiles = std::map<CodeFile, int>; ///< descriptors

/// Opens the files that the processes of these stacks have mapped.
OpenFiles open_files(const std::vector<const UnfinishedStack *> &stacks, CodeFiles &all) {
  std::vector<CodeFiles::Use> uses;
  std::set<const MappedCode *> seen;
  for (const UnfinishedStack *stack : stacks)
    if (seen.insert(stack->mappings.get()).second)
      for (const MappedCode::Piece &piece : stack->mappings->pieces())
        if (piece.file)
          uses.push_back({piece.file, {stack->head.pid, piece.time}});
  all.open(uses);
  OpenFiles files;
  for (const CodeFiles::Use &use : uses)
    if (const int fd = all.find(*use.file).files.file; fd >= 0)
      files.emplace(*use.file, fd);
  return files;
}

/// Finds rules in files. Runs in the child.
class RuleFinder {
public:
  explicit RuleFinder(const OpenFiles &opened) : opened_(opened) {}

  uint64_t rule_at(const UnfinishedStack &stack, const unwind_state &state) {
    uint64_t &known = rules_[{stack.head.image, stack.epoch, unwind_address(&state)}];
    if (known == UNWIND_UNKNOWN)
      known = look_up(stack, state);
    return known;
  }

private:
  uint64_t look_up(const UnfinishedStack &stack, const unwind_state &state) {
    const MappedCode::Place place = stack.mappings->find(stack.time, unwind_address(&state));
    if (!place.known)
      return UNWIND_UNKNOWN;
    if (!place.file)
      return UNWIND_GUESS;
    const auto [at, added] = files_.try_emplace(*place.file);
    if (added)
      at->second = open(*place.file);
    return at->second ? at->second->rule_at(place.offset, state.exact) : uint64_t(UNWIND_STOP);
  }

  std::unique_ptr<CallFrames> open(const CodeFile &file) const {
    if (file.path == CallFrames::kVdso)
      return CallFrames::open_vdso();
    const auto found = opened_.find(file);
    return found == opened_.end()
               ? nullptr
               : CallFrames::open(UniqueFd(fcntl(found->second, F_DUPFD_CLOEXEC, 0)));
  }

  const OpenFiles &opened_;
  std::map<CodeFile, std::unique_ptr<CallFrames>> files_;
  std::map<std::tuple<uint64_t, uint32_t, uint64_t>, uint64_t>
      rules_; ///< by image, epoch and address
};

} // namespace

Unwinder::~Unwinder() {
  {
    const std::lock_guard lock(lock_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable())
    thread_.join();
}

void Unwinder::start() {
  std::latch raised(1);
  thread_ = std::thread([&] {
    enter_asking_thread();
    raised.count_down();
    run();
  });
  raised.wait();
}

bool Unwinder::add(UnfinishedStack &&stack) {
  const std::lock_guard lock(lock_);
  if (waiting_.size() == kMostWaiting)
    return false;
  waiting_.push_back(std::move(stack));
  added_++;
  changed_.notify_all();
  return true;
}

void Unwinder::forget(uint64_t image, uint32_t epoch, uint64_t start, uint64_t end) {
  const std::lock_guard lock(lock_);
  epochs_[image] = epoch;
  table_.forget(image, start, end);
}

void Unwinder::finish() {
  std::unique_lock<std::mutex> lock(lock_);
  changed_.wait(lock, [this, until = added_] { return walked_ >= until; });
}

void Unwinder::run() {
  std::unique_lock<std::mutex> lock(lock_);
  for (;;) {
    changed_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
    if (ends_)
      return;
    const std::vector<UnfinishedStack> stacks(std::make_move_iterator(waiting_.begin()),
                                              std::make_move_iterator(waiting_.end()));
    waiting_.clear();
    lock.unlock();
    walk(stacks);
    lock.lock();
    walked_ += stacks.size();
    changed_.notify_all();
  }
}

/// Walks stacks in this process by rules that a child found, so it walks as the kernel side will.
void Unwinder::walk(const std::vector<UnfinishedStack> &stacks) {
  std::vector<const UnfinishedStack *> questions;
  for (const UnfinishedStack &stack : stacks)
    if (!refused_.contains(stack.head.image))
      questions.push_back(&stack);
  std::vector<Rules> rules(questions.size());
  const OpenFiles opened = open_files(questions, files_);
  std::vector<int> descriptors;
  for (const auto &[file, fd] : opened)
    descriptors.push_back(fd);
  const ConfinedLimits limits = {
      .memory = kMostMemory, .seconds = kMostSeconds, .files = descriptors};
  RuleFinder finder(opened);
  const auto answer = [&](size_t n, ConfinedOutput &out) {
    walk_stack(*questions[n], [&](const unwind_state &state) {
      const uint64_t rule = finder.rule_at(*questions[n], state);
      if (rule != UNWIND_UNKNOWN) {
        out.number(unwind_address(&state));
        out.number(rule);
      }
      return rule;
    });
    out.number(0);
  };
  const auto take = [&](size_t n, ConfinedInput &in) {
    while (const uint64_t address = in.number())
      if (const uint64_t rule = in.number(); rules[n].size() < CAPTURE_STACK_DEPTH)
        rules[n].emplace_back(address, rule);
    if (in.good())
      publish(*questions[n], rules[n]); // at once: the kernel side waits for them
  };
  const auto failed = [&](size_t n) { refused_.insert(questions[n]->head.image); };
  ask_confined(questions.size(), limits, answer, take, failed);
  auto known = rules.begin();
  for (const UnfinishedStack &stack : stacks) {
    const bool asked = known != rules.end() && questions[size_t(known - rules.begin())] == &stack;
    const Rules found = asked ? *known++ : Rules();
    take_(stack.number, walk_stack(stack, [&](const unwind_state &state) {
            for (const auto &[where, rule] : found)
              if (where == unwind_address(&state))
                return rule;
            return uint64_t(UNWIND_UNKNOWN);
          }));
  }
  files_.look_into_containers();
}

void Unwinder::publish(const UnfinishedStack &stack, const Rules &rules) {
  const std::lock_guard lock(lock_);
  if (const auto now = epochs_.find(stack.head.image);
      now != epochs_.end() && stack.epoch < now->second)
    return;
  for (const auto &[address, rule] : rules)
    table_.add(stack.head.image, address, rule);
}

} // namespace ovnitrace
