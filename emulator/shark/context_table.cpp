// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/shark/context_table.h"

namespace ovnitrace::shark {

namespace {

constexpr bool gives_pid(Mention mention) {
  return mention == Mention::names || mention == Mention::creates || mention == Mention::ends;
}

} // namespace

/// Returns whether a record is about a later task than this one.
bool ContextTable::is_another(const Task &task, Mention mention, uint32_t pid) {
  switch (mention) {
  case Mention::names:
    return task.named && task.pid != pid;
  case Mention::creates:
    return task.ended || (task.named && task.pid != pid);
  case Mention::wakes:
    return task.ended;
  default:
    return false;
  }
}

uint32_t ContextTable::task(uint16_t context, Mention mention, uint32_t pid, uint64_t ticks) {
  if (context == 0)
    return kNone;
  if (current_.size() <= context)
    current_.resize(size_t(context) + 1, kNone);
  uint32_t &number = current_[context];
  if (number == kNone || is_another(tasks_[number], mention, pid)) {
    if (tasks_.size() < kMaxTasks) {
      number = uint32_t(tasks_.size());
      tasks_.push_back({.context = context});
    } else {
      refused_ = true;
    }
  }
  if (number == kNone)
    return kNone;
  Task &task = tasks_[number];
  if (gives_pid(mention) && !task.named) {
    task.named = true;
    task.pid = pid;
  }
  if (mention == Mention::creates && task.created == 0)
    task.created = ticks;
  if (mention == Mention::ends)
    task.ended = true;
  return number;
}

} // namespace ovnitrace::shark
