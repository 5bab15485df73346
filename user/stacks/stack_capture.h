// SPDX-License-Identifier: BSD-2-Clause
// Stacks of a capture: what of it needs privileges, and what the reader does with them.
#pragma once

#include "emulator/base/unique_fd.h"
#include "user/bpf/capture.h"
#include "user/stacks/mapping_events.h"
#include "user/stacks/name_stacks.h"
#include "user/stacks/stack_collector.h"

#include <cstdint>
#include <string>

namespace ovnitrace {

/// A list as `--stacks` takes it: kernel, user, wakeup, preempt. Where neither kernel nor user is
/// in it, both parts are wanted; "blocks" is both. Returns enum stack_choice. Throws Error (usage).
uint32_t parse_stacks(const std::string &list);
/// The list; "none" for 0.
std::string stacks_text(uint32_t choice);

class StackCapture {
public:
  /// Before Capture::attach(), with all privileges; `capture` outlives it. `living`: processes that
  /// are alive already are traced. Throws Error.
  StackCapture(const Capture &capture, bool living);

  StackNumbers &numbers() { return collector_; }
  /// Before the stacks are read that were taken until now: learns what was mapped.
  void learn() { collector_.learn(events_); }
  /// All that was captured so far, with the names of name_stacks(). Any thread may call it.
  NamedStacks named() const { return name_stacks(collector_.captured(), kallsyms_.get()); }
  /// Stacks that found no room, here or in the kernel.
  uint64_t lost() const { return capture_.stacks_lost() + collector_.left_out(); }

  /// Mappings that are not known, as their reports found no room. After the capture.
  uint64_t mappings_lost() const { return events_.lost() + mappings_.left_out(); }

private:
  const Capture &capture_;
  UniqueFd kallsyms_; ///< what it shows depends on who opened it
  MappingEvents events_;
  Mappings mappings_;
  StackCollector collector_;
};

} // namespace ovnitrace
