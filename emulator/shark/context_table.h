// SPDX-License-Identifier: BSD-2-Clause
// Maps contexts to tasks: S.Ha.R.K. gives the context of an ended task to another one.
#pragma once

#include "emulator/format/event.h"
#include "emulator/format/shark_rule.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ovnitrace::shark {

/// A task, from when it got its context until it ended: one thread of the trace.
struct Task {
  uint16_t context = 0;
  bool named = false; ///< its pid was given, at any time of its life
  bool ended = false;
  bool cyclic = false; ///< has a task_end_cycle
  uint32_t pid = 0;
  uint64_t created = 0; ///< ticks of its task_create, 0: not seen
};

/// The tasks of a file, numbered in the order of their first mention. Records must come in order of
/// time. An id may come late: it gives the pid of a task that was mentioned before. Two tables with
/// the same records have the same numbers.
class ContextTable {
public:
  /// The most tasks. S.Ha.R.K. runs some dozens; a file that claims more gets no more.
  static constexpr size_t kMaxTasks = 1 << 18;

  /// Returns the number of the task that `context` means now; kNone for 0, which is not a context.
  uint32_t task(uint16_t context, Mention mention, uint32_t pid, uint64_t ticks);

  std::vector<Task> &tasks() { return tasks_; }
  bool has_refused() const { return refused_; } ///< there were more than kMaxTasks

private:
  static bool is_another(const Task &task, Mention mention, uint32_t pid);

  std::vector<uint32_t> current_; ///< by context
  std::vector<Task> tasks_;
  bool refused_ = false;
};

} // namespace ovnitrace::shark
