// SPDX-License-Identifier: BSD-2-Clause
// Which task a context means: S.Ha.R.K. gives the context of a task that ended to another one.
#pragma once

#include "emulator/format/event.h"
#include "emulator/format/shark_rule.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ovnitrace::shark {

/// One task from the time it got its context until it ended. It is one thread of the trace.
struct Task {
  uint16_t context = 0;
  bool named = false; ///< its pid was given, at any time of its life
  bool ended = false;
  bool cyclic = false; ///< has a task_end_cycle
  uint32_t pid = 0;
  uint64_t created = 0; ///< ticks of its task_create, 0: not seen
};

/// The tasks of a file, numbered in the order in which they are first mentioned. Records must come
/// in order of time. An id may come late: it gives the pid of a task that was mentioned before. Two
/// tables that are given the same records give the same numbers.
class ContextTable {
public:
  /// S.Ha.R.K. runs some dozens of tasks; a file that claims more than this many gets no more.
  static constexpr size_t kMaxTasks = 1 << 18;

  /// The number of the task that `context` means now. kNone for 0, which is no context.
  uint32_t task(uint16_t context, Mention mention, uint32_t pid, uint64_t ticks);

  std::vector<Task> &tasks() { return tasks_; }
  const std::vector<Task> &tasks() const { return tasks_; }

private:
  static bool is_another(const Task &task, Mention mention, uint32_t pid);

  std::vector<uint32_t> current_; ///< by context
  std::vector<Task> tasks_;
};

} // namespace ovnitrace::shark
