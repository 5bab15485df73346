// SPDX-License-Identifier: BSD-2-Clause
// The Paraver configurations that lie beside a trace: a timeline for each channel, what is worth
// seeing besides, and a list of them all.
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
  bool arrows = false;                   ///< there is one at least
  std::map<uint32_t, RoundScale> scales; ///< by PRV type: the values of channels with a gradient
};

struct View {
  std::string file;  ///< "state.cfg"
  std::string about; ///< one line
  CfgWindow window;
  std::optional<CfgHistogram> histogram = {};
};

/// The views of thread.prv or of cpu.prv, each of its own file name. `pcf` has its types.
std::vector<View> make_views(const System &system, TraceKind kind, Pcf pcf,
                             const TraceShape &shape);

/// Writes cfg/thread/, cfg/cpu/ and cfg/README into `directory`. Views that the README
/// of an earlier conversion lists, and that these do not replace, are removed; a copy under another
/// name, and what the user saved over one, is left alone.
/// Throws Error.
void write_views(const OutputDirectory &directory, const std::vector<View> &thread,
                 const std::vector<View> &cpu);

} // namespace ovnitrace
