// SPDX-License-Identifier: BSD-2-Clause
// What a record means in a file of S.Ha.R.K. (docs/shark.md lists it).
#pragma once

#include <cstdint>

namespace ovnitrace::shark {

/// Whom a record is about.
enum class About : uint8_t {
  nobody,
  running,    ///< the task that has the CPU: parameter 1 is no context
  context,    ///< the task of the context in parameter 1
  any_context ///< that one; if parameter 1 is 0, as the manual leaves it, the task that has the
              ///< CPU, or that gets it now
};

/// What it means for who has the CPU. Where it is not `nothing`, Scheduling adds the events of
/// docs/format.md that it implies.
enum class Meaning : uint8_t {
  nothing,
  not_an_event, ///< describes the file; no event
  activate,
  release, ///< the timer of a period starts the next cycle
  dispatch,
  epilogue,
  sleep,
  end,
  begin_cycle,
  end_cycle,
  wait,     ///< is about to block
  lock,     ///< has, or asks for, a mutex: a wait before it is over
  schedule, ///< the scheduler decided: (who gets the CPU, for whom)
  gets_cpu, ///< parameter 1 has the CPU from now on
  interrupt_begin,
  interrupt_end,
  wakeup_end, ///< of the timer interrupt; parameter 1 has the CPU from now on
  blackout,
  filter, ///< a family is not logged any more, or again
};

/// What a record says of the context in parameter 1.
enum class Mention : uint8_t {
  names,   ///< id: the pid of the task that has the context
  creates, ///< task_create: a task gets the context
  ends,    ///< task_end: and gives it back
  wakes,   ///< only a task that is alive can be activated or get the CPU
  other
};

struct RecordRule {
  About about = About::nobody;
  Meaning meaning = Meaning::not_an_event;
  Mention mention = Mention::other; ///< of the context in parameter 1
};

} // namespace ovnitrace::shark
