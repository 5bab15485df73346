// SPDX-License-Identifier: BSD-2-Clause
// Writes the Paraver configurations beside a trace: a timeline for each channel, further views, and
// a list of them.
#pragma once

#include "emulator/convert/labels.h"
#include "emulator/output/output_place.h"
#include "emulator/prv/cfg.h"
#include "emulator/prv/round_scale.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace {

/// What was written to the .prv.
struct TraceShape {
  uint64_t length = 0;                   ///< ns
  bool arrows = false;                   ///< it has at least one
  std::map<uint32_t, RoundScale> scales; ///< of channels with a gradient, by PRV type
};

struct View {
  std::string file;  ///< "state.cfg"
  std::string about; ///< one line
  CfgWindow window;
  std::optional<CfgHistogram> histogram = {};
};

/// Returns the views of thread.prv or of cpu.prv, with distinct file names. `pcf` has the types.
std::vector<View> make_views(const System &system, TraceKind kind, Pcf pcf,
                             const TraceShape &shape);

/// Writes cfg/thread/, cfg/cpu/ and cfg/README into `directory`. Removes views that the README of
/// an earlier conversion lists and that are not replaced. Keeps files that the user saved, under
/// any name. Throws Error.
void write_views(const OutputDirectory &directory, const std::vector<View> &thread,
                 const std::vector<View> &cpu);

} // namespace ovnitrace
