// SPDX-License-Identifier: BSD-2-Clause
// Holds a trace as the page in the browser reads it: columns of small numbers.
#pragma once

#include "emulator/format/state_table.h"
#include "emulator/report/peer_numbers.h"

#include <ovnitrace/ftrace_codes.h>

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ovnitrace {

/// The slices of one thread. Each starts where the last one ended. Numbers are varints, times are
/// ns.
struct PackedThread {
  uint64_t slices = 0;
  uint64_t start = 0; ///< of the first slice, from the start of the trace
  /// A byte for each slice: its ShownState, or kMixed; then kStarts and kEnds as in Slice.
  std::string kind;
  std::string length;
  /// The CPU: 1 + its index, 0 for none, as the difference to the slice before (zigzag).
  std::string cpu;
  /// Why the slice started, 0 if not known. The end of a slice is why the next one started. After
  /// the thread left a CPU: 1 + 2 * (enum ftrace_offcpu_reason + kReasons * number of the system
  /// call and place in `calls` and `places`, 0 if neither is known). After a wakeup: 2 + 2 * enum
  /// ftrace_wakeup_context.
  std::string why;
  std::string peer; ///< PeerNumbers: who got its CPU, or who woke it
  std::string mix;  ///< of each mixed slice: its ns by ShownState
};

/// A whole trace. Threads are by index in the Catalog.
struct PackedTrace {
  static constexpr uint8_t kMixed = kShownStates; ///< several slices as one, of any states
  static constexpr uint64_t kReasons = FTRACE_REASON_MASK / (1u << FTRACE_REASON_SHIFT) + 1;
  /// The flags above the state. page/trace.js derives them from its number of states in this way.
  static constexpr unsigned kStarts = 1u << std::bit_width(kMixed), kEnds = 2 * kStarts;
  static_assert(kEnds < 256, "more states need a wider `kind`, here and in page/trace.js");
  /// Flag of the code of an event whose parameters mean what the manual of FTrace says.
  static constexpr uint32_t kByManual = 0x100;
  static constexpr size_t kLoadSteps = 1000; ///< equal parts of the shown time

  std::vector<PackedThread> threads;
  std::string order;  ///< the thread of each Running slice, in the order of their ends
  std::string events; ///< user events: ns since the last one, 1 + thread, code, par1, par2
  std::string dark;   ///< spans without events: CPU, start, length
  /// By CPU of the Catalog: busy ns in each step. The last row has the ns in which threads waited
  /// for a CPU, summed over all threads.
  std::vector<std::vector<uint64_t>> load;
  std::vector<PeerNumbers::Untraced> untraced;
  /// Names of system calls, some several times; the first has number 1. Empty: not known.
  std::vector<std::string_view> calls;
  /// By the same numbers: the function that blocked and its callers, "t_read a.c:3 < main". Empty:
  /// not known.
  std::vector<std::string> places;
  uint64_t places_left_out = 0; ///< for which there was no number
  uint64_t slices = 0, coarse_threads = 0;
  uint64_t grain = 0; ///< least ns of a mixed slice; 0: there are no mixed slices
};

} // namespace ovnitrace
