// SPDX-License-Identifier: BSD-2-Clause
// The probes that alarms need in processes, for those who choose their places.
#pragma once

#include "user/bpf/uprobe_links.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ovnitrace::control {

/// Which of the programs runs at a place. Their probes are set in this order. If a place has
/// several, the kernel runs the last one first: one instruction may both enter and leave a
/// function.
enum class ProbeKind : uint8_t { leave, alarm, pcontrol, library };

class Probes {
public:
  virtual ~Probes() = default;
  /// Sets probes for one process. Returns 0 or an errno. The cookie of a place has a bit for each
  /// alarm that may hit there. `own`: in its program, and not in a library; those that it forks are
  /// stopped then (from Linux 6.13 on) until they have probes.
  virtual int add_probes(ProbeKind kind, uint32_t pid, const std::string &path,
                         std::span<const UprobeAt> places, bool own) = 0;
  /// Removes all probes of a process: before it returns if `now`, otherwise soon, in another
  /// thread.
  virtual void drop_probes(uint32_t pid, bool now) = 0;
  /// Returns how many descriptors add_probes() takes for so many places of one file.
  virtual size_t files_needed(size_t places) const = 0;
};

} // namespace ovnitrace::control
