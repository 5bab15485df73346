// SPDX-License-Identifier: BSD-2-Clause
// Paraver configuration files: one timeline each, ready to be opened on a trace.
#pragma once

#include "emulator/prv/pcf.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace {

enum class CfgColor {
  code,             ///< each value its colour of the palette, and its label
  gradient,         ///< by size, from the least to the greatest
  not_null_gradient ///< by size, 0 stays background
};

/// One timeline: the value that each row has of one event type.
struct CfgWindow {
  std::string name;  ///< "Thread: state of the CPU": the title of the window
  uint32_t type = 0; ///< event type
  CfgColor color = CfgColor::code;
  double minimum = 0, maximum = 0; ///< semantic scale; both 0: Paraver computes it
  std::vector<PcfValue> values;    ///< those with a colour have it in this window
  bool arrows = false;             ///< draw communications
};

/// The text of the .cfg.
std::string cfg_text(const CfgWindow &window);

/// Writes it to `path`. Throws Error.
void write_cfg(const OutputPlace &place, const CfgWindow &window);

} // namespace ovnitrace
