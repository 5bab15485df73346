// SPDX-License-Identifier: BSD-2-Clause
#include "user/stacks/stack_capture.h"

#include "emulator/base/comma_list.h"
#include "emulator/base/error.h"

#include <fcntl.h>
#include <unistd.h>

namespace ovnitrace {

namespace {

struct Word {
  const char *name;
  uint32_t choice;
};
constexpr Word kWords[] = {{"kernel", STACKS_KERNEL},
                           {"user", STACKS_USER},
                           {"wakeup", STACKS_WAKEUP},
                           {"preempt", STACKS_PREEMPT}};

uint32_t choice_of(const std::string &word) {
  for (const Word &known : kWords)
    if (word == known.name)
      return known.choice;
  if (word == "blocks")
    return 0;
  throw UsageError("--stacks: '{}' is not one of kernel, user, wakeup and preempt", word);
}

} // namespace

uint32_t parse_stacks(const std::string &list) {
  uint32_t choice = 0;
  for (const std::string &word : comma_list(list))
    choice |= choice_of(word);
  return choice & (STACKS_KERNEL | STACKS_USER) ? choice : choice | STACKS_KERNEL | STACKS_USER;
}

std::string stacks_text(uint32_t choice) {
  std::string text;
  for (const Word &known : kWords)
    if (choice & known.choice)
      text += (text.empty() ? "" : ",") + std::string(known.name);
  return text.empty() ? "none" : text;
}

StackCapture::StackCapture(const Capture &capture, bool living)
    : capture_(capture), kallsyms_(open("/proc/kallsyms", O_RDONLY | O_CLOEXEC)),
      events_(capture.cpus()),
      collector_([&capture](uint32_t place) { return capture.stack(place); }, mappings_,
                 [this](UnfinishedStack &&stack) { return unwinder_->add(std::move(stack)); },
                 capture.stack_depth()) {
  if (capture.unwinds()) {
    copies_.emplace(capture.stack_copies_fd(), STACK_COPY_RING);
    unwinder_.emplace(UnwindTable(capture.unwind_rules(), capture.unwind_asks()), files_,
                      [this](uint32_t number, const std::vector<__u64> &addresses) {
                        collector_.complete(number, addresses);
                      });
  }
  if (living)
    read_all_mappings(mappings_);
  else
    read_mappings(uint32_t(getpid()), mappings_); // of the program, until its execve
}

void StackCapture::start() {
  if (unwinder_)
    unwinder_->start();
}

void StackCapture::learn() {
  const uint64_t until = copies_ ? copies_->produced() : 0; // later ones may need later mappings
  collector_.learn(events_);
  if (!copies_)
    return;
  collector_.replace([this](uint64_t image, uint32_t epoch, uint64_t start, uint64_t end) {
    unwinder_->forget(image, epoch, start, end);
  });
  copies_->drain(until,
                 [this](const void *message, size_t bytes) { collector_.keep(message, bytes); });
}

NamedStacks StackCapture::named() {
  if (unwinder_)
    unwinder_->finish();
  return name_stacks(collector_.captured(), kallsyms_.get(), since_);
}

} // namespace ovnitrace
