// SPDX-License-Identifier: BSD-2-Clause
// Finds the places of a file where the alarms of a plan need probes.
#pragma once

#include "user/control/image.h"
#include "user/control/plan.h"
#include "user/control/probes.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace::control {

/// A place that an alarm names, and that cannot be probed.
struct Unfit {
  uint32_t alarm;
  std::string why; ///< a whole message
  bool indirect =
      false; ///< an IFUNC: if the program has a function of this name, that one is meant
};

struct Places {
  std::map<ProbeKind, std::vector<UprobeAt>> probes; ///< by offset, each once
  std::vector<uint32_t> found;    ///< by alarm: at how many places of the file it may hit
  std::vector<Unfit> unfit;       ///< what cannot be probed
  std::vector<std::string> hints; ///< by alarm: how to name a place; empty: nothing is special
  uint64_t as_linked = 0; ///< alarms, a bit each: 0xADDRESS where nothing is ever loaded, or that
                          ///< of the file, which is loaded elsewhere
  std::vector<std::string> notes; ///< overloads, code that may be data: in words
};

/// Finds the places of one file. 0xADDRESS is found only where the file is always loaded at the
/// same addresses.
Places find_places(const Plan &plan, const Image &image);

/// Finds 0xADDRESS in a file that a process has loaded. `bias`: what is added to the file's
/// addresses there.
Places find_loaded_addresses(const Plan &plan, const Image &image, uint64_t bias);

/// Checks what does not depend on a file: that groups of instructions exist. Throws Error with
/// status 2 and a caret.
void check_groups(const Plan &plan);

} // namespace ovnitrace::control
