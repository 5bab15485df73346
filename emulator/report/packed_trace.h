// SPDX-License-Identifier: BSD-2-Clause
// A trace as the page in the browser reads it: columns of small numbers.
#pragma once

#include "emulator/report/peer_numbers.h"

#include <ovnitrace/ftrace_codes.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ovnitrace {

/// The slices of one thread. Each starts where the one before it ends. Numbers are varints, times
/// are in ns.
struct PackedThread {
  uint64_t slices = 0;
  uint64_t start = 0; ///< of the first one, from the start of the trace
  /// A byte each: its ShownState, or kMixed; then kStarts and kEnds as in Slice.
  std::string kind;
  std::string length;
  /// 1 + the index of the CPU, 0: none, as the difference to that of the slice before (zigzag).
  std::string cpu;
  /// Why it started, if an event said so: 1 + 2 * (enum ftrace_offcpu_reason of the thread's
  /// departure + kReasons * the number of the system call in `calls`, 0: not known), or 2 + 2 *
  /// enum ftrace_wakeup_context of its wakeup; 0: not known. So the end of a slice is that of the
  /// start of the next one.
  std::string why;
  std::string peer; ///< PeerNumbers: who got its CPU, or who woke it
  std::string mix;  ///< of each mixed one: its ns by ShownState
};

/// All of a trace. Threads are by their index in the Catalog.
struct PackedTrace {
  static constexpr uint8_t kMixed = 7; ///< several slices as one, of any states
  static constexpr uint64_t kReasons = FTRACE_REASON_MASK / (1u << FTRACE_REASON_SHIFT) + 1;
  static constexpr uint8_t kStarts = 8, kEnds = 16;
  static constexpr size_t kLoadSteps = 1000; ///< equal parts of the time that is shown

  std::vector<PackedThread> threads;
  std::string order;  ///< the thread of each Running slice, by its end
  std::string events; ///< user events: ns since the one before, 1 + thread, code, par1, par2
  std::string dark; ///< spans without events: CPU, start, length, whether it is known what is lost
  /// By CPU of the Catalog: ns in each step in which it was busy. One row more: ns in which threads
  /// waited for a CPU, those of all threads together.
  std::vector<std::vector<uint64_t>> load;
  std::vector<PeerNumbers::Untraced> untraced;
  std::vector<std::string_view> calls; ///< names of system calls, from number 1 on
  uint64_t slices = 0, coarse_threads = 0;
  uint64_t grain = 0; ///< ns that a mixed slice lasts at least; 0: there is none
};

} // namespace ovnitrace
