// SPDX-License-Identifier: BSD-2-Clause
// The .pcf beside a .prv: what event types and values are called and which colours they have.
#pragma once

#include "emulator/base/palette.h"
#include "emulator/output/output_place.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace {

/// One value of an event type. Paraver has one palette for all types of a trace; a value
/// with a colour of its own has it in its channel's cfg (cfg.h).
struct PcfValue {
  int64_t value = 0;
  std::string label;
  std::optional<Color> color;
};

struct PcfType {
  uint32_t type = 0;
  std::string label;
  std::vector<PcfValue> values; ///< may be empty: numbers that need no names
};

struct Pcf {
  std::vector<PcfType> types;
};

/// The text of the .pcf. Labels are made fit for one line; an empty one becomes its number.
std::string pcf_text(const Pcf &pcf);

/// Writes it to `path` ("thread.pcf" for "thread.prv"). Throws Error.
void write_pcf(const OutputPlace &place, const Pcf &pcf);

} // namespace ovnitrace
