// SPDX-License-Identifier: BSD-2-Clause
// Captures stacks: the part that needs privileges, and the part of the reader.
#pragma once

#include "emulator/base/unique_fd.h"
#include "user/bpf/capture.h"
#include "user/ring/ring_buffer.h"
#include "user/stacks/code_files.h"
#include "user/stacks/mapping_events.h"
#include "user/stacks/name_stacks.h"
#include "user/stacks/stack_collector.h"
#include "user/stacks/unwinder.h"

#include <cstdint>
#include <optional>
#include <string>

namespace ovnitrace {

/// Parses the list of `--stacks`: kernel, user, wakeup, preempt. A list with neither kernel nor
/// user, such as "blocks", means both. Returns enum stack_choice. Throws Error (usage).
uint32_t parse_stacks(const std::string &list);
/// Returns the list of words; "none" for 0.
std::string stacks_text(uint32_t choice);

class StackCapture {
public:
  /// Opens what needs all privileges. Call it before Capture::attach(); `capture` outlives it.
  /// `living`: processes that are already alive are traced. Throws Error.
  StackCapture(const Capture &capture, bool living);

  /// Starts the thread that walks stacks. Call it with all privileges.
  void start();
  /// Returns a record's number, as StackCollector::number() does.
  uint32_t number(const SchedTransition &record) { return collector_.number(record); }
  /// Reads which files were mapped since the last call. Call it before reading the stacks that were
  /// taken until now.
  void learn();
  /// Returns everything that was captured so far, with the names of name_stacks(). Any thread may
  /// call it. Waits until unfinished stacks are walked.
  NamedStacks named();
  CodeFiles &files() { return files_; }
  /// Returns how many stacks were dropped for lack of room, here or in the kernel.
  uint64_t lost() const { return capture_.counts().stacks_lost + collector_.left_out(); }

  /// Returns how many reports of mappings were dropped for lack of room. Call it after the capture.
  uint64_t mappings_lost() const { return events_.lost() + mappings_.left_out(); }

private:
  const Capture &capture_;
  const uint64_t since_ = clock_ns(CLOCK_REALTIME);
  UniqueFd kallsyms_; ///< what it shows depends on who opened it
  MappingEvents events_;
  Mappings mappings_;
  CodeFiles files_;
  StackCollector collector_;
  std::optional<RingBuffer> copies_; ///< with Capture::unwinds()
  std::optional<Unwinder> unwinder_; ///< ends before what it uses
};

} // namespace ovnitrace
