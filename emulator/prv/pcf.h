// SPDX-License-Identifier: BSD-2-Clause
// Makes the .pcf beside a .prv: names of event types and values, and their colours.
#pragma once

#include "emulator/base/palette.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace {

/// A value of an event type. Paraver has one palette for all types of a trace, so a colour of its
/// own goes to the cfg of its channel (cfg.h).
struct PcfValue {
  int64_t value = 0;
  std::string label;
  std::optional<Color> color;
};

struct PcfType {
  uint32_t type = 0;
  std::string label;
  std::vector<PcfValue> values; ///< may be empty, for numbers that need no names
};

struct Pcf {
  std::vector<PcfType> types;
};

/// Returns the text of the .pcf. Labels become single lines; an empty one becomes its number.
std::string pcf_text(const Pcf &pcf);

} // namespace ovnitrace
