// SPDX-License-Identifier: BSD-2-Clause
// Defines what a record means in a file of S.Ha.R.K. (docs/shark.md lists the meanings).
#pragma once

#include <cstdint>

namespace ovnitrace::shark {

/// Which task a record is about.
enum class About : uint8_t {
  nobody,
  running,    ///< the task that runs; parameter 1 is not a context
  context,    ///< the task of the context in parameter 1
  any_context ///< the same; if parameter 1 is 0, the task that runs or gets the CPU now
};

/// What a record says about who runs. Scheduling adds the implied events of docs/format.md, unless
/// it is `nothing`.
enum class Meaning : uint8_t {
  nothing,
  not_an_event, ///< describes the file; no event
  activate,
  release, ///< a timer starts the next cycle
  dispatch,
  epilogue,
  sleep,
  end,
  begin_cycle,
  end_cycle,
  wait,     ///< will block
  lock,     ///< has a mutex or asks for it; an earlier wait is over
  schedule, ///< the scheduler chose who runs, and for whom
  gets_cpu, ///< the task of parameter 1 runs from now on
  interrupt_begin,
  interrupt_end,
  wakeup_end, ///< end of the timer interrupt; the task of parameter 1 runs from now on
  blackout,
  filter, ///< a family is switched off or on
};

/// What a record says about the context in parameter 1.
enum class Mention : uint8_t {
  names,   ///< id: the pid of its task
  creates, ///< task_create: a task gets the context
  ends,    ///< task_end: the context is free again
  wakes,   ///< the task is alive: only such a task is activated or runs
  other
};

struct RecordRule {
  About about = About::nobody;
  Meaning meaning = Meaning::not_an_event;
  Mention mention = Mention::other; ///< of the context in parameter 1
};

} // namespace ovnitrace::shark
